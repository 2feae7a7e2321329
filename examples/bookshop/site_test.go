package main

import (
	"net/http"
	"strings"
	"testing"
)

func TestPagesOfTheSite(t *testing.T) {
	t.Parallel()

	v := open(t)
	terms := v.get("/pages/legal/terms.txt").expect(http.StatusOK)
	if !strings.HasPrefix(string(terms.body), "Books that are on the shelf") ||
		!strings.HasPrefix(terms.header.Get("Content-Type"), "text/plain") {
		t.Errorf("%s: %s", terms.header.Get("Content-Type"), terms.body)
	}
	for _, path := range []string{
		"/pages/none.txt", "/pages/legal", "/pages/%2e%2e/shop.go", "/pages/legal/..%2f..%2f..%2fshop.go",
	} {
		v.get(path).expect(http.StatusNotFound)
	}
}

func TestOperators(t *testing.T) {
	t.Parallel()

	v := open(t)
	if got := v.get("/health").expect(http.StatusOK); string(got.body) != "ok\n" {
		t.Errorf("health %q", got.body)
	}
	refused := v.get("/metrics").expect(http.StatusUnauthorized)
	if challenge := refused.header.Get("WWW-Authenticate"); !strings.HasPrefix(challenge, `Basic realm="metrics"`) {
		t.Errorf("challenge %q", challenge)
	}
	metrics := v.with("Authorization", "Basic b3BzOmRlbW8=").get("/metrics").expect(http.StatusOK)
	if !strings.Contains(string(metrics.body), "bookshop_books 13\n") {
		t.Errorf("metrics %q", metrics.body)
	}
	v.with("Authorization", "Basic b3BzOmRlbW9v").get("/metrics").expect(http.StatusUnauthorized)
}

// TestDebugIsNotImported shows a controller on the list that opted out of being imported.
func TestDebugIsNotImported(t *testing.T) {
	t.Parallel()

	open(t).get("/debug/routes").expect(http.StatusNotFound)
	v := open(t, func(c *config) { c.Debug = true })
	routes := map[string]string{}
	for _, r := range decode[[]RouteLine](v.get("/debug/routes").expect(http.StatusOK)) {
		routes[r.Name] = r.Path
	}
	for name, path := range map[string]string{
		"Books.list": "/books", "Orders.cancel": "/orders/{id}/cancel", "Bargains.size": "/shelves/bargains/size",
		"Debug.routes": "/debug/routes",
	} {
		if routes[name] != path {
			t.Errorf("the path of %s is %q, want %q", name, routes[name], path)
		}
	}
	if strings.Contains(string(v.get("/openapi.json").expect(http.StatusOK).body), "/debug/routes") {
		t.Error("a hidden route is in the document")
	}
}
