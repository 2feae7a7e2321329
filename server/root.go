package server

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed" // the page
	"encoding/base64"
	"encoding/json"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/internal/call"
)

// Fact is something about a server that a person wants to know, such as which models it has.
type Fact struct{ Name, Text string }

var (
	//go:embed root.html
	rootHTML string
	//go:embed root.css
	rootCSS string

	rootPage = template.Must(template.New("root").Parse(rootHTML))
)

// rootPolicy allows the page its own style sheet and the icon that it brings, and nothing else.
var rootPolicy = func() string {
	sum := sha256.Sum256([]byte(rootCSS))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; img-src data:; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}()

// link leads from the page to another.
type link struct{ Title, Text, Href string }

// root answers GET on the path above all others: a page for a browser, JSON for others. Both lead
// to the docs, the document and the probes. Only who may operate the server reads what runs on it.
//
// It is not in the document, nor are the document itself and the docs: they are the way to it, and a
// client that was generated of it has no use for them.
func (c health) root(ctx context.Context, _ struct{}) (rootAnswer, error) {
	facts, err := c.facts(rest.RequestOf(ctx))
	return rootAnswer{c.Server, facts}, err
}

// rootAnswer is the page, or its JSON.
type rootAnswer struct {
	server *Server
	facts  []Fact
}

// Respond implements [rest.Responder].
func (a rootAnswer) Respond(w http.ResponseWriter, r *http.Request) error {
	h := w.Header()
	h.Add("Vary", "Accept")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	var body []byte
	if wantsHTML(r) {
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", rootPolicy)
		h.Set("Referrer-Policy", "no-referrer")
		body = a.server.rootHTML(r, a.facts)
	} else {
		h.Set("Content-Type", "application/json")
		body = a.server.rootJSON(a.facts)
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
	return nil
}

// facts returns what the caller may know of the server. A caller without credentials may know
// nothing, and one with wrong ones is refused, so that nobody tries them here.
func (s *Server) facts(r *http.Request) ([]Fact, error) {
	if s.everybody != nil {
		return s.config.Facts, nil
	}
	if s.given(r) == failedMissing {
		return nil, nil
	}
	who, err := gate{s, ScopeAdmin}.Authenticate(r)
	if err != nil {
		return nil, err
	}
	if c, ok := who.(*call.Caller); !ok || !slices.Contains(c.Scopes, ScopeAdmin) {
		return nil, nil
	}
	return s.config.Facts, nil
}

// wantsHTML reports whether a browser shows the answer to a person.
func wantsHTML(r *http.Request) bool {
	for accept := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
		kind, _, _ := strings.Cut(accept, ";")
		switch strings.TrimSpace(kind) {
		case "text/html", "application/xhtml+xml":
			return true
		case "application/json":
			return false
		}
	}
	return false
}

func (s *Server) rootJSON(facts []Fact) []byte {
	at := s.config.PublicURL + s.config.BasePath
	byName := make(map[string]string, len(facts))
	for _, f := range facts {
		byName[f.Name] = f.Text
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	_ = e.Encode(struct { //nolint:errchkjson // texts can always be encoded
		Name    string            `json:"name"`
		Docs    string            `json:"docs"`
		OpenAPI string            `json:"openapi"`
		Health  string            `json:"health"`
		Ready   string            `json:"ready"`
		Threads string            `json:"threads"`
		Server  map[string]string `json:"server,omitempty"`
	}{"Spool", at + "/docs", at + "/openapi.json", at + pathHealth, at + pathReady, at + "/api/threads", byName})
	return text.Bytes()
}

// rootHTML returns the page. Its links are relative, so that they lead somewhere too where a proxy
// puts something before the path.
func (s *Server) rootHTML(r *http.Request, facts []Fact) []byte {
	dir := "./"
	if !strings.HasSuffix(r.URL.Path, "/") {
		dir += r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:] + "/"
	}
	base, header := cmp.Or(s.config.PublicURL, shownScheme(r)+"://"+r.Host)+s.config.BasePath, ""
	if s.everybody == nil {
		header = ` -H "Authorization: Bearer $SPOOL_TOKEN"`
	}
	var page bytes.Buffer
	_ = rootPage.Execute(&page, map[string]any{ // a buffer takes it all
		"Style": template.CSS(rootCSS), //nolint:gosec // it is ours
		"Facts": facts, "Token": s.everybody == nil, "Threads": dir + "api/threads",
		"Links": []link{
			{"Docs", "Every endpoint, to read and to try", dir + "docs"},
			{"OpenAPI", "The document, for client generators", dir + "openapi.json"},
			{"Health", "Is the process up?", dir + strings.TrimPrefix(pathHealth, "/")},
			{"Readiness", "May requests come?", dir + strings.TrimPrefix(pathReady, "/")},
		},
		"Start":  "curl -s" + header + " " + base + `/api/agent/run -H 'Content-Type: application/json' -d '{"threadId":"hello","prompt":"Hello!"}'`,
		"Follow": "curl -sN" + header + " '" + base + "/api/agent/stream?threadId=hello'",
		"List":   "curl -s" + header + " " + base + "/api/threads",
	})
	return page.Bytes()
}

// shownScheme returns the scheme of the commands on the page, and decides nothing.
func shownScheme(r *http.Request) string {
	if r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https") {
		return "https"
	}
	return "http"
}
