package server_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/access"
)

// openAPI is what these tests look at in a document.
type openAPI struct {
	Paths map[string]map[string]struct {
		Summary, Description string
		Parameters           []struct{ Name, Description string }
		RequestBody          *struct{ Required bool }
		Responses            map[string]struct{ Description string }
		Security             []map[string][]string
	}
	Components struct {
		SecuritySchemes map[string]struct{ Type, Scheme, Name string }
		Schemas         map[string]struct {
			Properties map[string]struct {
				Description string
				Const       any
			}
		}
	}
}

func (b *bundle) document(t *testing.T) openAPI {
	t.Helper()

	text, err := b.server.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	var doc openAPI
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// The document says for each endpoint what it does, what each status means, and which scope
// it needs: the one that is asked for.
func TestDocument(t *testing.T) {
	t.Parallel()

	doc := setup(t, server.Config{BasePath: "/agents"}).document(t)
	for path, operations := range doc.Paths {
		for method, op := range operations {
			if op.Summary == "" || op.Description == "" || op.RequestBody != nil && !op.RequestBody.Required {
				t.Errorf("%s %s: %+v", method, path, op)
			}
			for status, answer := range op.Responses {
				if answer.Description == "" {
					t.Errorf("%s %s: %s has no description", method, path, status)
				}
			}
			for _, p := range op.Parameters {
				if p.Description == "" {
					t.Errorf("%s %s: %s has no description", method, path, p.Name)
				}
			}
		}
	}
	for name, schema := range doc.Components.Schemas {
		for field, p := range schema.Properties {
			// The word of a kind needs no text, and its payload is described by the type.
			if p.Description == "" && p.Const == nil && field != "payload" {
				t.Errorf("%s.%s has no text: write a comment, and update the table in internal/describe", name, field)
			}
		}
	}
	if doc.Paths["/agents/"] != nil || doc.Paths["/"] != nil {
		t.Error("the page at the root is in the document")
	}
	for _, e := range guarded {
		if e.method == http.MethodHead {
			continue
		}
		op, ok := doc.Paths["/agents"+e.path][strings.ToLower(e.method)]
		last := len(op.Security) - 1 // a stream may be opened by a token, too
		want := []string{string(e.scope)}
		if second := secondScopes[e.path]; second != "" {
			want = append(want, second)
		}
		if tokens := e.path == streamPath; !ok || tokens != (last == 1) || last < 0 ||
			!slices.Equal(op.Security[last]["bearer"], want) {
			t.Errorf("%s %s: security %v, want the scopes %v", e.method, e.path, op.Security, want)
		}
	}
	for path, second := range secondScopes {
		if op := doc.Paths["/agents"+path]["post"]; len(op.Security) != 1 ||
			!slices.Contains(op.Security[0]["bearer"], second) {
			t.Errorf("POST %s: security %v lacks the scope %s", path, op.Security, second)
		}
	}
	if open := doc.Paths["/agents/healthz"]["get"]; len(open.Security) != 0 {
		t.Errorf("health: security %v", open.Security)
	}
}

// secondScopes are the second scopes that endpoints need, by their paths.
var secondScopes = map[string]string{
	aguiPath: "read", chatPath: "read", adminStopPath: "stop", adminRespondPath: "approve",
}

// schemed is an authenticator that says how its credentials travel.
type schemed struct{ authFunc }

func (schemed) Scheme() rest.Scheme {
	return rest.Scheme{Name: "session", Type: "apiKey", In: "cookie", Param: "session"}
}

func TestDocumentSecurity(t *testing.T) {
	t.Parallel()

	if got := setup(t, server.Config{Insecure: true}).document(t).Components.SecuritySchemes; len(got) > 0 {
		t.Errorf("a server that asks nobody documents %v", got)
	}
	got := setup(t, server.Config{}).document(t).Components.SecuritySchemes
	if scheme := got["bearer"]; len(got) != 2 || got["streamToken"].Name != "token" || scheme.Type != "http" ||
		scheme.Scheme != "bearer" {
		t.Errorf("a server with tokens documents %v", got)
	}
	own := schemed{func(*http.Request) (access.Principal, error) { return access.Principal{}, nil }}
	got = setup(t, server.Config{Authenticator: own}).document(t).Components.SecuritySchemes
	if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, []string{"session", "streamToken"}) ||
		got["session"].Name != "session" {
		t.Errorf("a server with an authenticator of its own documents %v", got)
	}
}

