package signin

import (
	"context"
	_ "embed" // the page
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"strconv"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/server/internal/page"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string

	messagePage = page.Must(pageHTML, pageCSS, page.Options{})
)

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
	return Page{
		status: http.StatusOK, title: "You are signed in to " + server, text: "Go back and approve. You can close this page.",
	}
}

// failed returns a page that says what went wrong, without its cause, which is logged.
func (c Controller) failed(ctx context.Context, err error) Page {
	e, ok := errors.AsType[*rest.Error](err)
	if !ok {
		e = call.MapError(err)
	}
	p := Page{status: e.Status, header: e.Header, title: "You are not signed in", text: page.Sentence(e.Detail)}
	switch {
	case e.Status >= http.StatusInternalServerError && ctx.Err() == nil:
		c.Log.WarnContext(ctx, "a sign-in failed", "error", err, "cause", errors.Unwrap(err))
	case e.Status == http.StatusUnauthorized:
		p.text = "This link does not know who you are. Open it in the application that has shown it to you."
	}
	return p
}

// Respond implements [rest.Responder].
func (p Page) Respond(w http.ResponseWriter, _ *http.Request) error {
	h := w.Header()
	maps.Copy(h, p.header)
	if p.to != "" {
		page.Private(h)
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
	messagePage.Write(w, status, map[string]any{"Title": title, "Text": text})
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
