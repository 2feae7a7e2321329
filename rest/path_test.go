package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/spoolhq/spool/rest"
)

// A literal that no request could ask for refuses to register, and the message says what one
// may hold.
func TestLiteralsThatRefuse(t *testing.T) {
	t.Parallel()

	for path, want := range map[string]string{
		"/a%2Fb":       `path "/a%2Fb": segment "a%2Fb": it has a %, which begins an escape: write the characters as they are`,
		"/a%20b":       "write the characters as they are",
		"/100%":        "it has a %",
		"/../x":        `path "/../x": segment "..": it is a step in the path`,
		"/a/./b":       `segment ".": it is a step in the path`,
		"/a/..":        "dots inside a segment are fine",
		"/.":           "it is a step in the path",
		"/books?a=1":   "it has a ? or #",
		"/books#top":   "it has a ? or #",
		"/a\nb":        "it has a control character",
		"/a\x00b":      "it has a control character",
		"/a\xffb":      "it has a control character or is no UTF-8",
		"/{id}/../a":   "it is a step in the path",
		"/{path:x}/..": "it is a step in the path",
	} {
		for way, register := range map[string]func(){
			"path": func() { serve(func(r *rest.Routes) { rest.Get(r, path, handle("")) }) },
			"prefix": func() {
				quiet().Register(routes(func(r *rest.Routes) { rest.Get(r, "/", handle("")) }), rest.Prefix(path))
			},
			"raw": func() { serve(func(r *rest.Routes) { rest.Raw(r, []string{"GET"}, path, http.NotFoundHandler()) }) },
		} {
			if text := mustPanic(t, register); !strings.Contains(text, want) ||
				!strings.HasPrefix(text, "rest: rest_test.routes: GET ") {
				t.Errorf("%s %q: %q is without %q", way, path, text, want)
			}
		}
	}
}

// Literals are asked for as they are written, escaped where an address has to be, and links
// have them so.
func TestLiterals(t *testing.T) {
	t.Parallel()

	for path, want := range map[string]string{
		"/openapi.yml":          "/openapi.yml",
		"/v1.2/x":               "/v1.2/x",
		"/.well-known/x":        "/.well-known/x",
		"/...":                  "/...",
		"/a..b/..c":             "/a..b/..c",
		"/~a/@b/$c/!d/(e)/f;g":  "/~a/@b/$c/!d/(e)/f;g",
		"/a:b/a+b/a,b/a=b/a&b*": "/a:b/a+b/a,b/a=b/a&b*",
		"/bücher":               "/b%C3%BCcher",
		"/a b":                  "/a%20b",
	} {
		api := quiet()
		api.Register(routes(func(r *rest.Routes) { rest.Get(r, path, handle("here"), rest.Name("it")) }), rest.Namespace(""))
		link, err := api.Reverse("it")
		if link != want || err != nil {
			t.Errorf("%q is linked as %q (%v), want %q", path, link, err, want)
			continue
		}
		if status, text := get(t, api, link); status != http.StatusOK || text != `"here"` {
			t.Errorf("%q: got %d %s", link, status, text)
		}
		if at(document(t, api), "paths", path) == nil {
			t.Errorf("the document is without %q", path)
		}
	}
}
