package rest_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/permission"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/resttest"
)

type author struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

type novel struct {
	ID     int64   `json:"id"`
	Title  string  `json:"title"`
	Price  float64 `json:"price"`
	Author author  `json:"author"`
}

func novels() []novel {
	austen, joyce := author{1, "Jane Austen"}, author{2, "James Joyce"}
	return []novel{
		{1, "Emma", 8, austen},
		{2, "Ulysses", 20, joyce},
		{3, "Persuasion", 6, austen},
		{4, "Dubliners", 12, joyce},
		{5, "Mansfield Park", 9, austen},
	}
}

// novelFilter has a field of each form that the contract shows.
type novelFilter struct {
	Title    *string  `filter:"__icontains"`
	Author   *string  `filter:"author__name__iexact"`
	MinPrice *float64 `filter:"price,gte"`
	PriceLte *float64 `query:"price__lte"`
}

func listNovels(context.Context, struct{}) ([]novel, error) { return novels(), nil }

func novelAPI(options ...rest.RouteOption) *rest.API {
	return serve(func(r *rest.Routes) { rest.List(r, "/novels", listNovels, options...) })
}

type (
	offsetPage = page.RestPaginationResponseSchema[novel]
	numberPage = page.PaginatedResponseSchema[novel]
)

// ids lists the ids of novels, as "1 3 5".
func ids(all []novel) string {
	texts := make([]string, len(all))
	for i, n := range all {
		texts[i] = strconv.FormatInt(n.ID, 10)
	}
	return strings.Join(texts, " ")
}

// plainText is JSON without its last line break, however the codec writes an ampersand.
func plainText(text string) string {
	return strings.ReplaceAll(strings.TrimSpace(text), "\\u0026", "&")
}

