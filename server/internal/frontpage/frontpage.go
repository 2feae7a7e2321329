// Package frontpage is the page at the root of the server: the console, or a page that links to the docs, the
// document and the probes.
package frontpage

import (
	"bytes"
	"cmp"
	"context"
	_ "embed" // the page
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/internal/auth"
	"github.com/spoolhq/spool/server/internal/page"
	"github.com/spoolhq/spool/server/probe"
)

// Fact is something about a server that a person wants to know, such as which models it has.
type Fact struct{ Name, Text string }

var (
	//go:embed frontpage.html
	pageHTML string
	//go:embed frontpage.css
	pageCSS string

	links = page.Must(pageHTML, pageCSS, page.Options{Icon: true})
)

// link leads from the page to another.
type link struct{ Title, Text, Href string }

// Controller has the endpoint. All fields are required but PublicURL, BasePath, Facts and Console.
type Controller struct {
	Auth                *auth.Auth
	PublicURL, BasePath string
	Facts               []Fact
	Console             http.Handler
}

// Show answers GET on the path above all others: the console, or a page, for a browser, JSON for others. Page and
// JSON lead to the docs, the document and the probes. Only callers with the scope admin see the facts.
//
// It is not in the document, nor are the document itself and the docs: they are the way to it, and a
// client that was generated of it has no use for them.
func (c Controller) Show(ctx context.Context, _ struct{}) (Page, error) {
	if c.Console != nil && wantsHTML(rest.RequestOf(ctx)) {
		return Page{c, nil}, nil // it is the same for all
	}
	if operates, err := c.Auth.Operates(rest.RequestOf(ctx)); err != nil || !operates {
		return Page{c, nil}, err
	}
	return Page{c, c.Facts}, nil
}

// Page is the page, or its JSON.
type Page struct {
	of    Controller
	facts []Fact
}

// Respond implements [rest.Responder].
func (p Page) Respond(w http.ResponseWriter, r *http.Request) error {
	h := w.Header()
	h.Add("Vary", "Accept")
	if p.of.Console != nil && wantsHTML(r) {
		p.of.showConsole(w, r)
		return nil
	}
	if wantsHTML(r) {
		links.Write(w, http.StatusOK, p.html(r))
		return nil
	}
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Type", "application/json")
	body := p.json()
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
	return nil
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

func (p Page) json() []byte {
	at := p.of.PublicURL + p.of.BasePath
	byName := make(map[string]string, len(p.facts))
	for _, f := range p.facts {
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
	}{
		"Spool", at + "/docs", at + "/openapi.json", at + probe.PathHealth, at + probe.PathReady, at + "/api/threads", byName,
	})
	return text.Bytes()
}

// html returns what the page shows. Its links are relative, so that they lead somewhere too where a proxy
// puts something before the path.
func (p Page) html(r *http.Request) map[string]any {
	dir := "./"
	if !strings.HasSuffix(r.URL.Path, "/") {
		dir += r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:] + "/"
	}
	base, header := cmp.Or(p.of.PublicURL, shownScheme(r)+"://"+r.Host)+p.of.BasePath, ""
	if p.of.Auth.Everybody == nil {
		header = ` -H "Authorization: Bearer $SPOOL_TOKEN"`
	}
	return map[string]any{
		"Facts": p.facts, "Token": p.of.Auth.Everybody == nil, "Threads": dir + "api/threads",
		"Links": []link{
			{"Docs", "Every endpoint, to read and to try", dir + "docs"},
			{"OpenAPI", "The document, for client generators", dir + "openapi.json"},
			{"Health", "Is the process up?", dir + strings.TrimPrefix(probe.PathHealth, "/")},
			{"Readiness", "May requests come?", dir + strings.TrimPrefix(probe.PathReady, "/")},
		},
		"Start": "curl -s" + header + " " + base +
			`/api/agent/run -H 'Content-Type: application/json' -d '{"threadId":"hello","prompt":"Hello!"}'`,
		"Follow": "curl -sN" + header + " '" + base + "/api/agent/stream?threadId=hello'",
		"List":   "curl -s" + header + " " + base + "/api/threads",
	}
}

// shownScheme returns the scheme of the commands on the page, and decides nothing.
func shownScheme(r *http.Request) string {
	if r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https") {
		return "https"
	}
	return "http"
}
