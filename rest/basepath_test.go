package rest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/resttest"
)

// addresses writes addresses of each kind.
type addresses struct {
	api *rest.API
	one *rest.Endpoint[byID, book]
}

func (s *addresses) Routes(r *rest.Routes) {
	r.Configure(rest.Prefix("/books"))
	rest.List(r, "/", func(context.Context, struct{}) ([]book, error) { return []book{{ID: 1}, {ID: 2}, {ID: 3}}, nil },
		page.Number(page.Size(1)))
	s.one = rest.Get(r, "/{int:id}", func(_ context.Context, in byID) (book, error) { return book{ID: in.ID}, nil },
		rest.Name("get"))
	rest.Post(r, "/", func(ctx context.Context, _ struct{}) (book, error) {
		to, err := s.one.URL(byID{7})
		rest.ResponseOf(ctx).Header().Set("Location", to)
		return book{ID: 7}, err
	}, rest.Status(http.StatusCreated))
	rest.Get(r, "/address/", func(ctx context.Context, _ struct{}) (string, error) {
		return rest.RequestOf(ctx).URL.Path, nil
	})
	rest.Raw(r, []string{http.MethodGet}, "/raw/{s}", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(r.PathValue("s") + " " + r.Pattern))
	}))
}

func addressesBelow(base string, options ...rest.APIOption) (*rest.API, *addresses) {
	s := &addresses{}
	s.api = quiet(append(options, rest.BasePath(base))...)
	s.api.Register(s)
	huma.Register(s.api.Huma(), huma.Operation{Method: http.MethodGet, Path: "/huma/{id}", OperationID: "huma"}, func(
		_ context.Context, in *rawIn,
	) (*rawOut, error) {
		return &rawOut{in.ID}, nil
	})
	return s.api, s
}

// An API with a base path writes the addresses that its clients use, however its requests
// arrive.
func TestBasePath(t *testing.T) {
	t.Parallel()

	plain, _ := addressesBelow("/shop/v1")
	told, _ := addressesBelow("/shop/v1", rest.BasePathStripped())
	behind := func(api http.Handler) string { // a proxy in another process, which cuts the path off
		to, err := url.Parse(listen(t, api))
		if err != nil {
			t.Fatal(err)
		}
		return listen(t, http.StripPrefix("/shop/v1",
			&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}))
	}
	mux := http.NewServeMux()
	mux.Handle("/shop/v1/", plain)
	for name, address := range map[string]string{
		"Alone": listen(t, plain), "Mux": listen(t, mux), "StripPrefix": listen(t, http.StripPrefix("/shop/v1", plain)),
		"StripPart": listen(t, http.StripPrefix("/shop", plain)), "Proxy": behind(told),
		"ProxyThatStripsNothing": listen(t, told),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, text := ask(t, http.MethodGet, address+"/shop/v1/books?page=2")
			for _, want := range []string{`"next":"/shop/v1/books?page=3"`, `"previous":"/shop/v1/books"`} {
				if !strings.Contains(text, want) {
					t.Errorf("no %s in %s", want, text)
				}
			}
			res, _ := ask(t, http.MethodPost, address+"/shop/v1/books")
			wantDiff(t, "Location", []any{201, "/shop/v1/books/7"}, []any{res.StatusCode, res.Header.Get("Location")})
			for target, to := range map[string]string{
				"/books/": "/shop/v1/books", "/books/7/?a=b": "/shop/v1/books/7?a=b", "/books/address": "/shop/v1/books/address/",
			} {
				res, _ := ask(t, http.MethodGet, address+"/shop/v1"+target)
				if at, err := res.Location(); err != nil || at.String() != address+to ||
					res.StatusCode != http.StatusPermanentRedirect {
					t.Errorf("%s: %d to %v, %v", target, res.StatusCode, at, err)
				}
			}
			for target, want := range map[string]string{
				"/books/address/": `"/shop/v1/books/address/"`, "/books/raw/a%2Fb": "a/b GET /shop/v1/books/raw/{s}",
				"/huma/x": `"x"`, "/openapi.json": `"/shop/v1/books/{id}"`, "/docs": `data-spec="./openapi.json"`,
				"/docs/": `data-spec="../openapi.json"`, "/nowhere": `"status":404`,
			} {
				if _, text := ask(t, http.MethodGet, address+"/shop/v1"+target); !strings.Contains(text, want) {
					t.Errorf("%s: no %s in %.200s", target, want, text)
				}
			}
		})
	}

	for path, want := range map[string]int{
		"/books": 404, "/books/7": 404, "/docs": 404, "/shop/v1x/books": 404, "/shop/books": 404, "/shop/v1/books": 200,
		"/": 404, "/shop/v1": 404,
	} {
		wantStatus(t, plain, http.MethodGet, path, want)
	}
}

