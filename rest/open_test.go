package rest_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/permission"
	"github.com/spoolhq/spool/rest/query"
)

// An empty list of permissions or authenticators opens nothing by accident: what opens says
// so.
func TestNothingOpensByAccident(t *testing.T) {
	t.Parallel()

	var (
		permissions    []rest.Permission
		authenticators []rest.Authenticator
	)
	for want, f := range map[string]func(){
		"rest.Open()":   func() { rest.Permit(permissions...) },
		"rest.NoAuth()": func() { rest.Auth(authenticators...) },
	} {
		if text := mustPanic(t, f); !strings.Contains(text, want) {
			t.Errorf("got %q", text)
		}
	}
	api := serve(func(r *rest.Routes) {
		rest.Get(r, "/open", handle("open"), rest.Open())
		rest.Get(r, "/closed", handle("closed"))
	}, rest.Permit(deny))
	wantStatus(t, api, http.MethodGet, "/open", http.StatusOK)
	wantStatus(t, api, http.MethodGet, "/closed", http.StatusForbidden)
	if at(document(t, api), "paths", "/open", "get", "responses", "403") != nil {
		t.Error("a 403 of an open route is documented")
	}
}

// An object permission on a list that nothing narrows is told once, when it is registered.
func TestUnnarrowedListWarns(t *testing.T) {
	t.Parallel()

	books := func(context.Context, struct{}) ([]book, error) { return nil, nil }
	owner := permission.Owner(func(b *book) string { return b.Owner })
	scope := permission.ListScope[book](func(context.Context) query.Expr { return nil })
	for name, c := range map[string]struct {
		permissions []rest.Permission
		warns       bool
	}{
		"object":          {[]rest.Permission{owner}, true},
		"in a tree":       {[]rest.Permission{permission.Any(permission.IsAdmin, owner)}, true},
		"with a scope":    {[]rest.Permission{owner, scope}, false},
		"a scope in it":   {[]rest.Permission{permission.Any(permission.IsAdmin, permission.All(owner, scope))}, false},
		"of another type": {[]rest.Permission{permission.Owner(func(d *draft) string { return d.Text })}, false},
		"none":            {[]rest.Permission{permission.IsAdmin}, false},
	} {
		log := &memory{}
		api := rest.New(rest.Logger(log.logger()))
		api.Register(routes(func(r *rest.Routes) {
			r.Configure(rest.Prefix("/books"), rest.Permit(c.permissions...))
			rest.List(r, "/", books, rest.Name("list"))
			rest.Get(r, "/{int:id}", routeOf)
			rest.List(r, "/open", books, rest.Open(), rest.Name("open"))
		}))
		get(t, api, "/books")
		get(t, api, "/books")
		text := log.String()
		told := strings.Count(text, "permission.ListScope[rest_test.book]") == 1 &&
			strings.Contains(text, "route=Routes.list") && strings.Contains(text, "path=/books")
		if told != c.warns || strings.Contains(text, "WARN") != c.warns {
			t.Errorf("%s: the log has %s", name, text)
		}
	}
}
