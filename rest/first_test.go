package rest_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/permission"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/throttle"
)

func TestThrottlesFirstBoundGuessing(t *testing.T) {
	t.Parallel()

	api := quiet(rest.Auth(bearer()), rest.ThrottlesFirst(throttle.PerClient("2/min")))
	api.Register(routes(func(r *rest.Routes) {
		rest.Get(r, "/guarded", handle("x"))
		rest.Get(r, "/free", handle("x"), rest.ThrottlesFirst())
	}))
	for _, want := range []int{http.StatusUnauthorized, http.StatusUnauthorized, http.StatusTooManyRequests} {
		wantStatus(t, api, http.MethodGet, "/guarded", want)
	}
	wantStatus(t, api, http.MethodGet, "/free", http.StatusUnauthorized)
	if at(document(t, api), "paths", "/guarded", "get", "responses", "429") == nil {
		t.Error("the 429 is not documented")
	}
}

// rack is inherited by one that has a path of its own for the same requests.
type rack struct{}

func (rack) Routes(r *rest.Routes) {
	rest.Get(r, "/{int:id}", func(context.Context, byID) (string, error) { return "inherited", nil })
	rest.Get(r, "/{int:id}/pages", func(context.Context, byID) (string, error) { return "pages", nil })
}

type ownRack struct{}

func (ownRack) Routes(r *rest.Routes) {
	r.Inherit(rack{})
	rest.Get(r, "/{s}", named("own", func(in slug) string { return in.S }))
}

func TestAWiderPathOverridesAnInheritedOne(t *testing.T) {
	t.Parallel()

	api := rest.New()
	api.Register(ownRack{})
	for path, want := range map[string]string{"/7": `"own 7"`, "/x": `"own x"`, "/7/pages": `"pages"`} {
		_, text := get(t, api, path)
		wantDiff(t, path, want, text)
	}
}

func TestAScopeOfOtherListsRefusesToRegister(t *testing.T) {
	t.Parallel()

	others := permission.ListScope[newBook](func(context.Context) query.Expr { return query.Or() })
	text := mustPanic(t, func() {
		rest.New().Register(routes(func(r *rest.Routes) {
			rest.List(r, "/", func(context.Context, struct{}) ([]slug, error) { return nil, nil }, rest.Permit(others))
		}))
	})
	if !strings.Contains(text, "none of them those of rest_test.slug") {
		t.Errorf("got %q", text)
	}
	rest.New().Register(routes(func(r *rest.Routes) {
		rest.List(r, "/", func(context.Context, struct{}) ([]newBook, error) { return nil, nil },
			rest.Permit(permission.All(permission.AllowAny, others)))
	}))
}
