package rest_test

import (
	"context"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/spoolhq/spool/rest"
)

// chart is a responder that says what it is.
type chart struct{}

func (chart) Respond(w http.ResponseWriter, _ *http.Request) error {
	_, err := w.Write([]byte("<svg/>"))
	return err
}

func (chart) Document() (contentType string, body reflect.Type) { return "image/svg+xml", nil }

func TestDescriptions(t *testing.T) {
	t.Parallel()

	api := rest.New()
	api.Register(routes(func(r *rest.Routes) {
		rest.Get(r, "/chart", func(context.Context, struct{}) (chart, error) { return chart{}, nil },
			rest.Status(200, "The chart."), rest.Returns[error](409, "It is being drawn."))
	}))
	d := document(t, api)
	for status, want := range map[string]string{
		"200": "The chart.", "409": "It is being drawn.", "500": "Internal Server Error",
	} {
		wantDiff(t, status, any(want), at(d, "paths", "/chart", "get", "responses", status, "description"))
	}
	wantDiff(t, "content", any("binary"),
		at(d, "paths", "/chart", "get", "responses", "200", "content", "image/svg+xml", "schema", "format"))
}

func TestStrictSlashes(t *testing.T) {
	t.Parallel()

	api := rest.New(rest.StrictSlashes())
	api.Register(routes(func(r *rest.Routes) { rest.Get(r, "/books", handle("books")) }))
	wantStatus(t, api, http.MethodGet, "/books", http.StatusOK)
	wantStatus(t, api, http.MethodGet, "/books/", http.StatusNotFound)
}

func TestReverseOfAnAmbiguousName(t *testing.T) {
	t.Parallel()

	api := rest.New()
	api.Register(routes(func(r *rest.Routes) {
		rest.Get(r, "/a", handle("a"), rest.Name("same"))
		rest.Get(r, "/b", handle("b"), rest.Name("same"))
	}), rest.Namespace("Twice"))
	if at, err := api.Reverse("Twice.same"); err == nil {
		t.Errorf("got %s", at)
	}
}

func TestProduces(t *testing.T) {
	t.Parallel()

	stream := func(context.Context, struct{}) (*rest.Stream, error) { return &rest.Stream{}, nil }
	api := rest.New(rest.AboutTags(map[string]string{"all": "Everything.", "nothing": "No route has it."}))
	api.Register(routes(func(r *rest.Routes) {
		rest.Get(r, "/export", stream, rest.Produces("text/csv", "text/plain"), rest.Tags("exports"))
		rest.Raw(r, []string{http.MethodGet}, "/raw", http.NotFoundHandler(), rest.Produces("text/html"), rest.Tags("all"))
	}))
	d := document(t, api)
	for _, want := range [][2]string{{"/export", "text/csv"}, {"/export", "text/plain"}, {"/raw", "text/html"}} {
		if at(d, "paths", want[0], "get", "responses", "200", "content", want[1]) == nil {
			t.Errorf("%s does not say %s", want[0], want[1])
		}
	}
	wantDiff(t, "tags", any([]any{
		map[string]any{"name": "exports"},
		map[string]any{"name": "all", "description": "Everything."},
	}), d["tags"])

	wantDiff(t, "servers", any([]any{map[string]any{"url": "/"}}), d["servers"])
	based := document(t, rest.New(rest.BaseURL("https://shop.example")))
	wantDiff(t, "servers of a base URL", any([]any{map[string]any{"url": "https://shop.example"}}), based["servers"])

	text := mustPanic(t, func() {
		rest.New().Register(routes(func(r *rest.Routes) { rest.Get(r, "/x", handle("x"), rest.Produces("text/csv")) }))
	})
	if !strings.Contains(text, "rest.Produces is for answers that write themselves") {
		t.Errorf("got %q", text)
	}
}
