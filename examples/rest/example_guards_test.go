package main_test

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strings"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/auth"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/permission"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/throttle"
)

var users = auth.Keys(map[string]*rest.User{
	"ada's key": {ID: "ada"},
	"bob's key": {ID: "bob", Admin: true},
})

func who(ctx context.Context, _ struct{}) (string, error) {
	if p := rest.PrincipalOf(ctx); p != nil {
		return p.PrincipalID(), nil
	}
	return "nobody", nil
}

func Example_guards() {
	key := auth.APIKeyHeader("X-Key", users)
	api := rest.New(silent(), rest.Auth(key, rest.Anonymous), rest.Permit(permission.IsAdmin))
	api.Register(routes(func(r *rest.Routes) {
		rest.Get(r, "/inherits", who)
		rest.Get(r, "/members", who, rest.Permit(permission.IsAuthenticated))
		rest.Get(r, "/open", who, rest.Open())
		rest.Get(r, "/public", who, rest.NoAuth(), rest.Open())
	}))
	for _, target := range []string{"/inherits", "/members", "/open", "/public"} {
		fmt.Print(target)
		for _, k := range []string{"", "wrong", "ada's key", "bob's key"} {
			fmt.Print(" ", send(api, get(target, k)).Code)
		}
		fmt.Println()
	}
	w := send(api, get("/members", "wrong"))
	fmt.Println(w.Header().Get("WWW-Authenticate"))

	// Output:
	// /inherits 401 401 403 200
	// /members 401 401 200 200
	// /open 200 401 200 200
	// /public 200 200 200 200
	// ApiKey realm="api", in="header", name="X-Key"
}

func Example_objects() {
	own := permission.Any(permission.IsAdmin, permission.Owner(func(b Book) string { return b.Author }))
	mine := permission.ListScope[Book](func(ctx context.Context) query.Expr {
		return query.Where("author", rest.PrincipalOf(ctx).PrincipalID())
	})
	written := []Book{{1, "Notes", "ada", 3}, {2, "Letters", "bob", 4}}
	api := rest.New(silent(), rest.Auth(auth.APIKeyHeader("X-Key", users)))
	api.Register(routes(func(r *rest.Routes) {
		rest.List(r, "/books", func(context.Context, struct{}) ([]Book, error) { return written, nil },
			page.None(), rest.Permit(permission.Any(permission.IsAdmin, mine)))
		rest.Get(r, "/books/{int:id}", func(ctx context.Context, in byID) (Book, error) {
			return rest.GetOrNotFound(ctx, func(context.Context, int64) (Book, error) { return written[in.ID-1], nil }, in.ID)
		}, rest.Permit(own))
	}))
	for _, k := range []string{"ada's key", "bob's key"} {
		show(api, get("/books", k))
		fmt.Println(send(api, get("/books/1", k)).Code, send(api, get("/books/2", k)).Code)
	}

	// Output:
	// 200 [{"id":1,"title":"Notes","author":"ada","price":3}]
	// 200 403
	// 200 [{"id":1,"title":"Notes","author":"ada","price":3},{"id":2,"title":"Letters","author":"bob","price":4}]
	// 200 200
}

func Example_throttles() {
	api := rest.New(silent(), rest.TrustedProxies(netip.MustParsePrefix("192.0.2.0/24")))
	api.Register(routes(func(r *rest.Routes) {
		rest.Get(r, "/search", func(ctx context.Context, _ struct{}) (string, error) {
			return rest.ClientIP(ctx).String(), nil
		},
			rest.Throttles(throttle.PerClient("2/min"), throttle.Global("100/min")))
	}))
	for _, forwarded := range []string{
		"198.51.100.7", "198.51.100.7", "198.51.100.7", "203.0.113.9, 198.51.100.7", "203.0.113.9",
	} {
		w := send(api, request{
			method: http.MethodGet, target: "/search", header: map[string]string{"X-Forwarded-For": forwarded},
		})
		address, _, _ := strings.Cut(w.Body.String(), "\n")
		if w.Code != http.StatusOK {
			address = "after " + w.Header().Get("Retry-After")
		}
		fmt.Println(w.Code, w.Header().Values("Ratelimit"), address)
	}
	fmt.Println(send(api, get("/search")).Header().Values("Ratelimit-Policy"))

	// Output:
	// 200 ["client";r=1;t=60 "global";r=99;t=60] "198.51.100.7"
	// 200 ["client";r=0;t=60 "global";r=98;t=60] "198.51.100.7"
	// 429 ["client";r=0;t=60 "global";r=97;t=60] after 60
	// 429 ["client";r=0;t=60 "global";r=96;t=60] after 60
	// 200 ["client";r=1;t=60 "global";r=95;t=60] "203.0.113.9"
	// ["client";q=2;w=60 "global";q=100;w=60]
}

func Example_cookies() {
	sessions := auth.Session(&auth.MemorySessions{},
		func(_ context.Context, id string) (*rest.User, error) { return &rest.User{ID: id}, nil })
	api := rest.New(silent())
	api.Register(routes(func(r *rest.Routes) {
		rest.Post(r, "/login", func(ctx context.Context, in struct {
			Name string `json:"name"`
		},
		) (rest.NoContent, error) {
			cookie, err := sessions.Login(rest.RequestOf(ctx), &rest.User{ID: in.Name}) // after the password, in a program
			if err != nil {
				return rest.NoContent{}, err
			}
			rest.ResponseOf(ctx).SetCookie(cookie)
			return rest.NoContent{}, nil
		})
		rest.Post(r, "/me", who, rest.Auth(sessions))
	}))
	w := send(api, request{method: http.MethodPost, target: "/login", body: `{"name": "ada"}`})
	cookie := w.Result().Cookies()[0]
	fmt.Println(w.Code, cookie.Name, cookie.Secure, cookie.HttpOnly)
	for _, site := range []string{"same-origin", "cross-site"} {
		show(api, request{method: http.MethodPost, target: "/me", header: map[string]string{
			"Cookie": cookie.Name + "=" + cookie.Value, "Sec-Fetch-Site": site,
		}})
	}

	// Output:
	// 204 __Host-session true true
	// 200 "ada"
	// 403 {"type":"about:blank","title":"Forbidden","status":403,"detail":"A request with cookies must come from a page of this site.","code":"cross_origin"}
}
