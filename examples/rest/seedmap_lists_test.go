package main_test

import (
	"context"
	"net/http"
	"strings"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/query/driver"
	"github.com/spoolhq/spool/rest/resttest"
)

// titles are those of a list that answers with titles alone.
func titles(t row, api *rest.API, target string) string {
	t.Helper()

	a := resttest.Do[[]string](t, api, http.MethodGet, target)
	if a.Status != http.StatusOK {
		t.Fatalf("%s: %d %s", target, a.Status, a.Text)
	}
	return strings.Join(a.Body, " ")
}

// filtered lists the titles of the books that pass a filter.
func filtered[F any]() *rest.API { return filteredBy(query.Filter[F]()) }

func filteredBy(filter query.FilterOption) *rest.API {
	return mount(func(r *rest.Routes) {
		rest.List(r, "/x", Shelf{}.list, page.None(), filter, rest.View(func(b Book) string { return b.Title }))
	})
}

// wrapper returns the names that a page of a list always has, as the document says.
func wrapper(t row, api *rest.API, path string) string {
	t.Helper()

	ref := documented(t, api, "paths", path, "get", "responses", "200", "content", "application/json", "schema", "$ref")
	return documented(t, api, "components", "schemas",
		strings.Trim(strings.TrimPrefix(ref, `"#/components/schemas/`), `"`), "required")
}

func paginateRows() map[string]func(t row) {
	list := func(options ...rest.RouteOption) *rest.API {
		return mount(func(r *rest.Routes) { rest.List(r, "/x", Shelf{}.list, options...) })
	}
	return map[string]func(t row){
		"`func_or_pgn_class`": func(t row) {
			answers(t, list(page.Number()), nil, map[string]string{"GET /x?page_size=1": `200 {"count":5,...`})
			answers(t, list(), nil, map[string]string{"GET /x?limit=1": `200 {"items":[...`})
			inherits := mount(func(r *rest.Routes) { rest.List(r, "/x", Shelf{}.list) }, rest.Paginate(page.None()))
			answers(t, inherits, nil, map[string]string{"GET /x": `200 [...`})
		},
		"`filter_schema`": func(t row) {
			answers(t, list(query.Filter[BookFilter]()), nil,
				map[string]string{
					"GET /x?title=emma": `200 {"items":[{"id":1,"title":"Emma","author":"Jane Austen","price":8}],"count":1}`,
				})
		},
		"`**paginator_params`": func(t row) {
			answers(t, list(page.Number(page.Size(2), page.Max(3))), nil,
				map[string]string{"GET /x": `200 {"count":5,"next":"/x?page=2"...`, "GET /x?page_size=4": "422"})
			named, err := page.Named("PageNumberPaginationExtra", map[string]any{"page_size": 2, "max_page_size": 3})
			if err != nil {
				t.Fatal(err)
			}
			answers(t, mount(func(r *rest.Routes) { rest.List(r, "/x", Shelf{}.list) }, rest.Paginate(named)), nil,
				map[string]string{"GET /x": `200 {"count":5,"next":"/x?page=2"...`, "GET /x?page_size=4": "422"})
			if _, err := page.Named("Nobody", nil); err == nil {
				t.Error("nobody is known")
			}
		},
		"`LimitOffsetPagination`": func(t row) {
			for _, api := range []*rest.API{list(page.LimitOffset()), list(page.LimitOffsetPagination())} {
				answers(t, api, nil, map[string]string{
					"GET /x?limit=1&offset=4": `200 {"items":[{"id":5,...`, "GET /x?limit=1000": "200", "GET /x?limit=1001": "422",
					"GET /x?limit=0": "422", "GET /x": `200 {"items":[{"id":1,...`,
				})
			}
		},
		"`PageNumberPaginationExtra`": func(t row) {
			for _, p := range []page.Paginator{page.Number(), page.PageNumberPaginationExtra()} {
				api := mount(func(r *rest.Routes) { rest.List(r, "/x", Shelf{}.list) }, rest.Paginate(p), rest.Auth(keyed()))
				answers(t, api, []resttest.Option{resttest.Header("Host", "evil.example")}, map[string]string{
					"GET /x?key=bob-key&page_size=1&b=1&a=2": `200 {"count":5,"next":"/x?page_size=1&b=1&a=2&page=2","previous":null,...`,
					"GET /x?key=bob-key&page_size=200":       "200", "GET /x?key=bob-key&page_size=201": "422",
					"GET /x?key=bob-key&page=2": "404",
				})
			}
		},
		"`<lib>PaginationResponseSchema[Item]`": func(t row) {
			a := resttest.Do[page.OffsetPage[Book]](t, list(), http.MethodGet, "/x")
			same(t, []any{5, int64(5)}, []any{len(a.Body.Items), a.Body.Count})
			_ = a.Body
		},
		"`PaginatedResponseSchema[Item]`": func(t row) {
			a := resttest.Do[page.NumberPage[Book]](t, list(page.Number(page.Size(2))), http.MethodGet, "/x")
			same(t, []any{2, int64(5), "/x?page=2"}, []any{len(a.Body.Results), a.Body.Count, *a.Body.Next})
			_ = a.Body
		},
		"bare `paginate` on a route that declares a list of items": func(t row) {
			same(t, `["items","count"]`, wrapper(t, list(), "/x"))
			same(t, `"array"`, documented(t, list(page.None()), "paths", "/x", "get", "responses", "200", "content",
				"application/json", "schema", "type"))
		},
	}
}

