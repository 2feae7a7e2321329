package throttle_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/throttle"
)

type Search struct{}

func (s Search) Routes(r *rest.Routes) {
	// Of the controller: each caller, on all routes together.
	r.Configure(rest.Throttles(throttle.PerClient("100/min")))
	rest.Get(r, "/search", s.search, rest.Throttles(throttle.Scoped("search", "2/min"))) // instead of the controller's
	rest.Get(r, "/health", s.health, rest.Throttles())                                   // none
}

func (Search) search(context.Context, struct{}) (string, error) { return "found", nil }

func (Search) health(context.Context, struct{}) (string, error) { return "fine", nil }

// A controller with a limit of its own for the route that costs most.
func Example() {
	api := rest.New()
	api.Register(Search{})
	for _, path := range []string{"/search", "/search", "/search", "/health"} {
		w := httptest.NewRecorder()
		api.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		fmt.Println(path, w.Code, w.Header().Get("Ratelimit-Policy"))
	}
	// Output:
	// /search 200 "search";q=2;w=60
	// /search 200 "search";q=2;w=60
	// /search 429 "search";q=2;w=60
	// /health 200
}
