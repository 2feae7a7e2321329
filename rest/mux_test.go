package rest_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/resttest"
)

type (
	intID struct {
		ID int64 `path:"id"`
	}
	slug struct {
		S string `path:"s"`
	}
	uuid struct {
		ID string `path:"id"`
	}
	restOf struct {
		Rest string `path:"rest"`
	}
)

// named answers with a word and what was in the path.
func named[In any](word string, value func(In) string) func(context.Context, In) (string, error) {
	return func(_ context.Context, in In) (string, error) { return word + " " + value(in), nil }
}

func TestMethods(t *testing.T) {
	t.Parallel()

	api := serve(func(r *rest.Routes) {
		rest.Get(r, "/x", handle("get"))
		rest.Post(r, "/x", handle("post"))
		rest.Handle(r, []string{http.MethodOptions}, "/own", handle("options"))
		rest.Handle(r, []string{http.MethodHead}, "/head", nothing)
		rest.Get(r, "/typed/{int:id}", func(_ context.Context, in intID) (int64, error) { return in.ID, nil })
		rest.Put(r, "/typed/{slug:s}", named("put", func(in slug) string { return in.S }))
	}, rest.DocsPath(""))
	url := listen(t, api)
	for _, c := range []struct {
		method, path string
		status       int
		allow, text  string
	}{
		{"GET", "/x", 200, "", `"get"`},
		{"HEAD", "/x", 200, "", ""},
		{"OPTIONS", "/x", 204, "GET, HEAD, POST, OPTIONS", ""},
		{"PUT", "/x", 405, "GET, HEAD, POST, OPTIONS", "*"},
		{"BREW", "/x", 405, "GET, HEAD, POST, OPTIONS", "*"},
		{"OPTIONS", "/own", 200, "", `"options"`},
		{"HEAD", "/head", 204, "", ""},
		{"GET", "/head", 405, "HEAD, OPTIONS", "*"},
		{"OPTIONS", "/nowhere", 404, "", "*"},
		{"GET", "/typed/7", 200, "", "7"},
		{"GET", "/typed/a", 405, "PUT, OPTIONS", "*"},
		{"PUT", "/typed/a", 200, "", `"put a"`},
		{"PUT", "/typed/a.b", 404, "", "*"},
		{"DELETE", "/typed/7", 405, "GET, HEAD, PUT, OPTIONS", "*"},
		{"DELETE", "/typed/a%2Fb", 404, "", "*"},
		{"PUT", "/openapi.json", 405, "GET, HEAD, OPTIONS", "*"},
	} {
		res, text := ask(t, c.method, url+c.path)
		if c.text == "*" {
			if !strings.HasPrefix(text, `{"type":`) {
				t.Errorf("%s %s: %s", c.method, c.path, text)
			}
			text = "*"
		}
		wantDiff(t, c.method+" "+c.path, []any{c.status, c.allow, c.text},
			[]any{res.StatusCode, res.Header.Get("Allow"), strings.TrimSpace(text)})
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()

	api := quiet()
	api.Register(routes(func(r *rest.Routes) {
		rest.Get(r, "/{int:id}", named("int", func(in intID) string { return strings.Repeat("i", int(in.ID)) }))
		rest.Get(r, "/{uuid:id}", named("uuid", func(in uuid) string { return in.ID }))
		rest.Get(r, "/{slug:s}", named("slug", func(in slug) string { return in.S }))
		rest.Get(r, "/{str:s}", named("str", func(in slug) string { return in.S }))
		rest.Get(r, "/new", handle("literal"))
		rest.Get(r, "/files/{path:rest}", named("path", func(in restOf) string { return in.Rest }))
		rest.Get(r, "/only/{int:id}", named("only", func(intID) string { return "" }))
		rest.Get(r, "/dir/", handle("directory"))
		rest.Get(r, "", handle("root"))
	}), rest.Prefix("/p"))
	for path, want := range map[string]string{
		"/p":                      "root",
		"/p/3":                    "int iii",
		"/p/new":                  "literal",
		"/p/007":                  "int iiiiiii",
		"/p/a-b_1":                "slug a-b_1",
		"/p/a.b":                  "str a.b",
		"/p/12345678901234567890": "slug 12345678901234567890", // no integer
		"/p/5e1f0c2a-0000-4000-8000-00000000000A": "uuid 5e1f0c2a-0000-4000-8000-00000000000A",
		"/p/5e1f0c2a-0000-4000-8000-00000000000":  "slug 5e1f0c2a-0000-4000-8000-00000000000",
		"/p/a%2Fb":                                "str a/b",
		"/p/%E2%82%AC%20x":                        "str € x",
		"/p/a%25b":                                "str a%b",
		"/p/a+b":                                  "str a+b",
		"/p/..%2Fb":                               "str ../b",
		"/p/files/a/b%2Fc/d.txt":                  "path a/b/c/d.txt",
		"/p/files/":                               "path ",
		"/p/dir/":                                 "directory",
	} {
		if a := resttest.Do[string](t, api, http.MethodGet, path); a.Body != want {
			t.Errorf("%s: got %d %q, want %q", path, a.Status, a.Body, want)
		}
	}
	for path, want := range map[string]int{
		"/p/only/x": 404, "/p/only/1.0": 404, "/p/only/-": 404, "/p/only/": 308, "/p/only": 200, "/p/a%00b": 422,
	} {
		wantStatus(t, api, http.MethodGet, path, want)
	}
}

func TestPrefixParameters(t *testing.T) {
	t.Parallel()

	type in struct {
		Org  int64  `path:"org_id" json:"org"`
		Shop string `path:"shop"   json:"shop"`
		ID   int64  `path:"id"     json:"id"`
	}
	api := quiet()
	api.Register(routes(func(r *rest.Routes) { rest.Get(r, "/{int:id}", echo[in]) }),
		rest.Prefix("/orgs/{int:org_id}/{shop}/books"))
	if a := resttest.Do[in](t, api, http.MethodGet, "/orgs/7/a%20b/books/9"); a.Body != (in{7, "a b", 9}) {
		t.Errorf("got %d %+v", a.Status, a.Body)
	}
	wantStatus(t, api, http.MethodGet, "/orgs/x/a/books/9", http.StatusNotFound)
	if at(document(t, api), "paths", "/orgs/{org_id}/{shop}/books/{id}", "get") == nil {
		t.Error("the path is documented in another form")
	}
	text := mustPanic(t, func() {
		api.Register(routes(func(r *rest.Routes) { rest.Get(r, "/{int:id}", routeOf) }), rest.Prefix("/x/{int:org_id}"))
	})
	if !strings.Contains(text, "has {org_id}, for which the input rest_test.byID has no field") {
		t.Errorf("got %q", text)
	}
}

func TestTrailingSlash(t *testing.T) {
	t.Parallel()

	api := serve(func(r *rest.Routes) {
		rest.Get(r, "/books", handle("books"))
		rest.Post(r, "/books", handle("books"))
		rest.Get(r, "/dir/", handle("dir"))
		rest.Get(r, "/{int:id}/pages", func(context.Context, intID) (string, error) { return "pages", nil })
		rest.Get(r, "/sub/a/{s}", named("a", func(in slug) string { return in.S }))
	})
	url := listen(t, api)
	below := listen(t, http.StripPrefix("/api", api))
	for _, c := range []struct {
		method, path string
		to           string // empty: 404
	}{
		{"GET", "/books/?q=1&r=a%20b", "/books?q=1&r=a%20b"},
		{"POST", "/books/", "/books"},
		{"GET", "/dir", "/dir/"},
		{"GET", "/7/pages/", "/7/pages"},
		{"GET", "/x/pages/", ""},
		{"GET", "/sub/a/b%2Fc/", "/sub/a/b%2Fc"},
		{"GET", "/sub/a/b:c/", "/sub/a/b:c"},
		{"GET", "/nowhere/", ""},
		{"DELETE", "/books/", "/books"},
	} {
		res, _ := ask(t, c.method, url+c.path)
		if c.to == "" {
			wantDiff(t, c.path, http.StatusNotFound, res.StatusCode)
			continue
		}
		to, err := res.Location()
		if err != nil || to.String() != url+c.to || res.StatusCode != http.StatusPermanentRedirect {
			t.Errorf("%s %s: got %d to %v, %v", c.method, c.path, res.StatusCode, to, err)
		}
	}
	res, _ := ask(t, http.MethodGet, below+"/api/books/")
	if to, err := res.Location(); err != nil || to.Path != "/api/books" {
		t.Errorf("below a prefix: %v, %v", to, err)
	}
	for _, path := range []string{"//evil.example/", "/%2Fevil.example/", "//evil.example/books/", "/\\evil.example/"} {
		res, _ := ask(t, http.MethodGet, url+path)
		if to, err := res.Location(); err == nil && !strings.HasPrefix(to.String(), url+"/") {
			t.Errorf("%s leads to %s", path, to)
		}
	}
}

func TestBodies(t *testing.T) {
	t.Parallel()

	api := serve(func(r *rest.Routes) {
		rest.Post(r, "/x", echo[newBook], rest.MaxBody(60))
		rest.Post(r, "/form", echo[struct {
			Name string `form:"name" json:"name"`
		}])
		rest.Post(r, "/optional", func(_ context.Context, in struct {
			Body *newBook
		},
		) (bool, error) {
			return in.Body != nil, nil
		})
	}, rest.MaxBody(40))
	const good = `{"title":"Emma","price":1}`
	for _, c := range []struct {
		path, contentType, body string
		want                    int
	}{
		{"/x", "application/json", good, 200},
		{"/x", "application/json; charset=utf-8", good, 200},
		{"/x", "application/vnd.shop+json", good, 200},
		{"/x", "", good, 200},
		{"/x", "text/plain", good, 415},
		{"/x", "application/json; charset=latin1", good, 415},
		{"/x", "application/x-www-form-urlencoded", good, 415},
		{"/x", "multipart/form-data", good, 415},
		{"/x", "\x00", good, 415},
		{"/x", "application/json", `{"title"`, 400},
		{"/x", "application/json", good + good, 400},
		{"/x", "application/json", "\xff", 400},
		{"/x", "application/json", "  ", 422},
		{"/x", "application/json", "", 422},
		{"/x", "application/json", "null", 422},
		{"/x", "application/json", `{"title":"Emma","price":1,"n":{}}`, 422},
		{"/x", "application/json", strings.Repeat(" ", 61), 413},
		{"/x", "application/json", good + strings.Repeat(" ", 60-len(good)), 200},
		{"/form", "application/x-www-form-urlencoded", "name=a", 200},
		{"/form", "application/json", good, 415},
		{"/form", "multipart/form-data", "name=a", 400},
		{"/form", "multipart/form-data; boundary=x", "name=a", 400},
		{"/form", "application/x-www-form-urlencoded", "name=" + strings.Repeat("a", 40), 413},
		{"/optional", "application/json", "", 200},
		{"/optional", "", "", 200},
		{"/optional", "application/json", good, 200},
		{"/optional", "application/json", `{"price":1}`, 422},
	} {
		a := resttest.Do[any](t, api, http.MethodPost, c.path, resttest.Content(c.contentType, c.body))
		if a.Status != c.want {
			t.Errorf("%s %q %q: got %d, want %d: %s", c.path, c.contentType, c.body, a.Status, c.want, a.Text)
		}
	}
	if _, text := get(t, api, "/x"); !strings.Contains(text, "405") {
		t.Errorf("got %s", text)
	}
}

func TestBodyOfUnknownLength(t *testing.T) {
	t.Parallel()

	url := listen(t, serve(func(r *rest.Routes) { rest.Post(r, "/x", echo[newBook]) }, rest.MaxBody(40)))
	for body, want := range map[string]int{
		`{"title":"Emma","price":1}`: 200, `{"title":"` + strings.Repeat("a", 39): 413,
	} {
		pieces := struct{ *strings.Reader }{strings.NewReader(body)} // whose length net/http does not see
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/x", pieces)
		if err != nil {
			t.Fatal(err)
		}
		r.ContentLength = -1
		r.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		wantDiff(t, body, want, res.StatusCode)
	}
}
