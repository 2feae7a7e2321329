package command

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/spoolhq/spool/internal/testing/fake/oauth"
	"github.com/spoolhq/spool/internal/testing/pgtest"
)

const sealKey = "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE="

// house is an MCP server to which people sign in, its authorization server, and the address of a host whose processes
// come and go.
type house struct {
	issuer *oauth.Server
	url    string
	front  *httptest.Server
	behind atomic.Pointer[process]
	// ran are all processes, and shown what they have answered.
	ran   []*process
	mu    sync.Mutex
	shown strings.Builder
}

func openHouse(t *testing.T, base string) *house {
	t.Helper()

	h := &house{issuer: oauth.Open()}
	t.Cleanup(h.issuer.Close)
	h.issuer.Codes = &oauth.Codes{Person: "ann@idp"}
	server := sdk.NewServer(&sdk.Implementation{Name: "shop", Version: "1"}, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "who"}, func(
		_ context.Context, r *sdk.CallToolRequest, _ struct{},
	) (*sdk.CallToolResult, any, error) {
		text := h.issuer.PersonOf(&http.Request{Header: r.Extra.Header}) + " has " + r.Extra.Header.Get("Authorization")
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil, nil
	})
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server },
		&sdk.StreamableHTTPOptions{Stateless: true})
	shop := httptest.NewServer(h.issuer.Guard("/mcp", []string{h.issuer.Issuer()}, handler))
	t.Cleanup(shop.Close)
	h.url = shop.URL + "/mcp"
	h.issuer.Resource = h.url
	h.front = httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		at, err := url.Parse(h.behind.Load().url)
		if err != nil {
			t.Error(err)
			return
		}
		r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = at.Scheme, at.Host, r.In.Host
	}})
	t.Cleanup(h.front.Close)
	h.issuer.Codes.Redirect = h.front.URL + base + "/oauth/callback"
	return h
}

// config writes a configuration, with more sections.
func (h *house) config(t *testing.T, more string) string {
	t.Helper()
	return writeConfig(t, `models: {demo: {provider: demo}}
agents: {clerk: {model: demo, mcp: {shop: {}}}}
mcp: {shop: {url: "`+h.url+`", auth: {type: authorization_code, issuer: "`+h.issuer.Issuer()+`"}}}
sign_in: {keys: ["${SEAL}"]}
limits: {lease: 2s}
egress: {allow: [127.0.0.1]}
`+more)
}

// start starts a process behind the address.
func (h *house) start(t *testing.T, env []string, data string, args ...string) {
	t.Helper()

	p := startWith(t, append([]string{"SEAL=" + sealKey}, env...), data,
		append(args, "--log-level", "debug", "--access-log", "info")...)
	h.ran = append(h.ran, p)
	h.behind.Store(p)
}

// person is somebody at a browser, whose application has a token.
type person struct {
	house *house
	base  string
	token string
	http  *http.Client
}

func (h *house) person(base, token string) *person {
	jar, _ := cookiejar.New(nil)
	return &person{h, base, token, &http.Client{Jar: jar}}
}

