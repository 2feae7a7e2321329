package rest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/fstest"

	"github.com/spoolhq/spool/rest"
)

// An escaped slash leads to no file that a route of its own guards.
func TestAttackEscapedSlashes(t *testing.T) {
	t.Parallel()

	files := fstest.MapFS{
		"a.txt":            {Data: []byte("open")},
		"b/c.txt":          {Data: []byte("open")},
		"admin/secret.txt": {Data: []byte("secret")},
	}
	type named struct {
		Name string `path:"name"`
	}
	open := func(_ context.Context, in named) (*rest.File, error) { return rest.OpenFile(files, in.Name) }
	secret := func(_ context.Context, in named) (*rest.File, error) { return rest.OpenFile(files, "admin/"+in.Name) }
	api := quiet()
	api.Register(routes(func(r *rest.Routes) {
		rest.Get(r, "/files/{path:name}", open)
		rest.Get(r, "/files/admin/{path:name}", secret, rest.Auth(bearer()))
		rest.Get(r, "/flat/{name}", open)
		rest.Get(r, "/flat/admin/{name}", secret, rest.Auth(bearer()))
		rest.Get(r, "/alone/{name}", open)
	}))
	for path, want := range map[string]int{
		"/files/a.txt":                     200,
		"/files/b/c.txt":                   200,
		"/files/b%2Fc.txt":                 200,
		"/files/admin/secret.txt":          401,
		"/files/admin%2Fsecret.txt":        404,
		"/files/admin%2fsecret.txt":        404,
		"/files/%61dmin%2Fsecret.txt":      404,
		"/files/admin%2F..%2Fa.txt":        404,
		"/files/admin%252Fsecret.txt":      404,
		"/files/b%2F..%2Fadmin/secret.txt": 404,
		"/flat/a.txt":                      200,
		"/flat/b%2Fc.txt":                  200,
		"/flat/admin/secret.txt":           401,
		"/flat/admin%2Fsecret.txt":         404,
		"/alone/admin%2Fsecret.txt":        200,
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		w := httptest.NewRecorder()
		api.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%s: %d %s, want %d", path, w.Code, w.Body, want)
		}
	}
}