func TestSeedPaginate(t *testing.T) {
	t.Parallel()

	t.Run("bare_is_limit_offset", func(t *testing.T) {
		t.Parallel()
		a := resttest.Do[offsetPage](t, novelAPI(), http.MethodGet, "/novels?limit=2&offset=1")
		wantDiff(t, "page", []any{200, "2 3", int64(5)}, []any{a.Status, ids(a.Body.Items), a.Body.Count})
	})
	t.Run("func_or_pgn_class", func(t *testing.T) {
		t.Parallel()
		a := resttest.Do[numberPage](t, novelAPI(page.PageNumberPaginationExtra()), http.MethodGet,
			"/novels?page=2&page_size=2")
		wantDiff(t, "page", []any{"3 4", int64(5), "/novels?page=3&page_size=2", "/novels?page_size=2"},
			[]any{ids(a.Body.Results), a.Body.Count, *a.Body.Next, *a.Body.Previous})
	})
	t.Run("filter_schema", func(t *testing.T) {
		t.Parallel()
		api := novelAPI(query.Filter[novelFilter]())
		for target, want := range map[string]string{
			"?title=SUA":                              "3", // in any case
			"?author=jane%20austen":                   "1 3 5",
			"?min_price=9":                            "2 4 5",
			"?price__lte=8":                           "1 3",
			"?author=JAMES%20JOYCE&price__lte=12":     "4",
			"?min_price=7&price__lte=9&limit=1":       "1",
			"?min_price=7&limit=1&offset=3&title=man": "",
			"":         "1 2 3 4 5",
			"?other=1": "1 2 3 4 5",
		} {
			if a := resttest.Do[offsetPage](t, api, http.MethodGet, "/novels"+target); ids(a.Body.Items) != want {
				t.Errorf("%q: got %d %q, want %q", target, a.Status, ids(a.Body.Items), want)
			}
		}
		wantStatus(t, api, http.MethodGet, "/novels?min_price=much", http.StatusUnprocessableEntity)
	})
	t.Run("paginator_params", func(t *testing.T) {
		t.Parallel()
		api := novelAPI(page.Number(page.Size(3), page.Max(4)))
		a := resttest.Do[numberPage](t, api, http.MethodGet, "/novels")
		wantDiff(t, "page_size", "1 2 3", ids(a.Body.Results))
		wantStatus(t, api, http.MethodGet, "/novels?page_size=5", http.StatusUnprocessableEntity)
	})
	t.Run("returns_a_list_or_a_queryset", func(t *testing.T) {
		t.Parallel()
		api := serve(func(r *rest.Routes) {
			rest.List(r, "/list", listNovels)
			rest.List(r, "/set", func(context.Context, struct{}) (query.Set[novel], error) {
				return query.Slice(novels()).Where(query.Where("author__name", "James Joyce")), nil
			})
		})
		for path, want := range map[string]string{"/list": "1 2 3 4 5", "/set": "2 4"} {
			a := resttest.Do[offsetPage](t, api, http.MethodGet, path)
			wantDiff(t, path, want, ids(a.Body.Items))
		}
		text := mustPanic(t, func() {
			serve(func(r *rest.Routes) {
				rest.List(r, "/x", func(context.Context, struct{}) (string, error) { return "", nil })
			})
		})
		if !strings.Contains(text, "it has to be a slice or a query.Set") {
			t.Errorf("got %q", text)
		}
	})
	t.Run("response_wrappers", func(t *testing.T) {
		t.Parallel()
		_, text := get(t, novelAPI(), "/novels?limit=1")
		wantDiff(t, "limit/offset",
			`{"items":[{"id":1,"title":"Emma","price":8,"author":{"id":1,"name":"Jane Austen"}}],"count":5}`, text)
		_, text = get(t, novelAPI(page.Number()), "/novels?page=5&page_size=1")
		wantDiff(t, "page number", `{"count":5,"next":null,"previous":"/novels?page=4&page_size=1",`+
			`"results":[{"id":5,"title":"Mansfield Park","price":9,"author":{"id":1,"name":"Jane Austen"}}]}`, plainText(text))
	})
	t.Run("default_class_setting", func(t *testing.T) {
		t.Parallel()
		settings := rest.Settings{
			"REST_EXTRA": map[string]any{"PAGINATION_CLASS": "PageNumberPaginationExtra", "PAGINATION_PER_PAGE": 2}, "OTHER": 1,
		}
		list := func(r *rest.Routes) { rest.List(r, "/novels", listNovels) }
		configured, err := rest.FromSettings(settings)
		if err != nil {
			t.Fatal(err)
		}
		a := resttest.Do[numberPage](t, serve(list, configured), http.MethodGet, "/novels")
		wantDiff(t, "settings", "1 2", ids(a.Body.Results))
		in := resttest.Do[offsetPage](t, serve(list, configured, rest.Paginate(page.LimitOffset())), http.MethodGet,
			"/novels")
		wantDiff(t, "code wins", "1 2 3 4 5", ids(in.Body.Items))
		for name, wrong := range map[string]any{
			"no map":        "x",
			"unknown key":   map[string]any{"PAGINATION_KLASS": "x"},
			"unknown class": map[string]any{"PAGINATION_CLASS": "nobody"},
			"no name":       map[string]any{"PAGINATION_CLASS": 7},
		} {
			if o, err := rest.FromSettings(rest.Settings{"REST_EXTRA": wrong}); err == nil || o != nil ||
				!strings.Contains(err.Error(), "settings: ") {
				t.Errorf("%s: got %v", name, err)
			}
		}
	})
}

func TestSeedEvaluationOrder(t *testing.T) {
	t.Parallel()

	api := novelAPI(page.Number(page.Size(2)), query.Filter[novelFilter]())

	t.Run("read_then_filter_then_page_then_metadata", func(t *testing.T) {
		t.Parallel()
		a := resttest.Do[numberPage](t, api, http.MethodGet, "/novels?author=jane%20austen&page=2")
		wantDiff(t, "page of what was filtered", []any{"5", int64(3), "/novels?author=jane+austen"},
			[]any{ids(a.Body.Results), a.Body.Count, *a.Body.Previous})
	})
	t.Run("faults_of_all_stages_at_once", func(t *testing.T) {
		t.Parallel()
		a := resttest.Do[any](t, api, http.MethodGet, "/novels?min_price=x&page=0")
		wantDiff(t, "faults", "[query.min_price: float_parsing query.page: greater_than_equal]", fmt.Sprint(a.Error.Faults))
	})
	t.Run("described_together", func(t *testing.T) {
		t.Parallel()
		params, _ := at(document(t, api), "paths", "/novels", "get", "parameters").([]any)
		var names []string
		for _, p := range params {
			names = append(names, fmt.Sprint(at(p, "name"), " ", at(p, "required")))
		}
		wantDiff(t, "parameters", []string{
			"page <nil>", "page_size <nil>", "title <nil>", "author <nil>", "min_price <nil>", "price__lte <nil>",
		}, names)
	})
}