// ask sends a request of the application.
func (p *person) ask(t *testing.T, method, path, body string) (int, string) {
	t.Helper()

	r, err := http.NewRequestWithContext(patiently(t), method, p.house.front.URL+p.base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if p.token != "" {
		r.Header.Set("Authorization", "Bearer "+p.token)
	}
	return p.send(t, r)
}

// visit opens a page without the application's token.
func (p *person) visit(t *testing.T, link string) (int, string) {
	t.Helper()

	r, err := http.NewRequestWithContext(patiently(t), http.MethodGet, link, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	return p.send(t, r)
}

func (p *person) send(t *testing.T, r *http.Request) (int, string) {
	t.Helper()

	res, err := p.http.Do(r)
	text := bodyOf(t, res, err)
	p.house.mu.Lock()
	defer p.house.mu.Unlock()
	p.house.shown.WriteString(text)
	return res.StatusCode, text
}

// signInRun is what a run waits for.
type signInRun struct {
	State, Text string
	Parks       []struct {
		ToolCallID, Digest string
		Arguments          struct{ URL, Message string }
	}
}

// run starts a run that calls a tool, and returns what has become of it.
func (p *person) run(t *testing.T, id, tool string) signInRun {
	t.Helper()

	status, text := p.ask(t, http.MethodPost, "/api/agent/run",
		`{"threadId":"t-`+id+`","runId":"`+id+`","prompt":"use `+tool+` with {}"}`)
	if status != http.StatusAccepted {
		t.Fatalf("start: %d %s", status, text)
	}
	return p.outcome(t, id)
}

func (p *person) outcome(t *testing.T, id string) (a signInRun) {
	t.Helper()

	status, text := p.ask(t, http.MethodGet, "/api/agent/runs/"+id+"?wait=30s", "")
	if err := json.Unmarshal([]byte(text), &a); err != nil || status != http.StatusOK {
		t.Fatalf("%d %s", status, text)
	}
	return a
}

// parked is run for one that has to wait for a sign-in. It returns the link.
func (p *person) parked(t *testing.T, id, tool string) signInRun {
	t.Helper()

	a := p.run(t, id, tool)
	if a.State != "WAITING_FOR_INPUT" || len(a.Parks) != 1 || a.Parks[0].Arguments.URL == "" ||
		a.Parks[0].Arguments.Message != "Sign in to shop, then approve." {
		t.Fatalf("the run is %+v", a)
	}
	return a
}

// approve answers what a run waits for, and returns what becomes of it.
func (p *person) approve(t *testing.T, id string, a signInRun) signInRun {
	t.Helper()

	body, err := json.Marshal(map[string]any{
		"threadId": "t-" + id, "toolCallId": a.Parks[0].ToolCallID, "approved": true, "digest": a.Parks[0].Digest,
	})
	if err != nil {
		t.Fatal(err)
	}
	if status, text := p.ask(t, http.MethodPost, "/api/agent/respond", string(body)); status != http.StatusOK {
		t.Fatalf("respond: %d %s", status, text)
	}
	return p.outcome(t, id)
}

// begin begins a sign-in by the application, whose browser gets the cookie. It returns where the browser goes.
func (p *person) begin(t *testing.T, link string) (int, string) {
	t.Helper()

	status, text := p.ask(t, http.MethodPost, "/api/agent/sign-in", `{"url":"`+link+`"}`)
	var to struct{ URL string }
	if err := json.Unmarshal([]byte(text), &to); err != nil {
		t.Fatalf("%d %s", status, text)
	}
	return status, to.URL
}

const (
	annToken    = "token-of-ann-1234567"
	benToken    = "token-of-ben-1234567"
	nobodyToken = "token-of-nobody-1234"

	signInTokens = `auth:
  tokens:
    - {token: ` + annToken + `, subject: ann, scopes: [read, write, approve]}
    - {token: ` + benToken + `, subject: ben, scopes: [read, write, approve]}
    - {token: ` + nobodyToken + `, scopes: [read, write, approve]}
`
)

// A run waits for its subject to sign in, through the death of processes, and goes on with the token of that subject
// and nobody else's.
func TestSignIns(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		base     string
		postgres bool
	}{"SQLite": {}, "PostgreSQL": {postgres: true}, "BasePath": {base: "/v1"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			h := openHouse(t, c.base)
			data, env := t.TempDir(), []string(nil)
			if c.postgres {
				env = []string{"SPOOL_DATABASE=" + pgtest.Database(t, nil), "SPOOL_DATABASE_POOL=6"}
			}
			file := h.config(t, signInTokens+`server: {public_url: "`+h.front.URL+`", base_path: "`+c.base+`"}`)
			again := func() {
				t.Helper()
				if last := h.behind.Load(); last != nil {
					last.signal(t, syscall.SIGKILL)
				}
				h.start(t, env, data, "--config", file)
			}
			again()
			ann, ben, nobody := h.person(c.base, annToken), h.person(c.base, benToken), h.person(c.base, nobodyToken)
			first := ann.parked(t, "r1", "shop__sign_in")
			link := first.Parks[0].Arguments.URL
			if !strings.HasPrefix(link, h.front.URL+c.base+"/oauth/sign-in?ticket=") {
				t.Errorf("the link is %s", link)
			}
			again()

			if status, page := ann.visit(t, link); status != http.StatusUnauthorized ||
				!strings.Contains(page, "Open it in the application") {
				t.Errorf("without a token: %d %s", status, page)
			}
			if status, _ := ben.begin(t, link); status != http.StatusNotFound {
				t.Errorf("ben begins with the link of ann: %d", status)
			}
			status, to := ann.begin(t, link)
			if status != http.StatusOK {
				t.Fatalf("ann begins: %d", status)
			}
			again()
			if status, page := ben.visit(t, to); status != http.StatusNotFound || !strings.Contains(page, "another browser") {
				t.Errorf("ben's browser goes on: %d %s", status, page)
			}
			if status, page := ann.visit(t, to); status != http.StatusOK ||
				!strings.Contains(page, "You are signed in to shop") {
				t.Fatalf("ann's browser: %d %s; the last refusal: %s", status, page, h.issuer.Refusal())
			}
			if a := ann.approve(t, "r1", first); a.State != "COMPLETED" || !strings.Contains(a.Text, "has signed in to shop") {
				t.Errorf("the run is %+v", a)
			}
			if a := ann.run(t, "r2", "shop__who"); a.State != "COMPLETED" ||
				!strings.Contains(a.Text, "ann@idp has Bearer [redacted]") {
				t.Errorf("the run of ann is %+v", a)
			}

			own := ben.parked(t, "r3", "shop__who") // the tools are those that ann has got
			if status, _ := ann.begin(t, own.Parks[0].Arguments.URL); status != http.StatusNotFound {
				t.Errorf("ann begins with the link of ben: %d", status)
			}
			if own = ben.approve(t, "r3", own); own.State != "WAITING_FOR_INPUT" {
				t.Fatalf("an approval without a sign-in: %+v", own)
			}
			h.issuer.Change(func() { h.issuer.Codes.Person = "ben@idp" })
			_, to = ben.begin(t, own.Parks[0].Arguments.URL)
			if status, page := ben.visit(t, to); status != http.StatusOK {
				t.Fatalf("ben's browser: %d %s", status, page)
			}
			if a := ben.approve(t, "r3", own); a.State != "COMPLETED" ||
				!strings.Contains(a.Text, "ben@idp has Bearer [redacted]") {
				t.Errorf("the run of ben is %+v", a)
			}
			if a := nobody.run(t, "r4", "shop__who"); a.State != "COMPLETED" ||
				!strings.Contains(a.Text, "the run has no subject, so that nobody can sign in for it") {
				t.Errorf("the run of nobody is %+v", a)
			}
			again()
			if a := ann.run(t, "r5", "shop__who"); a.State != "COMPLETED" || !strings.Contains(a.Text, "ann@idp") {
				t.Errorf("the run of ann after a restart is %+v", a)
			}
			for _, id := range []string{"r1", "r2", "r3"} {
				ann.ask(t, http.MethodGet, "/api/agent/history?threadId=t-"+id, "")
			}
			h.checkSecrets(t, data, !c.postgres)
		})
	}
}

