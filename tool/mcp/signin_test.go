package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/backend/sqlite"
	"github.com/spoolhq/spool/egress"
	"github.com/spoolhq/spool/internal/testing/fake/oauth"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/tool/mcp"
)

// house is an MCP server to which people sign in, its authorization server, and a host with its database.
type house struct {
	*guarded

	dir  string
	db   store.Store
	host *httptest.Server
	keys [][]byte
	log  lockedLog

	logger  *slog.Logger
	mu      sync.Mutex
	signIns *mcp.SignIns
}

// lockedLog is a log that can be read while it is written.
type lockedLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lockedLog) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(text)
}

func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func keyOf(fill byte) []byte { return bytes.Repeat([]byte{fill}, 32) }

func openHouse(t *testing.T) *house {
	t.Helper()

	h := &house{guarded: guard(t, stateless), dir: t.TempDir(), keys: [][]byte{keyOf(1)}}
	db, err := sqlite.Open(filepath.Join(h.dir, "spool.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	h.db = db
	h.logger = slog.New(slog.NewTextHandler(&h.log, nil))
	h.issuer.Codes = &oauth.Codes{Person: "ann@idp"}
	sdk.AddTool(h.server, &sdk.Tool{Name: "who"}, func(
		_ context.Context, r *sdk.CallToolRequest, _ struct{},
	) (*sdk.CallToolResult, any, error) {
		return said(h.issuer.PersonOf(&http.Request{Header: r.Extra.Header})), nil, nil
	})
	h.host = httptest.NewServer(http.HandlerFunc(h.serve))
	t.Cleanup(h.host.Close)
	h.issuer.Codes.Redirect = h.host.URL + "/oauth/callback"
	return h
}

// serve is the host. The header Subject says who calls.
func (h *house) serve(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	s := h.signIns
	h.mu.Unlock()
	switch r.URL.Path {
	case "/oauth/client-metadata.json":
		_, _ = w.Write(s.ClientMetadata())
	case "/oauth/sign-in":
		tenant, subject, _ := strings.Cut(r.Header.Get("Subject"), "/")
		link, cookie, err := s.BeginSignIn(r.Context(), r.URL.Query().Get("ticket"), spool.Tenant(tenant), subject)
		if err != nil {
			http.Error(w, spool.MessageOf(err), http.StatusNotFound)
			return
		}
		http.SetCookie(w, cookie)
		http.Redirect(w, r, link, http.StatusFound)
	case "/oauth/callback":
		server, err := s.FinishSignIn(r)
		if err != nil {
			http.Error(w, spool.MessageOf(err), http.StatusForbidden)
			return
		}
		_, _ = w.Write([]byte("signed in to " + server))
	}
}

// open returns the client of a process of the host.
func (h *house) open(t *testing.T, change ...func(*mcp.Config)) *mcp.Server {
	t.Helper()

	with := mcp.SignInConfig{Store: h.db, Keys: h.keys, URL: h.host.URL + "/oauth", Log: h.logger}
	config := mcp.Config{
		Name: "shop", URL: h.url, Egress: egress.Policy{AllowPrivate: true}, Log: h.logger,
		Auth: &mcp.Auth{Type: mcp.AuthAuthorizationCode, Issuer: h.issuer.Issuer()},
	}
	signIns, err := mcp.NewSignIns(with)
	if err != nil {
		t.Fatal(err)
	}
	config.Auth.SignIns = signIns
	for _, fn := range change {
		fn(&config)
	}
	s, err := mcp.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	h.mu.Lock()
	defer h.mu.Unlock()
	h.signIns = signIns
	return s
}

// toolsFor returns the tools of a subject, by the server's names.
func toolsFor(t *testing.T, s *mcp.Server, tenant, subject string) map[string]spool.Tool {
	t.Helper()

	source := must(s.Tools(mcp.Selection{}))
	all := make(map[string]spool.Tool)
	for _, tool := range must(source.Tools(must(source.List(t.Context(), spool.Tenant(tenant), subject)))) {
		all[strings.TrimPrefix(tool.Name, "shop__")] = tool
	}
	return all
}

// as makes a call one of a subject.
func as(tenant, subject string) func(*spool.ToolCall) {
	return func(c *spool.ToolCall) { c.Thread.Tenant, c.Subject = spool.Tenant(tenant), subject }
}

// linkOf returns the link of a park that asks to sign in, and how the call goes on.
func linkOf(t *testing.T, err error) (link, message string, approved func(*spool.ToolCall)) {
	t.Helper()

	park, ok := errors.AsType[*spool.ParkRequest](err)
	if !ok {
		t.Fatalf("got %v", err)
	}
	var shown struct{ Server, Mode, Message, URL string }
	if err := json.Unmarshal(must(json.Marshal(park.Payload)), &shown); err != nil || shown.Mode != "url" ||
		shown.Server != "shop" || park.Reason != mcp.ParkElicitation {
		t.Fatalf("the park is %+v", park)
	}
	return shown.URL, shown.Message, func(c *spool.ToolCall) {
		c.Resume, c.Answer = park.Resume, &spool.Answer{Approved: true}
	}
}

// browser returns a browser of a subject.
func browser(subject string) *http.Client {
	jar, _ := cookiejar.New(nil)
	return &http.Client{Jar: jar, Transport: named{subject}}
}

// named adds the header that says who calls.
type named struct{ subject string }

func (n named) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Subject", n.subject)
	return http.DefaultTransport.RoundTrip(r)
}

// visit opens a link and returns the page at the end.
func visit(t *testing.T, c *http.Client, link string) (int, string) {
	t.Helper()

	response, err := c.Do(must(http.NewRequestWithContext(t.Context(), http.MethodGet, link, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var text bytes.Buffer
	_, _ = text.ReadFrom(response.Body)
	return response.StatusCode, strings.TrimSpace(text.String())
}

// signIn signs a subject in with the tool of a server whose tools nobody knows.
func (h *house) signIn(t *testing.T, s *mcp.Server, tenant, subject, person string) {
	t.Helper()

	h.issuer.Change(func() { h.issuer.Codes.Person = person })
	all := toolsFor(t, s, tenant, subject)
	tool, first := all["sign_in"]
	if !first {
		tool = all["who"]
	}
	_, err := call(t, tool, `{}`, as(tenant, subject))
	link, _, approved := linkOf(t, err)
	if status, page := visit(t, browser(tenant+"/"+subject), link); status != http.StatusOK ||
		page != "signed in to shop" {
		t.Fatalf("%d %s; the last refusal: %s", status, page, h.issuer.Refusal())
	}
	if got, err := call(t, tool, `{}`, as(tenant, subject), approved); err != nil || !first && got != `"`+person+`"` {
		t.Fatalf("got %s, %v", got, err)
	}
}

func (h *house) who(t *testing.T, s *mcp.Server, tenant, subject string) (string, error) {
	t.Helper()
	return call(t, toolsFor(t, s, tenant, subject)["who"], `{}`, as(tenant, subject))
}

// Each subject of each tenant has the token of its own person, and one without a token is asked.
func TestSignIn(t *testing.T) {
	t.Parallel()

	h := openHouse(t)
	s := h.open(t)
	h.signIn(t, s, "acme", "ann", "ann@idp")
	h.signIn(t, s, "acme", "ben", "ben@idp")
	h.signIn(t, s, "other", "ann", "another-ann@idp")
	other := h.open(t) // as another process
	for owner, want := range map[string]string{
		"acme/ann": "ann@idp", "acme/ben": "ben@idp", "other/ann": "another-ann@idp",
	} {
		tenant, subject, _ := strings.Cut(owner, "/")
		for _, at := range []*mcp.Server{s, other} {
			if got, err := h.who(t, at, tenant, subject); err != nil || got != `"`+want+`"` {
				t.Errorf("%s is %s, %v", owner, got, err)
			}
		}
	}
	_, err := h.who(t, s, "other", "ben")
	linkOf(t, err)
	if _, ok := toolsFor(t, s, "third", "ann")["sign_in"]; !ok {
		t.Error("a tenant has the tools of another")
	}
	for tenant, name := range map[string]string{"acme": "who", "third": "sign_in"} { // nobody can sign in
		tool, ok := toolsFor(t, s, tenant, "")[name]
		if !ok {
			t.Fatalf("nobody of %s has not the tool %s", tenant, name)
		}
		if _, err := call(t, tool, `{}`, as(tenant, "")); spool.CodeOf(err) != spool.Unauthorized ||
			!strings.Contains(spool.MessageOf(err), "has no subject") {
			t.Errorf("nobody of %s: %v", tenant, err)
		}
	}
}

// A link and its answer are only for the subject and its browser, and the answer is taken once.
func TestSignInBound(t *testing.T) {
	t.Parallel()

	h := openHouse(t)
	s := h.open(t)
	tool := toolsFor(t, s, "acme", "ann")["sign_in"]
	_, err := call(t, tool, `{}`, as("acme", "ann"))
	link, _, approved := linkOf(t, err)
	for _, caller := range []string{"acme/ben", "other/ann", "/ann", "acme/", ""} {
		if status, page := visit(t, browser(caller), link); status != http.StatusNotFound ||
			!strings.Contains(page, "not yours") {
			t.Errorf("%q: %d %s", caller, status, page)
		}
	}
	if status, _ := visit(t, browser("acme/ann"), link[:len(link)-4]+"AAAA"); status != http.StatusNotFound {
		t.Error("an altered link is taken")
	}

	// The browser of somebody else gets the answer.
	owner := browser("acme/ann")
	owner.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if r.URL.Path == "/oauth/callback" {
			return http.ErrUseLastResponse
		}
		return nil
	}
	response, err := owner.Do(must(http.NewRequestWithContext(t.Context(), http.MethodGet, link, nil)))
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	callback := response.Header.Get("Location")
	if status, page := visit(t, browser("acme/ann"), callback); status != http.StatusForbidden ||
		!strings.Contains(page, "another browser") {
		t.Errorf("another browser: %d %s", status, page)
	}
	_, err = call(t, tool, `{}`, as("acme", "ann"), approved) // an approval is no sign-in
	linkOf(t, err)
	if status, page := visit(t, owner, callback); status != http.StatusOK {
		t.Errorf("the own browser: %d %s", status, page)
	}
	if status, _ := visit(t, owner, callback); status != http.StatusForbidden {
		t.Errorf("a second time: %d", status)
	}
	if _, err := call(t, tool, `{}`, as("acme", "ann"), approved); err != nil {
		t.Error(err)
	}
}

// An answer of another authorization server, and a refusal, store nothing.
func TestSignInRefused(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		change func(*oauth.Codes)
		want   string
	}{
		"Issuer":     {func(c *oauth.Codes) { c.Iss = "https://evil.example" }, "comes from another authorization server"},
		"Denied":     {func(c *oauth.Codes) { c.Denies = true }, "was refused or given up"},
		"NoPKCE":     {func(c *oauth.Codes) { c.NoPKCE = true }, "does not offer PKCE with S256"},
		"NoDocument": {func(c *oauth.Codes) { c.NoDocuments = true }, "takes no client id metadata documents"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			h := openHouse(t)
			s := h.open(t)
			c.change(h.issuer.Codes)
			tool := toolsFor(t, s, "acme", "ann")["sign_in"]
			_, err := call(t, tool, `{}`, as("acme", "ann"))
			link, _, approved := linkOf(t, err)
			if status, page := visit(t, browser("acme/ann"), link); status == http.StatusOK || !strings.Contains(page, c.want) {
				t.Errorf("%d %s", status, page)
			}
			_, err = call(t, tool, `{}`, as("acme", "ann"), approved)
			linkOf(t, err)
			if issued, _ := h.issuer.Issued(); issued != 0 {
				t.Errorf("%d tokens", issued)
			}
		})
	}
}

// Processes refresh a token once, also if the server refuses it, and a refresh that is refused asks the person again.
func TestSignInRefresh(t *testing.T) {
	t.Parallel()

	h := openHouse(t)
	servers := []*mcp.Server{h.open(t), h.open(t), h.open(t)}
	h.signIn(t, servers[0], "acme", "ann", "ann@idp")
	for _, s := range servers {
		if _, err := h.who(t, s, "acme", "ann"); err != nil {
			t.Fatal(err)
		}
	}
	for round := 1; round <= 3; round++ {
		h.issuer.Revoke()
		var all sync.WaitGroup
		for _, s := range append(servers, servers...) {
			tool := toolsOf(t, s)
			all.Go(func() {
				if got, err := call(t, tool, `{}`, as("acme", "ann")); err != nil || got != `"ann@idp"` {
					t.Errorf("got %s, %v", got, err)
				}
			})
		}
		all.Wait()
		if taken, again := h.issuer.Refreshes(); taken != round || again != 0 {
			t.Errorf("round %d: %d refresh tokens were taken, and %d came again", round, taken, again)
		}
	}
	h.issuer.SignOut()
	_, err := call(t, toolsOf(t, servers[1]), `{}`, as("acme", "ann"))
	linkOf(t, err)
}

// toolsOf returns the tool who, from a list of before.
func toolsOf(t *testing.T, s *mcp.Server) spool.Tool {
	t.Helper()

	source := must(s.Tools(mcp.Selection{}))
	return must(source.Tools(json.RawMessage(`{"tools":[{"name":"who","schema":{"type":"object"}}]}`)))[0]
}

// A further key reads what an earlier one has sealed. Without it the person is asked to sign in again.
func TestSignInKeys(t *testing.T) {
	t.Parallel()

	h := openHouse(t)
	h.signIn(t, h.open(t), "acme", "ann", "ann@idp")
	h.keys = [][]byte{keyOf(2), keyOf(1)}
	rotated := h.open(t)
	if got, err := h.who(t, rotated, "acme", "ann"); err != nil || got != `"ann@idp"` {
		t.Errorf("got %s, %v", got, err)
	}
	h.issuer.Revoke()
	if _, err := h.who(t, rotated, "acme", "ann"); err != nil { // refreshes
		t.Error(err)
	}
	h.keys = [][]byte{keyOf(2)}
	if _, err := h.who(t, h.open(t), "acme", "ann"); err != nil {
		t.Errorf("the new key has not sealed: %v", err)
	}
	h.keys = [][]byte{keyOf(3)}
	wrong := h.open(t)
	_, err := call(t, toolsOf(t, wrong), `{}`, as("acme", "ann"))
	if _, message, _ := linkOf(t, err); message !=
		"The stored sign-in cannot be read with the configured keys. Sign in to shop again, then approve." {
		t.Errorf("asks %q", message)
	}
	if !strings.Contains(h.log.String(), "cannot be read with the configured keys") {
		t.Errorf("the log is %s", h.log.String())
	}
	h.signIn(t, wrong, "acme", "ann", "ann@idp")
}

// checkSecrets fails if a text, the log or a file of the database has a token, a code or a verifier.
func (h *house) checkSecrets(t *testing.T, texts ...string) {
	t.Helper()

	files := must(filepath.Glob(filepath.Join(h.dir, "*")))
	size := 0
	for _, file := range files {
		text := string(must(os.ReadFile(file)))
		texts, size = append(texts, text), size+len(text)
	}
	secrets := h.issuer.Secrets()
	if size == 0 || len(secrets) < 6 {
		t.Errorf("%d bytes in %v, %d secrets", size, files, len(secrets))
	}
	for _, text := range append(texts, h.log.String()) {
		for _, secret := range append(secrets, h.issuer.Marks) {
			if i := strings.Index(text, secret); i >= 0 {
				t.Errorf("%q is in %q", secret, text[max(0, i-100):min(len(text), i+100)])
			}
		}
	}
}

func TestSignInFields(t *testing.T) {
	t.Parallel()

	store := memory.New(nil).Store
	for want, c := range map[string]mcp.SignInConfig{
		"URL must be":       {Store: store, Keys: [][]byte{keyOf(1)}, URL: "http://agents.example/oauth"},
		"Store is required": {Keys: [][]byte{keyOf(1)}, URL: "https://agents.example/oauth"},
		"Keys is required":  {Store: store, URL: "https://agents.example/oauth"},
		"must have 32":      {Store: store, Keys: [][]byte{{1}}, URL: "https://agents.example/oauth"},
	} {
		if _, err := mcp.NewSignIns(c); spool.CodeOf(err) != spool.Invalid || !strings.Contains(spool.MessageOf(err), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
}