// TestSeedEndpoints walks the table of shapes of the contract.
func TestSeedEndpoints(t *testing.T) {
	t.Parallel()

	type made struct {
		ID int64 `json:"id"`
	}
	api := quiet()
	api.RegisterControllers(routes(func(r *rest.Routes) {
		r.Configure(rest.Prefix("/users"))
		rest.Get(r, "/plain", func(context.Context, struct{}) ([]author, error) { return []author{{1, "Jane"}}, nil })
		rest.List(r, "", listNovels, page.PageNumberPaginationExtra(page.Size(2)), query.Filter[novelFilter]())
		rest.List(r, "/limit", listNovels)
		rest.Get(r, "/{user_id}", func(_ context.Context, in struct {
			ID int64 `path:"user_id"`
		},
		) (author, error) {
			return author{in.ID, "Jane"}, nil
		})
		rest.Post(r, "", func(context.Context, author) (made, error) { return made{7}, nil })
		rest.Post(r, "/create/", func(_ context.Context, in author) (author, error) { return in, nil })
		rest.Handle(r, []string{http.MethodPut, http.MethodPatch}, "/{int:user_id}/change",
			func(_ context.Context, in struct {
				ID int64 `path:"user_id"`
				author
			},
			) (author, error) {
				in.author.ID = in.ID
				return in.author, nil
			})
		rest.Delete(r, "/{int:user_id}", func(context.Context, struct {
			ID int64 `path:"user_id"`
		},
		) (rest.NoContent, error) {
			return rest.NoContent{}, nil
		})
	}))
	body := resttest.JSON(author{3, "Joyce"})
	for _, c := range []struct {
		method, target string
		options        []resttest.Option
		status         int
		want           string
	}{
		{"GET", "/users/plain", nil, 200, `[{"id":1,"name":"Jane"}]`},
		{
			"GET", "/users?page=3&min_price=1", nil, 200,
			`{"count":5,"next":null,"previous":"/users?page=2&min_price=1","results":[{"id":5,"title":"Mansfield Park","price":9,"author":{"id":1,"name":"Jane Austen"}}]}`,
		},
		{"GET", "/users/limit?limit=1&offset=9", nil, 200, `{"items":[],"count":5}`},
		{"GET", "/users/9", nil, 200, `{"id":9,"name":"Jane"}`},
		{"POST", "/users", []resttest.Option{body}, 200, `{"id":7}`},
		{"POST", "/users/create/", []resttest.Option{body}, 200, `{"id":3,"name":"Joyce"}`},
		{"PUT", "/users/8/change", []resttest.Option{body}, 200, `{"id":8,"name":"Joyce"}`},
		{"PATCH", "/users/9/change", []resttest.Option{body}, 200, `{"id":9,"name":"Joyce"}`},
		{"DELETE", "/users/9", nil, 204, ""},
	} {
		a := resttest.Do[any](t, api, c.method, c.target, c.options...)
		wantDiff(t, c.method+" "+c.target, []any{c.status, c.want}, []any{a.Status, plainText(a.Text)})
	}
}

func TestSeedApplication(t *testing.T) {
	t.Parallel()

	api := rest.New(rest.Title("Shop"), rest.Version("2.1.0"), rest.About("Sells **books**."),
		rest.Servers("https://shop.example"))
	api.RegisterControllers(newShelf(), routes(func(r *rest.Routes) { rest.Get(r, "/x", handle("")) }))
	d := document(t, api)
	wantDiff(t, "info", map[string]any{"title": "Shop", "version": "2.1.0", "description": "Sells **books**."},
		at(d, "info"))
	if at(d, "paths", "/{id}") == nil || at(d, "paths", "/x") == nil {
		t.Error("a controller is missing")
	}
}

func TestSeedAuthentication(t *testing.T) {
	t.Parallel()

	api := quiet()
	api.Register(routes(func(r *rest.Routes) {
		rest.Get(r, "/a", whoami)
		rest.Get(r, "/b", whoami)
	}), rest.Auth(apiKey()), rest.Permit(permission.IsAuthenticated))
	for _, path := range []string{"/a", "/b"} {
		wantStatus(t, api, http.MethodGet, path, http.StatusUnauthorized)
		wantStatus(t, api, http.MethodGet, path+"?key=wrong", http.StatusUnauthorized)
		wantStatus(t, api, http.MethodGet, path+"?key=bob-key", http.StatusOK)
	}
}
