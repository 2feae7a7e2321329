package permission_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/auth"
	"github.com/spoolhq/spool/rest/permission"
)

// guarded is a controller with a route for each method, all with one permission.
type guarded struct{ permission rest.Permission }

func (g *guarded) Routes(r *rest.Routes) {
	r.Configure(rest.Permit(g.permission))
	all := []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}
	rest.Handle(r, all, "/thing", func(context.Context, struct{}) (string, error) { return "ok", nil })
}

var (
	plain  = &rest.User{ID: "bob"}
	admin  = &rest.User{ID: "ada", Admin: true}
	writer = &rest.User{ID: "eve", Scopes: []string{"books:read", "books:write"}}
)

func newAPI(c rest.Controller, options ...rest.APIOption) *rest.API {
	users := auth.Keys(map[string]*rest.User{"plain": plain, "admin": admin, "writer": writer})
	options = append(options, rest.Auth(auth.APIKeyHeader("X-Key", users), rest.Anonymous))
	api := rest.New(options...)
	api.Register(c)
	return api
}

func ask(api http.Handler, method, path, key string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	if key != "" {
		r.Header.Set("X-Key", key)
	}
	w := httptest.NewRecorder()
	api.ServeHTTP(w, r)
	return w
}

func TestRules(t *testing.T) {
	t.Parallel()

	// Nobody is answered 401 where a known caller is answered 403.
	const yes, unknown, no = http.StatusOK, http.StatusUnauthorized, http.StatusForbidden
	callers := []string{"", "plain", "admin", "writer"}
	for name, test := range map[string]struct {
		permission  rest.Permission
		read, write []int
	}{
		"AllowAny": {permission.AllowAny, []int{yes, yes, yes, yes}, []int{yes, yes, yes, yes}},
		"IsAuthenticated": {
			permission.IsAuthenticated, []int{unknown, yes, yes, yes}, []int{unknown, yes, yes, yes},
		},
		"IsAdmin": {permission.IsAdmin, []int{unknown, no, yes, no}, []int{unknown, no, yes, no}},
		"IsAuthenticatedOrReadOnly": {
			permission.IsAuthenticatedOrReadOnly,
			[]int{yes, yes, yes, yes},
			[]int{unknown, yes, yes, yes},
		},
		"IsAdminOrReadOnly":   {permission.IsAdminOrReadOnly, []int{yes, yes, yes, yes}, []int{unknown, no, yes, no}},
		"ReadOnly":            {permission.ReadOnly, []int{yes, yes, yes, yes}, []int{unknown, no, no, no}},
		"Scope":               {permission.Scope("books:write"), []int{unknown, no, no, yes}, []int{unknown, no, no, yes}},
		"the zero rule":       {permission.Rule(0), []int{unknown, no, no, no}, []int{unknown, no, no, no}},
		"a rule that is none": {permission.Rule(99), []int{unknown, no, no, no}, []int{unknown, no, no, no}},
		"If": {
			permission.If(func(ctx context.Context) bool { return rest.PrincipalOf(ctx) == rest.Principal(plain) }),
			[]int{unknown, yes, no, no},
			[]int{unknown, yes, no, no},
		},
		"Any in All": {
			permission.All(permission.IsAuthenticated, permission.Any(permission.ReadOnly, permission.IsAdmin)),
			[]int{unknown, yes, yes, yes},
			[]int{unknown, no, yes, no},
		},
		"Not": {permission.Not(permission.IsAdmin), []int{yes, yes, no, yes}, []int{yes, yes, no, yes}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := newAPI(&guarded{test.permission})
			for method, want := range map[string][]int{
				http.MethodGet: test.read, http.MethodHead: test.read, http.MethodPost: test.write,
				http.MethodPut: test.write, http.MethodPatch: test.write, http.MethodDelete: test.write,
			} {
				var got []int
				for _, caller := range callers {
					got = append(got, ask(api, method, "/thing", caller).Code)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s by %q (-want +got):\n%s", method, callers, diff)
				}
			}
		})
	}
}

func TestFaultsAreNotRefusals(t *testing.T) {
	t.Parallel()

	broken := permission.Func(func(context.Context) error { return errFault })
	hidden := permission.Func(func(context.Context) error { return rest.NotFound("") })
	for name, test := range map[string]struct {
		permission rest.Permission
		want       int
	}{
		"alone":          {broken, 500},
		"in any":         {permission.Any(broken, permission.AllowAny), 500},
		"in not":         {permission.Not(broken), 500},
		"in not of not":  {permission.Not(permission.Not(broken)), 500},
		"with a message": {permission.WithMessage(broken, "no"), 500},
		"a 404":          {hidden, 404},
		"a 404 in any":   {permission.Any(hidden, permission.AllowAny), 404},
		"a 404 in not":   {permission.Not(hidden), 404},
	} {
		if got := ask(newAPI(&guarded{test.permission}), http.MethodGet, "/thing", "plain").Code; got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}

func TestRefusalsOverHTTP(t *testing.T) {
	t.Parallel()

	type body struct {
		Code string `json:"code"`
		Why  string `json:"why"`
	}
	for name, test := range map[string]struct {
		permission rest.Permission
		want       string
	}{
		"the usual sentence": {
			permission.Not(permission.AllowAny), `{"detail":"You do not have permission to perform this action."}`,
		},
		"a rule's":  {permission.IsAdmin, `{"detail":"Only administrators may do this."}`},
		"a scope's": {permission.Scope("books:write"), `{"detail":"This needs the scope books:write."}`},
		"a message": {permission.WithMessage(permission.IsAdmin, "Ask Ada."), `{"detail":"Ask Ada."}`},
		"a body":    {permission.WithBody(permission.IsAdmin, body{"E1", "ask Ada"}), `{"code":"E1","why":"ask Ada"}`},
		"the first of all": {
			permission.All(permission.IsAuthenticated, permission.IsAdmin, permission.Scope("x")),
			`{"detail":"Only administrators may do this."}`,
		},
		"the last of any": {
			permission.Any(permission.IsAdmin, permission.Scope("x")), `{"detail":"This needs the scope x."}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := ask(newAPI(&guarded{test.permission}, rest.Errors(rest.DetailErrors)), http.MethodGet, "/thing", "plain")
			if w.Code != http.StatusForbidden {
				t.Errorf("status %d, want 403", w.Code)
			}
			if got := strings.TrimSpace(w.Body.String()); got != test.want || !json.Valid([]byte(got)) {
				t.Errorf("body %s, want %s", got, test.want)
			}
		})
	}
}
