package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/egress"
	"github.com/spoolhq/spool/internal/testing/fake/oauth"
	"github.com/spoolhq/spool/tool/mcp"
)

// guarded is an MCP server that wants access tokens, and its authorization server.
type guarded struct {
	*peer

	issuer *oauth.Server
	url    string
	posts  atomic.Int64
	// names are the authorization servers that the MCP server names.
	names []string
	// before sees each request with a token. It returns true if it has answered.
	before func(w http.ResponseWriter, r *http.Request) bool
}

// guard starts both servers. The MCP server has the path /mcp.
func guard(t *testing.T, options *sdk.StreamableHTTPOptions) *guarded {
	t.Helper()
	g := &guarded{peer: newPeer(), issuer: oauth.Open()}
	t.Cleanup(g.issuer.Close)
	g.names = []string{g.issuer.Issuer()}
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return g.server }, options)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			g.posts.Add(1)
		}
		g.issuer.Guard("/mcp", g.names, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if g.before == nil || !g.before(w, r) {
				handler.ServeHTTP(w, r)
			}
		})).ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	g.url = s.URL + "/mcp"
	g.issuer.Resource = g.url
	return g
}

// client returns a client with the credentials.
func (g *guarded) client(t *testing.T, change ...func(*mcp.Config)) *mcp.Server {
	t.Helper()
	return client(t, g.url, func(c *mcp.Config) {
		c.Auth = &mcp.Auth{
			Type: mcp.AuthClientCredentials, Issuer: g.issuer.Issuer(), ClientID: g.issuer.ClientID,
			ClientSecret: g.issuer.ClientSecret,
		}
		for _, fn := range change {
			fn(c)
		}
	})
}

// checkIssued fails unless a number of tokens was issued and asked for.
func (g *guarded) checkIssued(t *testing.T, want int) {
	t.Helper()
	if issued, asked := g.issuer.Issued(); issued != want || asked != want {
		t.Errorf("%d tokens were issued for %d requests, want %d; the last refusal: %s", issued, asked, want,
			g.issuer.Refusal())
	}
}

func TestAuth(t *testing.T) {
	t.Parallel()

	for name, change := range map[string]func(g *guarded){
		"basic":        func(*guarded) {},
		"post":         func(g *guarded) { g.issuer.Method = "client_secret_post" },
		"scope":        func(g *guarded) { g.issuer.Scope = "read write" },
		"no end":       func(g *guarded) { g.issuer.Lifetime = 0 },
		"path":         func(g *guarded) { g.issuer.Path = "/tenant/1" },
		"openid":       func(g *guarded) { g.issuer.Path, g.issuer.OpenID = "/tenant/1", true },
		"root":         func(g *guarded) { g.issuer.OpenID = true },
		"names nobody": func(g *guarded) { g.names = []string{} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			for _, options := range []*sdk.StreamableHTTPOptions{stateless, nil} {
				g := guard(t, options)
				change(g)
				if len(g.names) > 0 {
					g.names = []string{"https://other.example", g.issuer.Issuer()}
				}
				s := g.client(t, func(c *mcp.Config) { c.Auth.Scopes = strings.Fields(g.issuer.Scope) })
				tool := tools(t, s, mcp.Selection{})["echo"]
				for range 2 {
					if result, err := call(t, tool, `{"text":"hello"}`); err != nil || !strings.Contains(result, "hello") {
						t.Fatalf("got %s, %v", result, err)
					}
				}
				g.checkIssued(t, 1)
			}
		})
	}
}

// Calls at the same time share one token.
func TestAuthShared(t *testing.T) {
	t.Parallel()

	g := guard(t, stateless)
	tool := tools(t, g.client(t), mcp.Selection{})["echo"]
	g.issuer.Revoke()
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			if _, err := call(t, tool, `{"text":"hello"}`); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	g.checkIssued(t, 2)
}

// A token that the server no longer takes is replaced, and the call has its effect once.
func TestAuthRevoked(t *testing.T) {
	t.Parallel()

	g := guard(t, stateless)
	tool := tools(t, g.client(t), mcp.Selection{})["echo"]
	for n := 1; n <= 2; n++ {
		g.issuer.Revoke()
		if _, err := call(t, tool, `{"text":"a"}`); err != nil {
			t.Fatal(err)
		}
		if got := g.counted("echo"); got != n {
			t.Errorf("%d calls took effect %d times", n, got)
		}
	}
	g.checkIssued(t, 3)
}

