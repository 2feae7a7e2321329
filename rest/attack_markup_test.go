package rest_test

import (
	"context"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/spoolhq/spool/rest"
)

// What a program says of itself may come from elsewhere, and is text and no markup to the
// page that shows it.
func TestAttackMarkupInTheDocument(t *testing.T) {
	t.Parallel()

	const evil = `</title></script><script>alert(1)</script><img src=x onerror=alert(1)>"'&`
	api := quiet(rest.Title(evil), rest.About(evil), rest.Version(evil))
	api.Register(routes(func(r *rest.Routes) {
		rest.Get(r, "/a", handle(""), rest.Summary(evil), rest.Description(evil), rest.Tags(evil))
	}))
	for _, path := range []string{"/docs", "/docs/"} {
		w := recorded(api, requestOf(t, http.MethodGet, path))
		if w.Code != http.StatusOK || strings.Contains(w.Body.String(), "<script>alert") ||
			strings.Contains(w.Body.String(), "<img") {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
		policy := w.Header().Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "script-src 'self'") ||
			strings.Contains(policy, "unsafe") {
			t.Errorf("%s: the policy is %q", path, policy)
		}
	}
	w := recorded(api, requestOf(t, http.MethodGet, "/openapi.json"))
	if kind := w.Header().Get("Content-Type"); !strings.HasPrefix(kind, "application/vnd.oai.openapi+json") ||
		w.Header().Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("a browser may take the document for a page: %v", w.Header())
	}
	for _, path := range []string{
		"/docs/assets/%2e%2e/%2e%2e", "/docs/assets/x/..%2f..%2fdocsui.go", "/docs/assets/x/%2e%2e",
		"/docs/assets/x/init.js%00", "/docs/assets/x/",
	} {
		if w := recorded(api, requestOf(t, http.MethodGet, path)); w.Code < 300 {
			t.Errorf("%s: %d %.80s", path, w.Code, w.Body)
		}
	}
}

// A line break in what stands in a line of an event would begin another event.
func TestAttackLineBreaksInEvents(t *testing.T) {
	t.Parallel()

	type in struct {
		ID   string `query:"id"`
		Name string `query:"name"`
		Data string `query:"data"`
	}
	api := serve(func(r *rest.Routes) {
		rest.Get(r, "/events", func(_ context.Context, in in) (rest.Events[string], error) {
			one := rest.Event[string]{ID: in.ID, Name: in.Name, Data: in.Data}
			return rest.Events[string]{
				Items: iter.Seq2[rest.Event[string], error](func(yield func(rest.Event[string], error) bool) { yield(one, nil) }),
			}, nil
		})
	})
	for _, query := range []string{
		"id=1%0adata:%20evil", "id=1%0d%0aevent:%20evil", "name=a%0ddata:%20evil", "data=a%0a%0adata:%20evil%0a%0a",
		"data=a%0d%0did:%20evil",
	} {
		text := sent(api, requestOf(t, http.MethodGet, "/events?"+query))
		for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
			if strings.Contains(line, "evil") && !strings.HasPrefix(line, `data: "`) {
				t.Errorf("%s begins a line: %q", query, text)
			}
		}
	}
}

// sent is what came until the connection was cut, if it was.
func sent(h http.Handler, r *http.Request) (text string) {
	w := httptest.NewRecorder()
	defer func() {
		_ = recover() // which is how a connection is cut
		text = w.Body.String()
	}()
	h.ServeHTTP(w, r)
	return ""
}