// checkSecrets fails if a log, an answer or a file of the database has a token, a code or a verifier.
func (h *house) checkSecrets(t *testing.T, data string, files bool) {
	t.Helper()

	texts := map[string]string{"answers": h.shown.String()}
	for _, p := range h.ran {
		texts["log of "+p.url] = p.stderr.String() + p.banner
	}
	size := 0
	err := filepath.WalkDir(data, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		texts[path], size = string(b), size+len(b)
		return err
	})
	secrets := append(h.issuer.Secrets(), h.issuer.Marks, sealKey)
	if err != nil || files && size == 0 || len(secrets) < 6 {
		t.Errorf("%d bytes of files, %d secrets: %v", size, len(secrets), err)
	}
	for name, text := range texts {
		for _, secret := range secrets {
			if i := strings.Index(text, secret); i >= 0 {
				t.Errorf("%q is in %s: %q", secret, name, text[max(0, i-100):min(len(text), i+100)])
			}
		}
	}
}

// Where callers have no subjects, everybody of the tenant is one owner. Without authentication the link itself begins
// the sign-in, and only the browser in which it began ends it.
func TestSignInAnonymous(t *testing.T) {
	t.Parallel()

	for name, token := range map[string]string{"Open": "", "Token": "the-only-token-of-all"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			h := openHouse(t, "")
			data := t.TempDir()
			file := h.config(t, `server: {public_url: "`+h.front.URL+`"}`)
			h.start(t, []string{"SPOOL_TOKEN=" + token}, data, "--config", file)
			p, other := h.person("", token), h.person("", token)
			first := p.parked(t, "r1", "shop__sign_in")
			to := first.Parks[0].Arguments.URL
			if token != "" {
				_, to = p.begin(t, to)
			} else {
				var cookie string
				p.http.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
					if cookie == "" {
						cookie = r.Response.Header.Get("Set-Cookie")
					}
					if r.URL.Path == "/oauth/callback" {
						return http.ErrUseLastResponse
					}
					return nil
				}
				r, err := http.NewRequestWithContext(patiently(t), http.MethodGet, to, http.NoBody)
				if err != nil {
					t.Fatal(err)
				}
				res, err := p.http.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				_ = res.Body.Close()
				if to = res.Header.Get("Location"); !strings.HasPrefix(cookie, "spool-sign-in-") ||
					!strings.HasSuffix(cookie, "; Path=/oauth/callback; Max-Age=600; HttpOnly; SameSite=Lax") {
					t.Errorf("the cookie is %q, and the browser goes to %s", cookie, to)
				}
				if status, page := other.visit(t, to); status != http.StatusNotFound || !strings.Contains(page, "another browser") {
					t.Errorf("another browser: %d %s", status, page)
				}
			}
			if status, page := p.visit(t, to); status != http.StatusOK || !strings.Contains(page, "You are signed in to shop") {
				t.Fatalf("%d %s; the last refusal: %s", status, page, h.issuer.Refusal())
			}
			if status, page := p.visit(t, to); token == "" && status != http.StatusNotFound {
				t.Errorf("a second time: %d %s", status, page)
			}
			if a := p.approve(t, "r1", first); a.State != "COMPLETED" {
				t.Errorf("the run is %+v", a)
			}
			if a := other.run(t, "r2", "shop__who"); a.State != "COMPLETED" || !strings.Contains(a.Text, "ann@idp") {
				t.Errorf("the next run is %+v", a)
			}
			h.checkSecrets(t, data, true)
		})
	}
}

