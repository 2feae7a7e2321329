package command

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spoolhq/spool/internal/testing/pgtest"
)

var printedLink = regexp.MustCompile(`http://127\.0\.0\.1:\d+/sign-in\?ticket=\S+`)

// terminalConfig writes a configuration with a client that has an id at the authorization server.
func (h *house) terminalConfig(t *testing.T, more string) string {
	t.Helper()

	h.issuer.ClientID, h.issuer.Codes.Redirect, h.issuer.Codes.NoDocuments = "cli", "", true
	return writeConfig(t, `models: {demo: {provider: demo}}
agents: {clerk: {model: demo, mcp: {shop: {}}}}
mcp: {shop: {url: "`+h.url+`", auth: {type: authorization_code, issuer: "`+h.issuer.Issuer()+`", client_id: cli}}}
sign_in: {keys: ["`+sealKey+`"]}
server: {public_url: "`+h.front.URL+`"}
egress: {allow: [127.0.0.1]}
`+more)
}

// login runs spool mcp login with a person who opens the link, and does so or not. It returns what was printed.
func (h *house) login(t *testing.T, ctx context.Context, visit func(link string), args ...string) (int, string) { //nolint:revive // the test comes first here
	t.Helper()

	var out printed
	code := make(chan int, 1)
	go func() {
		none := func(string) (string, bool) { return "", false }
		code <- run(ctx, append([]string{"mcp", "login", "shop"}, args...),
			host{&out, &out, none, func() []string { return nil }, nil})
	}()
	wait(t, "the link", func() bool { return len(code) > 0 || printedLink.MatchString(out.String()) })
	if link := printedLink.FindString(out.String()); link != "" {
		visit(link)
	}
	return <-code, out.String()
}

// A person at a terminal signs in, lists and calls, and signs out.
func TestMCPLogin(t *testing.T) {
	t.Parallel()

	h := openHouse(t, "")
	file, data := h.terminalConfig(t, ""), filepath.Join(t.TempDir(), "data")
	flags := []string{"--config", file, "--data", data}
	mcp := func(args ...string) result {
		return command(nil, append(append([]string{"mcp"}, args...), flags...)...)
	}
	const nobody = "nobody has signed in to shop, in "
	if got := mcp("list", "shop"); got.code != exitFailure || !strings.Contains(got.stderr, nobody) {
		t.Errorf("list before: %+v", got)
	}
	p := h.person("", "")
	code, text := h.login(t, t.Context(), func(link string) {
		if status, page := p.visit(t, link[:len(link)-4]+"AAAA"); status != http.StatusBadRequest ||
			!strings.Contains(page, "not yours") {
			t.Errorf("an altered link: %d %s", status, page)
		}
		origin, _, _ := strings.Cut(link, "/sign-in")
		callback := origin + "/callback?"
		for _, query := range []string{"", "state=a&code=b", "state=a&state=b", "error=access_denied"} { // of any page
			if status, page := p.visit(t, callback+query); status != http.StatusBadRequest ||
				!strings.Contains(page, "You are not signed in") {
				t.Errorf("a callback with %q: %d %s", query, status, page)
			}
		}
		if status, page := p.visit(t, link); status != http.StatusOK || !strings.Contains(page, "You are signed in to shop") {
			t.Errorf("%d %s; the last refusal: %s", status, page, h.issuer.Refusal())
		}
	}, flags...)
	if code != exitOK || !strings.HasSuffix(text, "signed in to shop, in "+filepath.Join(data, "mcp-sign-ins.db")+"\n") {
		t.Fatalf("login: %d %s", code, text)
	}
	if got := mcp("list", "shop"); got.code != exitOK || !strings.Contains(got.stdout, "who   shop__who") {
		t.Errorf("list: %+v", got)
	}
	h.issuer.Revoke() // so that the token is refreshed
	if got := mcp("call", "shop", "who"); got.code != exitOK || got.stdout != "\"ann@idp has Bearer [redacted]\"\n" {
		t.Errorf("call: %+v", got)
	}
	if got := mcp("list", "shop", "--subject", "ben"); got.code != exitFailure || !strings.Contains(got.stderr, nobody) {
		t.Errorf("list as another subject: %+v", got)
	}
	h.checkSecrets(t, data, true)
	if info, err := os.Stat(filepath.Join(data, "mcp-sign-ins.db")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info, err)
	}
	for _, want := range []string{"signed out of shop", "nobody had signed in to shop"} {
		if got := mcp("logout", "shop"); got.code != exitOK || !strings.HasPrefix(got.stdout, want) {
			t.Errorf("logout: %+v", got)
		}
	}
	if got := mcp("call", "shop", "who"); got.code != exitFailure || !strings.Contains(got.stderr, nobody) {
		t.Errorf("call after: %+v", got)
	}
}

