package rest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/permission"
)

// discard is a connection that takes all and needs nothing.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
func (*discard) WriteHeader(int)               {}

// allocations counts what one request allocates.
func allocations(t *testing.T, api http.Handler, path string) float64 {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	w := &discard{header: http.Header{}}
	api.ServeHTTP(w, r) // builds what is built once
	return testing.AllocsPerRun(200, func() {
		clear(w.header)
		api.ServeHTTP(w, r)
	})
}

// leastOf returns the least of ten counts: the race detector drops at random what is pooled.
func leastOf(count func() float64) float64 {
	least := count()
	for range 9 {
		least = min(least, count())
	}
	return least
}

func TestAllocations(t *testing.T) { //nolint:paralleltest // what others allocate would be counted
	known := finding{"known", func() (rest.Principal, error) { return ann, nil }}
	api := serve(func(r *rest.Routes) {
		rest.Get(r, "/plain/{int:id}", func(context.Context, byID) (*book, error) { return &shared, nil })
		rest.Get(r, "/query/{id}", func(context.Context, struct {
			ID    int64  `path:"id"`
			Lang  string `query:"lang"  default:"en"`
			Limit *int   `query:"limit"`
		},
		) (*book, error) {
			return &shared, nil
		})
		rest.Get(r, "/auth/{int:id}", func(context.Context, byID) (*book, error) { return &shared, nil }, rest.Auth(known))
		rest.Get(r, "/allowed/{int:id}", func(context.Context, byID) (*book, error) { return &shared, nil }, rest.Auth(known),
			rest.Permit(permission.IsAuthenticated,
				permission.All(permission.IsAdmin, permission.Any(permission.Scope("x"), permission.IsAdmin))))
		rest.List(r, "/list", func(context.Context, struct{}) ([]book, error) { return manyBooks, nil },
			page.Number(page.Size(50)))
	})
	counts := map[string]float64{}
	for path, most := range map[string]float64{
		"/plain/7":                 2, // 1 without the race detector, which drops what is pooled
		"/query/7?lang=de&limit=5": 3,
		"/auth/7":                  2,
		"/allowed/7":               2,
		"/list?page=1":             17, // whatever the length of the page; 13 without the race detector
	} {
		counts[path] = leastOf(func() float64 { return allocations(t, api, path) })
		if counts[path] > most {
			t.Errorf("%s: %v allocations, at most %v are wanted", path, counts[path], most)
		}
	}
	if counts["/allowed/7"] != counts["/auth/7"] {
		t.Errorf("permissions allocate: %v instead of %v", counts["/allowed/7"], counts["/auth/7"])
	}
	t.Logf("allocations: %v", counts)
}

var (
	ann       = &rest.User{ID: "ann", Admin: true}
	shared    = book{1, "Emma", 2.5, "ann"}
	manyBooks = make([]book, 1000)
)