// A server that takes no token gets each request twice at most, and the error says that nothing was executed.
func TestAuthRefused(t *testing.T) {
	t.Parallel()

	g := guard(t, stateless)
	tool := tools(t, g.client(t), mcp.Selection{})["echo"]
	g.before = func(w http.ResponseWriter, r *http.Request) bool {
		http.Error(w, "never: "+r.Header.Get("Authorization"), http.StatusUnauthorized)
		return true
	}
	g.posts.Store(0)
	_, err := call(t, tool, `{"text":"a"}`)
	if spool.CodeOf(err) != spool.Unauthorized || spool.MessageOf(err) != "MCP server shop: it refuses the access token" {
		t.Errorf("got %v", err)
	}
	if _, unknown := errors.AsType[*spool.OutcomeUnknownError](err); unknown {
		t.Error("the outcome of a refused call is called unknown")
	}
	if got := g.posts.Load(); got != 2 {
		t.Errorf("the call was sent %d times", got)
	}
}

func TestAuthScope(t *testing.T) {
	t.Parallel()

	g := guard(t, stateless)
	tool := tools(t, g.client(t), mcp.Selection{})["echo"]
	for challenge, want := range map[string]string{
		`Bearer error="insufficient_scope", scope="orders.write admin"`: `MCP server shop: its access token lacks a scope; it asks for "orders.write admin"`,
		`Bearer error="insufficient_scope", scope="a` + "\u00e4" +
			`"`: `MCP server shop: its access token lacks a scope; it asks for ""`,
		`Bearer error="insufficient_scope"`: `MCP server shop: its access token lacks a scope; it asks for ""`,
		`Bearer error="invalid_token"`:      `MCP server shop: the server answered with status 403`,
		`"`:                                 `MCP server shop: the server answered with status 403`,
	} {
		g.before = func(w http.ResponseWriter, r *http.Request) bool {
			if r.Header.Get("Mcp-Method") != "tools/call" {
				return false
			}
			w.Header().Set("WWW-Authenticate", challenge)
			w.WriteHeader(http.StatusForbidden)
			return true
		}
		if _, err := call(t, tool, `{"text":"a"}`); spool.MessageOf(err) != want {
			t.Errorf("%s: got %v", challenge, err)
		}
	}
	g.checkIssued(t, 1)
}

// The secret goes only to the configured issuer, and only if everybody agrees on it.
func TestAuthIssuer(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		change func(g *guarded, c *mcp.Config)
		code   spool.Code
		want   string
		asked  int
	}{
		"other issuer of the server": {
			func(g *guarded, _ *mcp.Config) { g.names = []string{"https://evil.example"} }, spool.Unauthorized,
			"it does not name the configured issuer as its authorization server", 0,
		},
		"other name": {
			func(g *guarded, _ *mcp.Config) { g.issuer.Named = "https://evil.example" }, spool.Unauthorized,
			"its authorization server calls itself by another issuer than the configured one", 0,
		},
		"no metadata": {
			func(_ *guarded, c *mcp.Config) { c.Auth.Issuer += "/nothing" }, spool.Unavailable,
			"its authorization server has no metadata", 0,
		},
		"wrong secret": {
			func(_ *guarded, c *mcp.Config) { c.Auth.ClientSecret = "hunter2-wrong" }, spool.Unauthorized,
			"its authorization server refuses this client with status 401: invalid_client", 1,
		},
		"wrong resource": {
			func(_ *guarded, c *mcp.Config) { c.Auth.Resource = "https://other.example/" }, spool.Unauthorized,
			"its authorization server refuses this client with status 400: invalid_target", 1,
		},
		"down": {
			func(g *guarded, _ *mcp.Config) { g.issuer.Fails = http.StatusServiceUnavailable }, spool.Unavailable,
			"its authorization server answered with status 503", 1,
		},
		"strange": {
			func(g *guarded, _ *mcp.Config) { g.issuer.Fails = http.StatusTeapot }, spool.Unauthorized,
			"its authorization server refuses this client with status 418: no known reason", 1,
		},
		"not allowed": {
			func(g *guarded, c *mcp.Config) {
				c.Egress = egress.Policy{Allow: []string{"localhost"}}
				c.URL = strings.Replace(g.url, "127.0.0.1", "localhost", 1)
			}, spool.Forbidden, "host 127.0.0.1 is at a loopback address; to allow it, add 127.0.0.1 to the egress policy", 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			g := guard(t, stateless)
			_, err := g.client(t, func(config *mcp.Config) { c.change(g, config) }).List(t.Context())
			if spool.CodeOf(err) != c.code || spool.MessageOf(err) != "MCP server shop: "+c.want {
				t.Errorf("got %s %v", spool.CodeOf(err), err)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the secret is in %v", err)
			}
			if _, asked := g.issuer.Issued(); asked != c.asked {
				t.Errorf("the authorization server got %d requests, want %d", asked, c.asked)
			}
			if g.posts.Load() != 0 {
				t.Error("the server got a request without a token")
			}
		})
	}
}

