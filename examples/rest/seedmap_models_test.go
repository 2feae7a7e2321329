package main_test

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/auth"
	"github.com/spoolhq/spool/rest/crud"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/permission"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/resttest"
	"github.com/spoolhq/spool/rest/throttle"
)

// novel is a model with a field that is only read and one that is only sent.
type novel struct {
	ID     int64  `json:"id"`
	Title  string `json:"title"     minLength:"1"`
	Sold   int    `crud:"readonly"  json:"sold"`
	Secret string `crud:"writeonly" json:"secret,omitempty"`
}

type novels struct{ crud.Controller[novel, int64] }

// library has two novels, b and a.
func library(t row, config crud.ModelConfig[novel]) *rest.API {
	t.Helper()

	store := crud.Memory[novel, int64](crud.MemoryConfig{Unique: [][]string{{"title"}}})
	api := rest.New(silent())
	api.Register(&novels{crud.New(store, config)}, rest.Prefix("/novels"))
	fill := rest.New(silent())
	fill.Register(&novels{crud.New(store, crud.ModelConfig[novel]{})}, rest.Prefix("/novels"))
	answers(t, fill, nil, map[string]string{`POST /novels {"title":"b"}`: "201"})
	answers(t, fill, nil, map[string]string{`POST /novels {"title":"a"}`: "201"})
	return api
}

type onlyTitle struct {
	Title string `json:"title"`
}

type checked struct {
	Title    string `json:"title"    minLength:"1"`
	Quantity int    `json:"quantity"`
}

// loud is a service that shouts.
type loud struct{ crud.Service[novel, int64] }

