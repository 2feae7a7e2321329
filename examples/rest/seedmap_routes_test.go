package main_test

import (
	"context"
	"net/http"
	"strings"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/resttest"
)

func answer[T any](v T) func(context.Context, struct{}) (T, error) {
	return func(context.Context, struct{}) (T, error) { return v, nil }
}

// nested has what may be nil.
type nested struct {
	Tags  []string       `json:"tags"`
	Sizes map[string]int `json:"sizes"`
}

func routeRows() map[string]func(t row) {
	return map[string]func(t row){
		"`route.get`, `http_get`": func(t row) {
			answers(t, mount(func(r *rest.Routes) { rest.Get(r, "/x", answer(1)) }), nil,
				map[string]string{"GET /x": "200 1", "HEAD /x": "200", "POST /x": "405"})
		},
		"`route.post`, `http_post`": func(t row) {
			answers(t, mount(func(r *rest.Routes) { rest.Post(r, "/x", answer(1)) }), nil,
				map[string]string{"POST /x": "200 1", "GET /x": "405"})
		},
		"`http_put`, `http_patch`": func(t row) {
			answers(t, mount(func(r *rest.Routes) { rest.Put(r, "/x", answer(1)); rest.Patch(r, "/x", answer(2)) }), nil,
				map[string]string{"PUT /x": "200 1", "PATCH /x": "200 2"})
		},
		"`http_delete`": func(t row) {
			answers(t, mount(func(r *rest.Routes) { rest.Delete(r, "/x", answer(1)) }), nil,
				map[string]string{"DELETE /x": "200 1"})
		},
		"`http_generic(path, methods=[...])`": func(t row) {
			api := mount(func(r *rest.Routes) { rest.Handle(r, []string{"PUT", "PATCH"}, "/x", who) })
			answers(t, api, nil, map[string]string{"PUT /x": "200", "PATCH /x": "200", "POST /x": "405"})
			put, patch := documented(t, api, "paths", "/x", "put", "operationId"),
				documented(t, api, "paths", "/x", "patch", "operationId")
			if put == patch {
				t.Error(put, patch)
			}
		},
		"`response=` a schema": func(t row) {
			api := mount(func(r *rest.Routes) { rest.Get(r, "/x", answer(books()[0])) })
			same(t, `{"$ref":"#/components/schemas/Book"}`,
				documented(t, api, "paths", "/x", "get", "responses", "200", "content", "application/json", "schema"))
		},
		"`response=` a list of a schema": func(t row) {
			answers(t, mount(func(r *rest.Routes) { rest.Get(r, "/x", answer([]Book(nil))) }), nil,
				map[string]string{"GET /x": "200 []"})
			answers(t, mount(func(r *rest.Routes) { rest.Get(r, "/x", answer(nested{})) }), nil,
				map[string]string{"GET /x": `200 {"tags":[],"sizes":{}}`})
		},
		"`response={200: A, 404: B}`": func(t row) {
			gone := rest.Also[Taken](http.StatusNotFound)
			api := mount(func(r *rest.Routes) {
				rest.Get(r, "/typed", func(context.Context, struct{}) (rest.Answer[Desk], error) {
					return rest.Answer[Desk]{Other: gone.With(Taken{By: "ada"})}, nil
				}, gone)
				reply := func(status int, body any) func(context.Context, struct{}) (*rest.Reply, error) {
					return answer(&rest.Reply{Status: status, Body: body})
				}
				both := []rest.RouteOption{rest.Returns[Desk](http.StatusOK), rest.Returns[Taken](http.StatusNotFound)}
				rest.Get(r, "/reply", reply(http.StatusNotFound, Taken{By: "ada"}), both...)
				rest.Get(r, "/undeclared", reply(http.StatusTeapot, Taken{}), both...)
				rest.Get(r, "/other", reply(http.StatusOK, Taken{}), both...)
			})
			answers(t, api, nil, map[string]string{
				"GET /typed": `404 {"by":"ada"}`, "GET /reply": `404 {"by":"ada"}`, "GET /undeclared": "500", "GET /other": "500",
			})
		},
		"`response=` a paginated wrapper": func(t row) {
			api := mount(func(r *rest.Routes) { rest.List(r, "/x", Shelf{}.list, page.Number()) })
			same(t, `["count","next","previous","results"]`, wrapper(t, api, "/x"))
		},
		"`Detail(status_code=204)`": func(t row) {
			api := mount(func(r *rest.Routes) {
				rest.Delete(r, "/x", answer(rest.NoContent{}))
				rest.Get(r, "/y", answer(&rest.Reply{Status: http.StatusAccepted}), rest.Returns[Book](http.StatusOK),
					rest.Detail(http.StatusAccepted))
			})
			answers(t, api, nil, map[string]string{"DELETE /x": "204", "GET /y": "202"})
			if a := resttest.Do[any](t, api, http.MethodDelete, "/x"); a.Text != "" || a.Header.Get("Content-Type") != "" {
				t.Error(a.Text, a.Header)
			}
		},
		"`{int:id}`, `{id}`": func(t row) {
			get := func(_ context.Context, in byID) (int64, error) { return in.ID, nil }
			text := func(_ context.Context, in struct {
				S string `path:"s"`
			},
			) (string, error) {
				return in.S, nil
			}
			api := mount(func(r *rest.Routes) {
				rest.Get(r, "/int/{int:id}", get)
				rest.Get(r, "/plain/{id}", get)
				for _, kind := range []string{"str", "slug", "uuid", "path"} {
					rest.Get(r, "/"+kind+"/{"+kind+":s}", text, rest.Name(kind))
				}
			})
			answers(t, api, nil, map[string]string{
				"GET /int/7": "200 7", "GET /int/x": "404", "GET /plain/7": "200 7", "GET /plain/x": "422",
				"GET /str/a": `200 "a"`, "GET /slug/a-b": `200 "a-b"`, "GET /slug/a.b": "404", "GET /uuid/x": "404",
				"GET /path/a/b": `200 "a/b"`,
			})
		},
		"a schema as an argument": func(t row) {
			change := func(_ context.Context, in struct{ Body Taken }) (Taken, error) { return in.Body, nil }
			api := mount(func(r *rest.Routes) {
				rest.Post(r, "/x", func(_ context.Context, in Taken) (Taken, error) { return in, nil })
				rest.Post(r, "/body", change)
				rest.Post(r, "/any", change, rest.Unknown(rest.IgnoreUnknown), rest.Name("any"))
			})
			answers(t, api, nil, map[string]string{
				`POST /x {"by":"a"}`: `200 {"by":"a"}`, `POST /body {"by":"a"}`: `200 {"by":"a"}`,
				`POST /any {"by":"a","c":1}`: `200 {"by":"a"}`, `POST /x {"by":"a","c":1}`: "422",
				`POST /x {"by":"a","by":"b"}`: "422", `POST /x {"By":"a"}`: "422",
			})
		},
		"other scalars: path or query": func(t row) {
			api := mount(func(r *rest.Routes) {
				rest.Get(r, "/{id}", func(_ context.Context, in struct {
					Number int64  `path:"id"`
					Words  string `query:"q"`
					Lang   string `header:"Accept-Language"`
					Seen   string `cookie:"seen"`
				},
				) (string, error) {
					return in.Words + in.Lang + in.Seen, nil
				})
			})
			answers(t, api, []resttest.Option{resttest.Header("Accept-Language", "b"), resttest.Cookie("seen", "c")},
				map[string]string{"GET /7?q=a": `200 "abc"`, "GET /7?q=a&q=b": "422"})
		},
		"module `status`": func(t row) { same(t, 204, http.StatusNoContent) },
		"status of success": func(t row) {
			api := mount(func(r *rest.Routes) {
				rest.Post(r, "/a", answer(1), rest.Status(http.StatusCreated))
				rest.Post(r, "/b", answer(1))
				rest.Post(r, "/c", answer(rest.NoContent{}))
				rest.Post(r, "/d", answer(&rest.Reply{Body: Taken{}}), rest.Returns[Taken](http.StatusAccepted),
					rest.Returns[Desk](http.StatusOK))
			})
			answers(t, api, nil, map[string]string{
				"POST /a": "201 1", "POST /b": "200 1", "POST /c": "204", "POST /d": `202 {"by":""}`,
			})
		},
	}
}