// Names do not change with the base path; paths in the document, in listings and in links do.
func TestBasePathInDocuments(t *testing.T) {
	t.Parallel()

	api, s := addressesBelow("/v1", rest.BaseURL("https://shop.example"), rest.Servers("https://shop.example"))
	without, _ := addressesBelow("")
	paths := func(api *rest.API) (all []string) {
		ids := operationIDs(document(t, api))
		for key, id := range ids {
			all = append(all, id+" "+key)
		}
		slices.Sort(all)
		return all
	}
	var want []string
	for _, line := range paths(without) {
		want = append(want, strings.Replace(line, " /", " /v1/", 1))
	}
	wantDiff(t, "operations", want, paths(api))

	to, err := api.Reverse("Addresses.get", 7)
	wantDiff(t, "Reverse", []any{"/v1/books/7", nil}, []any{to, err})
	wantDiff(t, "Path", "/v1/books/{id}", s.one.Path())
	wantDiff(t, "a typed call", int64(9), resttest.Call(t, api, s.one, byID{9}).Body.ID)
	for _, info := range api.Routes() {
		if !strings.HasPrefix(info.Path, "/v1/books") {
			t.Errorf("%s is at %s", info.Name, info.Path)
		}
	}
	if _, text := get(t, api, "/v1/books"); !strings.Contains(text, `"next":"https://shop.example/v1/books?page=2"`) {
		t.Error(text)
	}
}

// The root of an API is found with and without the slash that proxies leave.
func TestBasePathRoot(t *testing.T) {
	t.Parallel()

	root := func(r *rest.Routes) { rest.Get(r, "/", handle("root")) }
	for _, options := range [][]rest.APIOption{{}, {rest.StrictSlashes()}} {
		api := serve(root, append(options, rest.BasePath("/v1"))...)
		told := serve(root, append(options, rest.BasePath("/v1"), rest.BasePathStripped())...)
		for _, path := range []string{"/v1", "/v1/"} {
			wantStatus(t, api, http.MethodGet, path, http.StatusOK)
			wantStatus(t, http.StripPrefix("/v1", api), http.MethodGet, path, http.StatusOK)
			wantStatus(t, told, http.MethodGet, path, http.StatusOK)
		}
		wantStatus(t, told, http.MethodGet, "/", http.StatusOK)
		wantStatus(t, api, http.MethodGet, "/", http.StatusNotFound)
	}
	wantStatus(t, http.StripPrefix("/v1", serve(root)), http.MethodGet, "/v1", http.StatusOK)
}

// Several APIs in one program share nothing.
func TestBasePathOfSeveral(t *testing.T) {
	t.Parallel()

	mux := http.NewServeMux()
	for _, base := range []string{"/v1", "/v2"} {
		api := serve(func(r *rest.Routes) { rest.Get(r, "/x/", handle(base)) }, rest.BasePath(base))
		mux.Handle(base+"/", api)
	}
	for _, base := range []string{"/v1", "/v2"} {
		if _, text := get(t, mux, base+"/x/"); text != `"`+base+`"` {
			t.Errorf("%s: %s", base, text)
		}
		w := recorded(mux, requestOf(t, http.MethodGet, base+"/x"))
		wantDiff(t, base, []any{308, "./x/"}, []any{w.Code, w.Header().Get("Location")})
	}
}

func TestBasePathIsRefused(t *testing.T) {
	t.Parallel()

	for path, want := range map[string]string{
		"v1": "begin with a slash", "/": "leave it out", "/v1/": "end with a slash",
		"https://shop.example/v1": "rest.BaseURL", "//v1": "empty segments", "/a//b": "empty segments", "/a/../b": "..",
		"/.": "..", "/{tenant}": "parameters", "/v1?x=1": "query", "/v1#x": "fragment", "/a b": "escapes",
		"/a%20b": "escapes", `/a\b`: "escapes", "/ä": "escapes", "/*": "escapes",
	} {
		err := rest.CheckBasePath(path)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "base path") {
			t.Errorf("%q: %v", path, err)
		}
		if text := mustPanic(t, func() { rest.New(rest.BasePath(path)) }); !strings.Contains(text, want) {
			t.Errorf("%q: %s", path, text)
		}
	}
	for _, path := range []string{"", "/v1", "/shop/api-v1.2~x", "/a:b@c"} {
		if err := rest.CheckBasePath(path); err != nil {
			t.Error(err)
		}
	}
	for want, options := range map[string][]rest.APIOption{
		"without a rest.BasePath": {rest.BasePathStripped()},
		"links have already":      {rest.BasePath("/v1"), rest.BaseURL("https://shop.example/v1/")},
	} {
		if text := mustPanic(t, func() { rest.New(options...) }); !strings.Contains(text, want) {
			t.Errorf("got %s", text)
		}
	}
}

// A proxy that cuts the path off without the API being told is named in the log, once.
func TestBasePathHint(t *testing.T) {
	t.Parallel()

	log := &memory{}
	api := rest.New(rest.BasePath("/v1"), rest.Logger(log.logger()))
	api.Register(routes(slashes))
	for _, path := range []string{"/nowhere", "/v1/nowhere", "/books", "/books/7"} {
		api.ServeHTTP(httptest.NewRecorder(), requestOf(t, http.MethodGet, path))
	}
	if text := log.String(); strings.Count(text, "rest.BasePathStripped()") != 1 ||
		!strings.Contains(text, "path=/books ") {
		t.Errorf("got %s", text)
	}
}