func modelRows() map[string]func(t row) {
	const b, a = `{"id":1,"title":"b","sold":0}`, `{"id":2,"title":"a","sold":0}`
	paged := func(p crud.ModelPagination) crud.ModelConfig[novel] { return crud.ModelConfig[novel]{Pagination: p} }
	return map[string]func(t row){
		"`ModelControllerBase`": func(t row) {
			answers(t, library(t, crud.ModelConfig[novel]{}), nil, map[string]string{"GET /novels/1": "200 " + b})
		},
		"`model_config = ModelConfig(...)`": func(t row) {
			api := library(t, crud.ModelConfig[novel]{})
			answers(t, api, nil, map[string]string{
				`PUT /novels/1 {"title":"c"}`: "200", "GET /novels": "200", `POST /novels {"title":"d"}`: "201",
				`PATCH /novels/2 {"title":"e"}`: "200",
			})
			answers(t, api, nil, map[string]string{"DELETE /novels/1": "204"})
		},
		"`model=`": func(t row) {
			same(t, `{"$ref":"#/components/schemas/Novel"}`,
				documented(t, library(t, crud.ModelConfig[novel]{}), "paths", "/novels/{id}", "get", "responses", "200", "content",
					"application/json", "schema"))
		},
		"`pagination=ModelPagination(...)`": func(t row) {
			answers(t, library(t, crud.ModelConfig[novel]{}), nil,
				map[string]string{"GET /novels?limit=1": `200 {"items":[` + b + `],"count":2}`})
			answers(t, library(t, paged(crud.ModelPagination{Klass: page.None()})), nil,
				map[string]string{"GET /novels": "200 [" + b + "," + a + "]"})
		},
		"`klass=`": func(t row) {
			number := `200 {"count":2,"next":"/novels?page=2","previous":null,"results":[` + b + `]}`
			for _, p := range []crud.ModelPagination{
				{Klass: page.Number, PaginatorKwargs: map[string]any{"page_size": 1}},
				{PaginatorKwargs: map[string]any{"page_size": 1}},
				{Klass: "PageNumberPaginationExtra", PaginatorKwargs: map[string]any{"page_size": 1}},
				{Klass: page.Number(page.Size(1))},
			} {
				answers(t, library(t, paged(p)), nil, map[string]string{"GET /novels": number})
			}
		},
		"`filter_schema=`": func(t row) {
			answers(t, library(t, paged(crud.ModelPagination{
				Klass: page.None(), FilterSchema: query.Filter[struct{ Title *string }](),
			})), nil, map[string]string{"GET /novels?title=a": "200 [" + a + "]"})
		},
		"`paginator_kwargs={\"page_size\": 20}`": func(t row) {
			answers(t, library(t, paged(crud.ModelPagination{
				PaginatorKwargs: map[string]any{"page_size": 1, "max_page_size": 1},
			})), nil, map[string]string{"GET /novels?page_size=2": "422"})
		},
		"`allowed_routes`": func(t row) {
			answers(t, library(t, crud.ModelConfig[novel]{AllowedRoutes: []crud.Route{crud.List}}), nil,
				map[string]string{"GET /novels": "200", `POST /novels {"title":"c"}`: "405"})
		},
		"`create_schema`, `update_schema`, `patch_schema`, `retrieve_schema`": func(t row) {
			into := func(_ context.Context, in onlyTitle, row *novel) error { row.Title = in.Title + "!"; return nil }
			body := crud.Input[onlyTitle, novel](into)
			api := library(t, crud.ModelConfig[novel]{
				Create: body, Update: body, Patch: body, Out: crud.Output(func(n novel) onlyTitle { return onlyTitle{n.Title} }),
			})
			answers(t, api, nil, map[string]string{
				`POST /novels {"title":"c"}`: `201 {"title":"c!"}`, `PUT /novels/1 {"title":"d"}`: `200 {"title":"d!"}`,
				`PATCH /novels/2 {"title":"e"}`: `200 {"title":"e!"}`,
			})
		},
		"`<route>_route_info`": func(t row) {
			api := library(t, crud.ModelConfig[novel]{
				Options:      []rest.RouteOption{rest.Tags("all")},
				RouteOptions: map[crud.Route][]rest.RouteOption{crud.List: {rest.Summary("Mine")}},
			})
			same(t, `["all"]`, documented(t, api, "paths", "/novels/{id}", "get", "tags"))
			same(t, `"Mine"`, documented(t, api, "paths", "/novels", "get", "summary"))
		},
		"`service`": func(t row) {
			api := rest.New(silent())
			api.Register(
				&novels{
					crud.NewWith[novel, int64](loud{crud.NewService(crud.Memory[novel, int64](crud.MemoryConfig{}))},
						crud.ModelConfig[novel]{}),
				},
				rest.Prefix("/novels"),
			)
			answers(t, api, nil, map[string]string{`POST /novels {"title":"a"}`: "201"})
			answers(t, api, nil, map[string]string{"GET /novels/1": `200 {"id":1,"title":"a","sold":0}`})
		},
		"`read_only_fields`, `write_only_fields`": func(t row) {
			for _, sent := range []string{`"secret":"s"`, `"sold":7`} { // what is only read is left as it is
				answers(t, library(t, crud.ModelConfig[novel]{}), nil,
					map[string]string{`POST /novels {"title":"c",` + sent + `}`: `201 {"id":3,"title":"c","sold":0}`})
			}
		},
		"generated paths `prefix/`, `prefix/{int:id}`": func(t row) {
			api := library(t, paged(crud.ModelPagination{Ordering: []string{"title"}}))
			answers(t, api, nil, map[string]string{
				"GET /novels":                 `200 {"items":[` + a + `,` + b + `],"count":2}`,
				"GET /novels?ordering=-title": `200 {"items":[` + b + `,` + a + `],"count":2}`, "GET /novels/": "308",
				`POST /novels {"title":"a"}`: "409", `PUT /novels/1 {}`: "422", "GET /novels/x": "404",
			})
			same(t, "../novels", resttest.Do[any](t, api, http.MethodGet, "/novels/").Header.Get("Location"))
			answers(t, library(t, paged(crud.ModelPagination{})), nil,
				map[string]string{"GET /novels": `200 {"items":[` + b + `,` + a + `],"count":2}`})
			answers(t, library(t, paged(crud.ModelPagination{DefaultOrdering: []string{"title"}})), nil,
				map[string]string{"GET /novels": `200 {"items":[` + a + `,` + b + `],"count":2}`})
		},
	}
}

