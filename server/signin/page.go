package signin

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed" // the page
	"encoding/base64"
	"encoding/json"
	"errors"
	"html/template"
	"maps"
	"net/http"
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/internal/call"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string

	pageTemplate = template.Must(template.New("page").Parse(pageHTML))
)

// policy allows the page its own style sheet and nothing else.
var policy = func() string {
	sum := sha256.Sum256([]byte(pageCSS))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}()

// Page is what a browser gets: a page for a person, or the way to the authorization server.
type Page struct {
	status int
	header http.Header
	// cookie and to are for a redirect.
	cookie      *http.Cookie
	to          string
	title, text string
}

func signedIn(server string) Page {
	return Page{status: http.StatusOK, title: "You are signed in to " + server, text: "Go back and approve. You can close this page."}
}

// failed returns a page that says what went wrong, without its cause, which is logged.
func (c Controller) failed(ctx context.Context, err error) Page {
	e, ok := errors.AsType[*rest.Error](err)
	if !ok {
		e = call.MapError(err)
	}
	p := Page{status: e.Status, header: e.Header, title: "You are not signed in", text: sentence(e.Detail)}
	switch {
	case e.Status >= http.StatusInternalServerError && ctx.Err() == nil:
		c.Log.WarnContext(ctx, "a sign-in failed", "error", err, "cause", errors.Unwrap(err))
	case e.Status == http.StatusUnauthorized:
		p.text = "This link does not know who you are. Open it in the application that has shown it to you."
	}
	return p
}

// sentence returns the message of an error as a sentence.
func sentence(message string) string {
	first, size := utf8.DecodeRuneInString(message)
	if size == 0 {
		return "Something went wrong."
	}
	return string(unicode.ToUpper(first)) + message[size:] + "."
}

// Respond implements [rest.Responder].
func (p Page) Respond(w http.ResponseWriter, _ *http.Request) error {
	h := w.Header()
	maps.Copy(h, p.header)
	if p.to != "" {
		private(h)
		http.SetCookie(w, p.cookie)
		h.Set("Location", p.to)
		w.WriteHeader(p.status)
		return nil
	}
	Show(w, p.status, p.title, p.text)
	return nil
}

// Show answers with a page for a person, which runs nothing and is in no cache.
func Show(w http.ResponseWriter, status int, title, text string) {
	var body bytes.Buffer
	_ = pageTemplate.Execute(&body, map[string]any{ // a buffer takes it all
		"Style": template.CSS(pageCSS), //nolint:gosec // it is ours
		"Title": title, "Text": text,
	})
	h := w.Header()
	private(h)
	h.Set("Content-Security-Policy", policy)
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(body.Len()))
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes())
}

// private keeps an answer, and where the browser has been, from others.
func private(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
}

// Document is the client id metadata document.
type Document struct{ text json.RawMessage }

// Respond implements [rest.Responder].
func (d Document) Respond(w http.ResponseWriter, _ *http.Request) error {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Length", strconv.Itoa(len(d.text)))
	_, _ = w.Write(d.text)
	return nil
}