func TestAuthFields(t *testing.T) {
	t.Parallel()

	good := mcp.Auth{Type: mcp.AuthClientCredentials, Issuer: "https://a.example", ClientID: "i", ClientSecret: "hunter2"}
	for want, change := range map[string]func(c *mcp.Config){
		"Type must be":                   func(c *mcp.Config) { c.Auth.Type = "password" },
		"ClientID and ClientSecret are":  func(c *mcp.Config) { c.Auth.ClientSecret = "" },
		"Issuer is required":             func(c *mcp.Config) { c.Auth.Issuer = "" },
		"Issuer must be an https":        func(c *mcp.Config) { c.Auth.Issuer = "http://a.example" },
		"Issuer must be an https URL":    func(c *mcp.Config) { c.Auth.Issuer = "https://a.example?b" },
		"URL must have https":            func(c *mcp.Config) { c.URL = "http://shop.example" },
		"Method must be":                 func(c *mcp.Config) { c.Auth.Method = "none" },
		"Scopes must be":                 func(c *mcp.Config) { c.Auth.Scopes = []string{"a b"} },
		"Resource must be":               func(c *mcp.Config) { c.Auth.Resource = "shop" },
		"the header Authorization is":    func(c *mcp.Config) { c.Headers = map[string]string{"authorization": "Bearer x"} },
		"Headers and Auth are for a URL": func(c *mcp.Config) { c.URL, c.Command = "", []string{"x"} },
	} {
		auth := good
		config := mcp.Config{Name: "shop", URL: "https://shop.example", Auth: &auth}
		change(&config)
		if _, err := mcp.New(config); spool.CodeOf(err) != spool.Invalid || !strings.Contains(spool.MessageOf(err), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
	auth := good
	auth.Issuer = "http://auth.internal/"
	config := mcp.Config{
		Name: "shop", URL: "http://shop.internal", Auth: &auth,
		Egress: egress.Policy{Allow: []string{"shop.internal", "Auth.internal"}},
	}
	if _, err := mcp.New(config); err != nil {
		t.Error(err)
	}
}

// Neither a model nor a log sees a token or the secret, whatever the servers repeat.
func TestAuthSecrets(t *testing.T) {
	t.Parallel()

	g := guard(t, stateless)
	var mu sync.Mutex
	var token string
	g.before = func(_ http.ResponseWriter, r *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		token = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		return false
	}
	g.server.AddTool(&sdk.Tool{Name: "tell", InputSchema: map[string]any{"type": "object"}}, func(
		_ context.Context, r *sdk.CallToolRequest,
	) (*sdk.CallToolResult, error) {
		mu.Lock()
		defer mu.Unlock()
		told := token + " and " + g.issuer.ClientSecret
		switch {
		case bytes.Contains(r.Params.Arguments, []byte("ask")):
			return &sdk.CallToolResult{
				RequestState: "s", InputRequests: sdk.InputRequestMap{
					"a": &sdk.ElicitParams{Mode: "form", Message: told, RequestedSchema: map[string]any{"type": "object"}},
				},
			}, nil
		case bytes.Contains(r.Params.Arguments, []byte("fail")):
			return nil, errors.New(told)
		default:
			return said(told), nil
		}
	})
	var log bytes.Buffer
	s := g.client(t, func(c *mcp.Config) { c.Optional, c.Log = true, slog.New(slog.NewTextHandler(&log, nil)) })
	tool := tools(t, s, mcp.Selection{})["tell"]
	var seen []string
	for _, args := range []string{`{}`, `{"a":"ask"}`, `{"a":"fail"}`} {
		result, err := call(t, tool, args)
		if park, ok := errors.AsType[*spool.ParkRequest](err); ok {
			result = string(must(json.Marshal(park.Payload)))
		}
		if err != nil {
			result += err.Error()
		}
		if !strings.Contains(result, "[redacted]") {
			t.Errorf("%s: got %s", args, result)
		}
		seen = append(seen, result)
	}
	g.issuer.Revoke()
	g.issuer.Change(func() { g.issuer.Fails = http.StatusBadRequest })
	_, err := call(t, tool, `{}`)
	seen = append(seen, err.Error())
	must(must(s.Tools(mcp.Selection{})).List(t.Context(), "", ""))
	for _, text := range append(seen, log.String()) {
		if text == "" || strings.Contains(text, g.issuer.Marks) || strings.Contains(text, "hunter2") {
			t.Errorf("a secret is in %q", text)
		}
	}
}