type anyFilter struct {
	Title *string
	Price *float64
}

// FilterConnector has one of the fields be enough.
func (anyFilter) FilterConnector() driver.Connector { return driver.AnyOf }

type ownFilter struct{ Price *float64 }

// Filter is the condition of all fields.
func (f ownFilter) Filter(context.Context) query.Expr { return query.Where("price__lt", *f.Price) }

func filterRows() map[string]func(t row) {
	return map[string]func(t row){
		"`FilterSchema`": func(t row) {
			same(t, "Emma", titles(t, filtered[struct{ Title *string }](), "/x?title=Emma"))
			panics(t, func() { filtered[struct{ Colour *string }]() }) // books have none
		},
		"fields optional, default None": func(t row) {
			type filter struct {
				Title  *string
				Author rest.Opt[string]
				IDs    []int64 `filter:"__in" query:"id"`
				Price  float64 `default:"8"   filter:"__gte"`
			}
			same(t, "Emma Ulysses Dubliners Middlemarch", titles(t, filtered[filter](), "/x"))
			same(t, "Dubliners", titles(t, filtered[filter](), "/x?author=James+Joyce&id=4"))
		},
		"a field is a query parameter": func(t row) {
			type filter struct {
				MinPrice *float64 `filter:"price__gte"`
				Other    *string  `filter:"title"      query:"name"`
			}
			same(t, "Ulysses Dubliners", titles(t, filtered[filter](), "/x?min_price=12"))
			same(t, "Emma", titles(t, filtered[filter](), "/x?name=Emma"))
		},
		"types string, float": func(t row) {
			type filter struct {
				Title *string
				Price *float64
				ID    *int64
			}
			same(t, "Emma", titles(t, filtered[filter](), "/x?title=Emma&price=8&id=1"))
		},
		"`FilterLookup('__icontains')`": func(t row) {
			same(t, "Emma", titles(t, filtered[struct {
				Title *string `filter:"__icontains"`
			}](), "/x?title=EMM"))
		},
		"`FilterLookup('author__name__iexact')`": func(t row) {
			type novel struct{ Author struct{ Name string } }
			all := []novel{{struct{ Name string }{"Jane"}}, {struct{ Name string }{"James"}}}
			check := func(api *rest.API) {
				t.Helper()
				same(t, 1, len(resttest.Do[[]any](t, api, http.MethodGet, "/x?a=JANE").Body))
			}
			list := answer(all)
			check(mount(func(r *rest.Routes) {
				rest.List(r, "/x", list, page.None(), query.Filter[struct {
					A *string `filter:"author__name__iexact"`
				}]())
			}))
			check(mount(func(r *rest.Routes) {
				rest.List(r, "/x", list, page.None(), query.Filter[struct {
					A *string `filter:"author.name,iexact"`
				}]())
			}))
		},
		"`FilterLookup('price__gte')`, `'price__lte'`": func(t row) {
			type filter struct {
				Min *float64 `filter:"price__gte"`
				Max *float64 `filter:"price,lte"`
			}
			same(t, "Emma Middlemarch", titles(t, filtered[filter](), "/x?min=8&max=9"))
		},
		"several lookups in one": func(t row) {
			type filter struct {
				Either *string `filter:"title,icontains|author,icontains"`
				Both   *string `filter:"title,icontains&author,icontains"`
			}
			same(t, "Ulysses Dubliners", titles(t, filtered[filter](), "/x?either=joyce"))
			same(t, "", titles(t, filtered[filter](), "/x?both=joyce"))
		},
		"a field's name as a path: `price__gte`, `author__name`": func(t row) {
			same(t, "Ulysses", titles(t, filtered[struct {
				Price *float64 `query:"price__gte"`
			}](), "/x?price__gte=20"))
		},
		"connector of fields": func(t row) {
			type filter struct {
				Title *string
				Price *float64
			}
			same(t, "", titles(t, filtered[filter](), "/x?title=Emma&price=9"))
			same(t, "Emma Middlemarch", titles(t, filteredBy(query.Filter[filter]().Any()), "/x?title=Emma&price=9"))
			same(t, "Emma Middlemarch", titles(t, filtered[anyFilter](), "/x?title=Emma&price=9"))
		},
		"`filter_<field>`, `custom_expression`": func(t row) {
			same(t, "Emma Persuasion Middlemarch", titles(t, filtered[BookFilter](), "/x?cheap=yes"))
			same(t, "Emma Persuasion", titles(t, filtered[ownFilter](), "/x?price=9"))
		},
		"null": func(t row) {
			type item struct{ Price *float64 }
			price := 8.0
			api := mount(func(r *rest.Routes) {
				rest.List(r, "/x", func(context.Context, struct{}) (query.Set[item], error) {
					// Of what is not known nobody knows whether it is less, nor whether it is not.
					return query.Slice([]item{{&price}, {nil}}).Where(query.Not(query.Where("price__lt", 5))), nil
				}, page.None())
			})
			same(t, 1, len(resttest.Do[[]any](t, api, http.MethodGet, "/x").Body))
		},
	}
}