// A login that is interrupted, refused or cannot work ends, and stores nothing.
func TestMCPLoginEnds(t *testing.T) {
	t.Parallel()

	h := openHouse(t, "")
	file, data := h.terminalConfig(t, ""), t.TempDir()
	flags := []string{"--config", file, "--data", data}
	ctx, interrupt := context.WithCancel(t.Context())
	if code, text := h.login(t, ctx, func(string) { interrupt() }, flags...); code != exitFailure ||
		!strings.Contains(text, "interrupted: nobody has signed in to shop") {
		t.Errorf("interrupted: %d %s", code, text)
	}
	h.issuer.Change(func() { h.issuer.Codes.Denies = true })
	code, text := h.login(t, t.Context(), func(link string) { h.person("", "").visit(t, link) }, flags...)
	if code != exitFailure || !strings.Contains(text, "the sign-in was refused or given up") {
		t.Errorf("denied: %d %s", code, text)
	}
	for want, args := range map[string][]string{
		"--listen: must be an address of this machine": append([]string{"login", "shop", "--listen", "0.0.0.0:0"},
			flags...),
		"has no MCP server \"store\"":            append([]string{"login", "store"}, flags...),
		"mcp login needs the name of one server": append([]string{"login"}, flags...),
		"auth has not the type authorization_code": {
			"login", "shop", "--config",
			writeConfig(t,
				"models: {demo: {provider: demo}}\nagents: {a: {model: demo}}\nmcp: {shop: {url: 'http://127.0.0.1:1'}}\n"),
		},
		"mcp.shop.auth: needs a client_id": {
			"login", "shop", "--config",
			writeConfig(t,
				"models: {demo: {provider: demo}}\nagents: {a: {model: demo}}\nmcp: {shop: {url: 'http://127.0.0.1:1', auth: {type: authorization_code, issuer: 'http://127.0.0.1:1'}}}\nsign_in: {keys: ["+sealKey+"]}\n"),
		},
		"nobody has signed in to shop, in " + data + "/": append([]string{"list", "shop"}, flags...),
	} {
		if got := command(nil, append([]string{"mcp"}, args...)...); got.code == exitOK ||
			!strings.Contains(got.stderr, want) {
			t.Errorf("%v: %+v", args, got)
		}
	}
}

// A sign-in at a terminal is that of a subject's runs in the server's PostgreSQL.
func TestMCPLoginForServer(t *testing.T) {
	t.Parallel()

	h := openHouse(t, "")
	url := pgtest.Database(t, nil)
	file := h.terminalConfig(t, signInTokens)
	h.start(t, []string{"SPOOL_DATABASE=" + url, "SPOOL_DATABASE_POOL=6"}, t.TempDir(), "--config", file)
	ann := h.person("", annToken)
	code, text := h.login(t, t.Context(), func(link string) { ann.visit(t, link) }, "--config", file, "--database", url,
		"--subject", "ann")
	if code != exitOK || !strings.Contains(text, "signed in to shop, in postgres://") {
		t.Fatalf("%d %s", code, text)
	}
	if a := ann.run(t, "r1", "shop__who"); a.State != "COMPLETED" || !strings.Contains(a.Text, "ann@idp") {
		t.Errorf("the run of ann is %+v", a)
	}
	h.person("", benToken).parked(t, "r2", "shop__who")
}