// A configuration without an address of the pages, or with one that is not safe, is refused. Where only this machine
// reaches the server, the address is that of the server.
func TestSignInAddress(t *testing.T) {
	t.Parallel()

	const text = `models: {demo: {provider: demo}}
agents: {clerk: {model: demo, mcp: {shop: {}}}}
mcp: {shop: {url: "https://shop.example", auth: {type: authorization_code, issuer: "https://id.example"}}}
sign_in: {keys: ["${SEAL}"]}
`
	for name, c := range map[string]struct {
		more string
		args []string
		want string
	}{
		"Own": {"", nil, "sign-in   at http://127.0.0.1:8080/oauth\n"},
		"OwnBase": {
			"", []string{"--base-path", "/v1/", "--listen", "localhost:9000"}, "sign-in   at http://localhost:9000/v1/oauth\n",
		},
		"Public": {
			"server: {public_url: 'https://agents.example/x', base_path: /v1}",
			[]string{"--listen", ":80"},
			"sign-in   at https://agents.example/x/v1/oauth\n",
		},
		"Said": {
			"server: {public_url: 'http://agents.internal'}\n", nil,
			"spool.yaml:3: mcp.shop.auth: needs a server.public_url with https, or sign_in.url; http is for loopback hosts",
		},
		"Unknown": {
			"",
			[]string{"--listen", "0.0.0.0:80"},
			"spool.yaml:3: mcp.shop.auth: needs server.public_url or sign_in.url: browsers come back there from the authorization server",
		},
		"AnyPort":  {"", []string{"--listen", "127.0.0.1:0"}, "needs server.public_url or sign_in.url"},
		"TheirOwn": {"server: {public_url: 'http://agents.internal'}\n", nil, "needs a server.public_url with https"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := command(map[string]string{"SEAL": sealKey},
				append([]string{"check", "--config", writeConfig(t, text+c.more)}, c.args...)...)
			if !strings.Contains(got.stdout+got.stderr, c.want) || strings.Contains(got.stdout+got.stderr, sealKey) {
				t.Errorf("%+v", got)
			}
			if ok := strings.HasPrefix(c.want, "sign-in"); ok != (got.code == exitOK) ||
				ok && !strings.Contains(got.stdout, "mcp       shop (people sign in)\n") {
				t.Errorf("%+v", got)
			}
		})
	}
}
