package rest_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/permission"
)

type rawIn struct {
	ID string `path:"id"`
}

type rawOut struct{ Body string }

// guardedAPI has a secret behind each kind of route, beside an open route of the same shape.
func guardedAPI(reached *bool) *rest.API {
	secret := func(ctx context.Context, _ byID) (string, error) { *reached = true; return "secret", ctx.Err() }
	api := quiet()
	api.Register(routes(func(r *rest.Routes) {
		rest.Get(r, "/mixed/{int:id}", secret, rest.Auth(bearer()), rest.Permit(permission.IsAuthenticated))
		rest.Get(r, "/mixed/{slug:id}", func(context.Context, rawIn) (string, error) { return "open", nil })
		rest.Post(r, "/typed/{int:id}", secret, rest.Auth(bearer()))
		rest.Get(r, "/typed/{int:id}", secret, rest.Auth(bearer()))
		rest.Get(r, "/typed/{int:id}/", secret, rest.Permit(deny))
		rest.Raw(r, []string{http.MethodGet, http.MethodPost}, "/plain/{id}", http.HandlerFunc(func(
			w http.ResponseWriter, _ *http.Request,
		) {
			*reached = true
			_, _ = w.Write([]byte("secret"))
		}), rest.Auth(bearer()))
		rest.Get(r, "/all/{path:id}", func(context.Context, rawIn) (string, error) { return "open", nil })
		rest.Get(r, "/all/hidden/{int:id}", secret, rest.Auth(bearer()))
	}))
	op := rest.Guard(api, huma.Operation{Method: http.MethodGet, Path: "/huma/{id}", OperationID: "huma"},
		rest.Auth(bearer()))
	huma.Register(api.Huma(), op, func(context.Context, *rawIn) (*rawOut, error) {
		*reached = true
		return &rawOut{"secret"}, nil
	})
	return api
}

// However a path or a method is written, nobody without a key gets to what is guarded.
func TestAttackGuardedRoutes(t *testing.T) {
	t.Parallel()

	headers := []http.Header{
		{},
		{"Authorization": {""}},
		{"Authorization": {"Bearer"}},
		{"Authorization": {"Bearer "}},
		{"Authorization": {"Bearer null"}},
		{"X-Http-Method-Override": {"GET"}, "X-Http-Method": {"GET"}, "X-Method-Override": {"GET"}},
		{
			"X-Original-Url": {"/all/x"}, "X-Rewrite-Url": {"/all/x"}, "X-Forwarded-For": {"127.0.0.1"},
			"X-Forwarded-User": {"ann"},
		},
		{"Authorization": {"Bearer ann-key, Bearer bob-key"}},
		{"Authorization": {"Basic Ym9iLWtleTo="}},
		{"Authorization": {"Bearer bob-key", "Bearer ann-key"}},
		{"Authorization": {"Bearer BOB-KEY"}},
		{"Authorization": {"Bearer bob-key\x00"}},
		{"Cookie": {"Authorization=Bearer bob-key"}},
	}
	paths := []string{
		"/mixed/1", "/mixed/%31", "/mixed/1/", "/mixed//1", "/mixed/./1", "/mixed/x/../1", "/mixed/1?_method=GET",
		"/mixed/-1", "/mixed/001", "/typed/1", "/typed/1/", "/typed/1//", "/typed/1/.", "//typed/1", "/typed/%31/",
		"/TYPED/1", "/typed/1%2f", "/typed%2f1", "/typed/1;a=b", "/typed/1%00", "/typed/1.json", "/plain/1", "/plain/1/",
		"/plain//1", "/plain/..%2fplain%2f1", "/plain/%2e%2e", "/huma/1", "/huma/1/", "/huma//1", "/huma/%31",
		"/all/hidden/1", "/all/hidden/1/", "/all//hidden/1", "/all/%68idden/1", "/all/x/../hidden/1",
		"/all/x/%2e%2e/hidden/1", "/all/hidden%2f1", "/all/HIDDEN/1",
	}
	methods := []string{
		http.MethodGet, http.MethodHead, http.MethodPost, http.MethodOptions, http.MethodPut, http.MethodPatch,
		http.MethodDelete, http.MethodTrace, http.MethodConnect, "get", "Get", "PROPFIND", "QUERY",
	}
	for _, header := range headers {
		reached := false
		api := guardedAPI(&reached)
		for _, path := range paths {
			for _, method := range methods {
				r := requestOf(t, method, path)
				r.Header = header
				if status, text := record(api, r); reached || strings.Contains(text, "secret") {
					t.Fatalf("%s %s %v: %d %s", method, path, header, status, text)
				}
			}
		}
	}
	reached := false
	for _, path := range []string{"/mixed/1", "/typed/1", "/plain/1", "/huma/1", "/all/hidden/1"} {
		r := requestOf(t, http.MethodGet, path)
		r.Header.Set("Authorization", "Bearer bob-key")
		if status, text := record(guardedAPI(&reached), r); !reached || !strings.Contains(text, "secret") {
			t.Errorf("%s with a key: %d %s", path, status, text)
		}
	}
}

// What is only a redirect never leads to another host, and has no characters of its own in
// the header.
func TestAttackRedirects(t *testing.T) {
	t.Parallel()

	reached := false
	api := guardedAPI(&reached)
	for _, path := range []string{
		"/plain/evil.example/", "//evil.example/", "//evil.example/plain/1/", "/plain/https:%2f%2fevil.example/",
		"/plain/%5cevil.example/", "/plain/%5c%5cevil.example/", "/plain/..%2f..%2fevil.example/",
		"/plain/a%0d%0aSet-Cookie:%20a=b/", "/plain//%0d%0aevil", "/plain/x/?a=%0d%0aevil", "/plain//x?next=//evil.example",
		"/plain/%2f%2fevil.example/", `/plain/\evil.example/`, "/plain/@evil.example/", "///plain/1/",
		"/plain/javascript:alert(1)/",
	} {
		w := recorded(api, requestOf(t, http.MethodGet, path))
		location := w.Header().Get("Location")
		if location == "" {
			continue
		}
		base := requestOf(t, http.MethodGet, path).URL
		base.Scheme, base.Host = "https", "shop.example"
		to, err := base.Parse(location)
		if err != nil || to.Host != "shop.example" || to.Scheme != "https" || strings.ContainsAny(location, "\r\n\\") {
			t.Errorf("%s leads to %q (%v, %v)", path, location, to, err)
		}
	}
}