func openRows() map[string]func(t row) {
	guarded := func(options ...rest.APIOption) *rest.API {
		return mount(func(r *rest.Routes) {
			rest.Get(r, "/x", who, rest.Permit(permission.IsAuthenticated))
			rest.Get(r, "/admin", who, rest.Permit(permission.IsAdmin))
		}, append(options, rest.Auth(keyed(), auth.Bearer(auth.Keys(map[string]*rest.User{"token": {ID: "eve"}}))))...)
	}
	return map[string]func(t row){
		"missing or wrong credentials": func(t row) {
			answers(t, guarded(rest.Errors(rest.DetailErrors)), nil,
				map[string]string{"GET /x": `401 {"detail":"Unauthorized"}`, "GET /x?key=wrong": "401"})
			if got := resttest.Do[any](t, guarded(), http.MethodGet, "/x").Header.Values("WWW-Authenticate"); len(got) == 0 {
				t.Error("no challenge")
			}
		},
		"authentication classes": func(t row) {
			answers(t, guarded(), nil, map[string]string{"GET /x?key=bob-key": `200 "bob"`})
		},
		"a permission for authenticated users": func(t row) {
			answers(t, guarded(), []resttest.Option{resttest.Bearer("token")}, map[string]string{"GET /x": `200 "eve"`})
			answers(t, guarded(), nil, map[string]string{"GET /x?key=bob-key": "200", "GET /x": "401"})
		},
		"a denied permission": func(t row) {
			a := resttest.Do[any](t, guarded(), http.MethodGet, "/admin?key=bob-key")
			same(t, 403, a.Status)
			api := mount(func(r *rest.Routes) {
				rest.Get(r, "/x", who, rest.Permit(permission.If(func(context.Context) bool { return false })))
				rest.Get(r, "/own", who, rest.Permit(permission.WithMessage(permission.Not(permission.AllowAny), "Mine.")))
			}, rest.Auth(keyed(), rest.Anonymous))
			answers(t, api, nil, map[string]string{"GET /x": "401"})
			same(t, "You do not have permission to perform this action.",
				resttest.Do[any](t, api, http.MethodGet, "/x?key=bob-key").Error.Detail)
			same(t, "Mine.", resttest.Do[any](t, api, http.MethodGet, "/own?key=bob-key").Error.Detail)
		},
		"a missing object": func(t row) {
			answers(t, mount(func(r *rest.Routes) {
				rest.Get(r, "/x", func(context.Context, struct{}) (Book, error) { return Book{}, errors.Join(rest.ErrNotFound) })
			}), nil, map[string]string{"GET /x": "404"})
		},
		"failed validation": func(t row) {
			post := func(options ...rest.APIOption) *rest.API {
				return mount(func(r *rest.Routes) {
					rest.Post(r, "/x", func(_ context.Context, in checked) (checked, error) { return in, nil })
				}, options...)
			}
			problems, details := post(), post(rest.Errors(rest.DetailErrors))
			a := resttest.Do[any](t, problems, http.MethodPost, "/x",
				resttest.JSON(map[string]any{"title": "", "quantity": "x"}))
			d := resttest.Do[any](t, details, http.MethodPost, "/x", resttest.JSON(map[string]any{"title": "", "quantity": "x"}))
			if a.Status != 422 || len(a.Error.Faults) < 2 || !strings.Contains(a.Text, "must be") ||
				strings.Contains(a.Text, "Input should") || !strings.Contains(d.Text, "should") {
				t.Errorf("%s\n%s", a.Text, d.Text)
			}
			answers(t, problems, nil, map[string]string{"POST /x {": "400"})
		},
		"events": func(t row) {
			a := resttest.Do[any](t, mount(func(r *rest.Routes) {
				rest.Get(r, "/x", func(context.Context, struct{}) (rest.Events[int], error) {
					return rest.Events[int]{
						Items: func(yield func(rest.Event[int], error) bool) { yield(rest.Event[int]{Data: 7}, nil) },
					}, nil
				})
			}), http.MethodGet, "/x")
			same(t, []any{"text/event-stream", true}, []any{a.Header.Get("Content-Type"), strings.Contains(a.Text, "data: 7")})
		},
		"page size, greatest page size": func(t row) {
			api := mount(func(r *rest.Routes) {
				rest.List(r, "/a", Shelf{}.list)
				rest.List(r, "/b", Shelf{}.list, page.Number())
			})
			answers(t, api, nil, map[string]string{
				"GET /a?limit=1000": "200", "GET /a?limit=1001": "422", "GET /b?page_size=200": "200",
				"GET /b?page_size=201": "422",
			})
			for _, path := range []string{"/a", "/b"} {
				if got := documented(t, api, "paths", path, "get", "parameters"); !strings.Contains(got, `"default":100`) {
					t.Error(got)
				}
			}
		},
		"rate limits": func(t row) {
			many := map[string]string{}
			open := mount(func(r *rest.Routes) { rest.Get(r, "/x", answer(1)) })
			for range 50 {
				answers(t, open, nil, map[string]string{"GET /x": "200"})
			}
			bound := mount(func(r *rest.Routes) { rest.Get(r, "/x", answer(1)) }, rest.Throttles(throttle.Global("1/hour")))
			many["GET /x"] = "200"
			answers(t, bound, nil, many)
			answers(t, bound, nil, map[string]string{"GET /x": "429"})
		},
		"versioning": func(t row) {
			mux := http.NewServeMux()
			for i, base := range []string{"/v1", "/v2"} {
				mux.Handle(base+"/", mount(func(r *rest.Routes) { rest.Get(r, "/x", answer(i)) }, rest.BasePath(base)))
			}
			answers(t, mux, nil, map[string]string{"GET /v1/x": "200 0", "GET /v2/x": "200 1"})
		},
	}
}