// The document and the page are for everybody who reaches the server, which on loopback is
// no page of another origin.
func TestDocs(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]server.Config{
		"Tokens":   {BasePath: "/agents"},
		"Loopback": {BasePath: "/agents", Insecure: true, Loopback: true},
	} {
		b := setup(t, c)
		spec := b.do(t, call{method: http.MethodGet, path: "/agents/openapi.json"})
		text, err := b.server.OpenAPI()
		if err != nil || spec.status != http.StatusOK || spec.body != strings.TrimSpace(string(text)) {
			t.Errorf("%s: document: %d, %v", name, spec.status, err)
		}
		for _, path := range []string{"/agents/docs", "/agents/docs/"} {
			page := b.do(t, call{method: http.MethodGet, path: path})
			if page.status != http.StatusOK || !strings.Contains(page.body, `/openapi.json"`) ||
				!strings.HasPrefix(page.header.Get("Content-Type"), "text/html") {
				t.Errorf("%s: %s: %d %s", name, path, page.status, page.body)
			}
			for asset := range strings.SplitSeq(page.body, `"`) {
				if !strings.HasSuffix(asset, ".js") && !strings.HasSuffix(asset, ".css") {
					continue
				}
				at := "/agents/" + strings.TrimPrefix(asset, "./")
				if strings.HasSuffix(path, "/") {
					at = path + strings.TrimPrefix(asset, "./")
				}
				if got := b.do(t, call{method: http.MethodGet, path: at}); got.status != http.StatusOK || got.body == "" {
					t.Errorf("%s: %s: %d", name, at, got.status)
				}
			}
		}
		rebound := b.do(t, call{
			method: http.MethodGet, path: "/agents/docs", header: map[string]string{"Host": "evil.example"},
		})
		if (rebound.status == http.StatusForbidden) != c.Loopback {
			t.Errorf("%s: by another name: %d", name, rebound.status)
		}
		if got := b.do(
			t, call{method: http.MethodPost, path: "/agents/docs", body: "{}"},
		); got.status != http.StatusMethodNotAllowed {
			t.Errorf("%s: POST: %d", name, got.status)
		}
	}
}

func TestDocumentNamesTheServer(t *testing.T) {
	t.Parallel()

	for public, want := range map[string]string{
		"": "/", "https://agents.example/": "https://agents.example",
		"https://example.com/spool/": "https://example.com/spool",
	} {
		text, err := setup(t, server.Config{BasePath: "/v1", PublicURL: public}).server.OpenAPI()
		if err != nil {
			t.Fatal(err)
		}
		var doc struct{ Servers []struct{ URL string } }
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		if len(doc.Servers) != 1 || doc.Servers[0].URL != want {
			t.Errorf("%q: got %v, want %s", public, doc.Servers, want)
		}
	}
	b := setup(t, server.Config{})
	for _, public := range []string{
		"agents.example", "ftp://agents.example", "https://agents.example/v1", "https://a:b@agents.example",
		"https://agents.example/a//b", "https://agents.example?", "https://agents.example/{x}",
	} {
		if _, err := server.New(
			b.engine, server.Config{Insecure: true, BasePath: "/v1", PublicURL: public},
		); spool.CodeOf(err) != spool.Invalid {
			t.Errorf("%s: %v", public, err)
		}
	}
}

func TestNewRefusesBasePaths(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	for _, at := range []string{"/a//b", "/a/../b", "/{x}", "/a/."} {
		if _, err := server.New(b.engine, server.Config{Insecure: true, BasePath: at}); spool.CodeOf(err) != spool.Invalid {
			t.Errorf("%s: %v", at, err)
		}
	}
}
