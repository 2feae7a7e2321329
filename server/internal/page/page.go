// Package page makes the HTML pages that the server shows to people. A page has a style sheet of its own and runs no
// script, nothing may put it into a frame, and no cache keeps it.
package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"net/http"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// Template is a page without its data. It is safe for concurrent use.
type Template struct {
	html   *template.Template
	style  template.CSS
	policy string
}

// Options say what a page may do besides showing its style sheet.
type Options struct {
	// Forms allows it to send forms to the server.
	Forms bool
	// Icon allows it an icon in a data URL.
	Icon bool
}

// Must returns a page of a template, which has its style sheet as .Style. It panics if the template cannot be parsed.
func Must(html, css string, o Options) *Template {
	sum := sha256.Sum256([]byte(css))
	policy := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; "
	if o.Icon {
		policy += "img-src data:; "
	}
	form := "'none'"
	if o.Forms {
		form = "'self'"
	}
	return &Template{
		html:   template.Must(template.New("page").Parse(html)),
		style:  template.CSS(css), //nolint:gosec // it is ours
		policy: policy + "base-uri 'none'; form-action " + form + "; frame-ancestors 'none'",
	}
}

// Write answers with the page. It adds the style sheet to data.
func (t *Template) Write(w http.ResponseWriter, status int, data map[string]any) {
	data["Style"] = t.style
	var body bytes.Buffer
	_ = t.html.Execute(&body, data) // a buffer takes it all
	h := w.Header()
	Private(h)
	h.Set("Content-Security-Policy", t.policy)
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(body.Len()))
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes())
}

// Private keeps an answer, and where the browser has been, from others.
func Private(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
}

// Sentence returns the message of an error as a sentence for a person.
func Sentence(message string) string {
	first, size := utf8.DecodeRuneInString(message)
	if size == 0 {
		return "Something went wrong."
	}
	query := message[size:]
	if len(query) > 0 && query[len(query)-1] == '.' {
		query = query[:len(query)-1]
	}
	return string(unicode.ToUpper(first)) + query + "."
}