func shapeRows() map[string]func(t row) {
	type made struct {
		ID int64 `json:"id"`
	}
	type person struct {
		Name string `json:"name"`
	}
	list := Shelf{}.list
	echo := func(_ context.Context, in person) (person, error) { return in, nil }
	one := map[string]func(t row){
		"GET `<prefix>`: list of items": func(t row) {
			api := mount(func(r *rest.Routes) { rest.Get(r, "/a", answer([]made{{1}})); rest.List(r, "/b", list, page.None()) })
			answers(t, api, nil, map[string]string{"GET /a": `200 [{"id":1}]`, "GET /b": `200 [{"id":1,...`})
		},
		"GET `<prefix>` with `page`, `page_size` and filters": func(t row) {
			api := rest.New(silent())
			api.Register(routes(func(r *rest.Routes) { rest.List(r, "/", list, page.Number(), query.Filter[BookFilter]()) }),
				rest.Prefix("/books"))
			answers(t, api, nil, map[string]string{
				"GET /books?title=u&page=2&page_size=1": `200 {"count":3,"next":"/books?title=u&page=3&page_size=1","previous":"/books?title=u&page_size=1","results":[{"id":3,...`,
			})
		},
		"GET `<prefix>/limit`, bare": func(t row) {
			answers(t, mount(func(r *rest.Routes) { rest.List(r, "/limit", list) }), nil,
				map[string]string{"GET /limit?limit=1&offset=9": `200 {"items":[],"count":5}`})
		},
		"GET `<prefix>/{user_id}`": func(t row) {
			api := mount(func(r *rest.Routes) {
				rest.Get(r, "/{user_id}", func(_ context.Context, in struct {
					ID int64 `path:"user_id"`
				},
				) (made, error) {
					return made{in.ID}, nil
				})
			})
			answers(t, api, nil, map[string]string{"GET /9": `200 {"id":9}`})
		},
		"POST `<prefix>`: an object with `id`": func(t row) {
			api := rest.New(silent())
			api.Register(routes(func(r *rest.Routes) {
				rest.Post(r, "/", func(context.Context, person) (made, error) { return made{7}, nil })
			}), rest.Prefix("/users"))
			answers(t, api, nil, map[string]string{`POST /users {"name":"a"}`: `200 {"id":7}`})
		},
		"POST `<prefix>/create/`: 200": func(t row) {
			create := func(r *rest.Routes) { rest.Post(r, "/users/create/", echo) }
			answers(t, mount(create), nil, map[string]string{
				`POST /users/create/ {"name":"a"}`: `200 {"name":"a"}`, `POST /users/create {"name":"a"}`: "308",
			})
			same(t, "./create/", resttest.Do[any](t, mount(create), http.MethodPost, "/users/create").Header.Get("Location"))
			answers(t, mount(create, rest.StrictSlashes()), nil,
				map[string]string{`POST /users/create/ {"name":"a"}`: "200", `POST /users/create {"name":"a"}`: "404"})
		},
		"PUT and PATCH `<prefix>/{int:id}`": func(t row) {
			api := mount(func(r *rest.Routes) {
				rest.Handle(r, []string{"PUT", "PATCH"}, "/{int:id}", func(_ context.Context, in struct {
					byID
					person
				},
				) (person, error) {
					return in.person, nil
				})
			})
			answers(t, api, nil, map[string]string{
				`PUT /8 {"name":"a"}`: `200 {"name":"a"}`, `PATCH /8 {"name":"b"}`: `200 {"name":"b"}`,
			})
		},
		"DELETE `<prefix>/{int:id}`: 204, empty": func(t row) {
			api := mount(func(r *rest.Routes) {
				rest.Delete(r, "/{int:id}", func(context.Context, byID) (rest.NoContent, error) { return rest.NoContent{}, nil })
			})
			answers(t, api, nil, map[string]string{"DELETE /8": "204"})
		},
		"the application object": func(row) { var _ http.Handler = rest.New() },
		"`register_controllers(A, B)`": func(t row) {
			a, b := routes(func(r *rest.Routes) { rest.Get(r, "/a", answer(1)) }),
				routes(func(r *rest.Routes) { rest.Get(r, "/b", answer(2)) })
			api := rest.New(silent())
			api.RegisterControllers(a, b)
			api.Register(a, rest.Prefix("/more"))
			answers(t, api, nil, map[string]string{"GET /a": "200 1", "GET /b": "200 2", "GET /more/a": "200 1"})
		},
		"`title`": func(t row) {
			api := rest.New(rest.Title("Shop"), rest.Version("2"), rest.About("Sells."), rest.Servers("https://shop.example"))
			same(t, `{"description":"Sells.","title":"Shop","version":"2"}`, documented(t, api, "info"))
			if got := documented(t, api, "servers"); !strings.Contains(got, "https://shop.example") {
				t.Error(got)
			}
		},
	}
	return one
}
