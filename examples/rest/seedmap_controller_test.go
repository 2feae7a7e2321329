package main_test

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/permission"
	"github.com/spoolhq/spool/rest/resttest"
)

// counter has what it depends on as a field.
type counter struct{ n *int }

func (c counter) Routes(r *rest.Routes) {
	rest.Get(r, "/count", func(context.Context, struct{}) (int, error) {
		*c.n++
		return *c.n, nil
	})
}

// owned overrides the helpers of a base class.
type owned struct{}

func (owned) Routes(r *rest.Routes) {
	rest.Get(r, "/one", func(ctx context.Context, _ struct{}) (Book, error) {
		return rest.GetOrNotFound(ctx, func(context.Context, int64) (Book, error) { return Book{}, rest.ErrNotFound },
			int64(1))
	})
	rest.Get(r, "/two", func(ctx context.Context, _ struct{}) (Book, error) {
		return Book{}, rest.CheckObjectPermission(ctx, Book{})
	})
	rest.Get(r, "/three", func(ctx context.Context, _ struct{}) (*rest.Reply, error) {
		return rest.CreateResponse(ctx, Book{ID: 3}, http.StatusOK), nil
	}, rest.Returns[Book](http.StatusOK))
}

func (owned) GetOrNotFound(context.Context, func(context.Context, int64) (Book, error), int64) (Book, error) {
	return Book{ID: 1}, nil
}

func (owned) CheckObjectPermission(context.Context, any) error { return rest.Denied("mine says no") }

func (owned) CreateResponse(_ context.Context, body any, status int) *rest.Reply {
	return &rest.Reply{Status: status, Body: body, Header: http.Header{"X-Own": {"yes"}}}
}

func baseRows() map[string]func(t row) {
	return map[string]func(t row){
		"a class that derives from the base, one instance per request (two, in fact)": func(t row) {
			api := rest.New(silent())
			api.Register(counter{new(int)})
			for _, want := range []string{"200 1", "200 2", "200 3"} { // one value for all requests
				answers(t, api, nil, map[string]string{"GET /count": want})
			}
		},
		"route context": func(t row) {
			api := mount(func(r *rest.Routes) {
				rest.Get(r, "/x", func(ctx context.Context, _ struct{}) (string, error) {
					return rest.RouteName(ctx), nil
				}, rest.Name("here"),
					rest.Permit(permission.If(func(ctx context.Context) bool {
						return strings.HasSuffix(rest.RouteName(ctx), "here")
					})))
			})
			answers(t, api, nil, map[string]string{"GET /x": `200 "Routes.here"`})
		},
		"`request`: headers, query, body": func(t row) {
			api := mount(func(r *rest.Routes) {
				rest.Post(r, "/x", func(ctx context.Context, in Book) (string, error) {
					q := rest.RequestOf(ctx)
					return q.URL.Query().Get("q") + q.Header.Get("X-In") + in.Title, nil
				})
			})
			answers(t, api, []resttest.Option{resttest.Header("X-In", "b")},
				map[string]string{`POST /x?q=a {"id":1,"title":"c","author":"","price":1}`: `200 "abc"`})
		},
		"`permission_classes`": func(t row) {
			api := mount(func(r *rest.Routes) {
				rest.Get(r, "/x", func(ctx context.Context, _ struct{}) (int, error) { return len(rest.PermissionsOf(ctx)), nil },
					rest.Permit(permission.AllowAny, permission.Not(permission.IsAdmin)))
			})
			answers(t, api, nil, map[string]string{"GET /x": "200 2"})
		},
		"`response`": func(t row) {
			api := mount(func(r *rest.Routes) {
				rest.Get(r, "/x", func(ctx context.Context, in struct {
					Status int `query:"status"`
				},
				) (int, error) {
					rest.ResponseOf(ctx).Header().Set("X-Own", "yes")
					rest.ResponseOf(ctx).SetCookie(&http.Cookie{Name: "seen", Value: "1"})
					rest.ResponseOf(ctx).SetStatus(in.Status)
					return 7, nil
				}, rest.Returns[int](http.StatusAccepted))
			})
			answers(t, api, nil, map[string]string{"GET /x?status=202": "202 7", "GET /x?status=418": "500"})
			a := resttest.Do[int](t, api, http.MethodGet, "/x?status=202")
			same(t, []string{"yes", "seen=1"}, []string{a.Header.Get("X-Own"), a.Header.Get("Set-Cookie")})
		},
		"`check_object_permission`": func(t row) {
			check := func(ctx context.Context, in struct {
				Owner string `query:"owner"`
			},
			) (string, error) {
				return "seen", rest.CheckObjectPermission(ctx, Book{Author: in.Owner})
			}
			api := mount(func(r *rest.Routes) {
				own := permission.Owner(func(b Book) string { return b.Author })
				other := permission.Owner(func(int) string { return "" })
				rest.Get(r, "/x", check, rest.Permit(own))
				rest.Get(r, "/other", check, rest.Permit(other))
			}, rest.Auth(keyed()))
			answers(t, api, nil, map[string]string{
				"GET /x?owner=bob&key=bob-key": `200 "seen"`, "GET /x?owner=ada&key=bob-key": "403",
				"GET /other?owner=bob&key=bob-key": "500",
			})
		},
		"`create_response(message, status_code=200)`": func(t row) {
			api := mount(func(r *rest.Routes) {
				rest.Get(r, "/x", func(ctx context.Context, in struct {
					Nil   bool `query:"nil"`
					Wrong bool `query:"wrong"`
				},
				) (*rest.Reply, error) {
					switch {
					case in.Nil:
						return rest.CreateResponse(ctx, nil, http.StatusNoContent), nil
					case in.Wrong:
						return rest.CreateResponse(ctx, 7, http.StatusOK), nil
					}
					return rest.CreateResponse(ctx, Book{ID: 1}, http.StatusOK), nil
				}, rest.Returns[Book](http.StatusOK), rest.Detail(http.StatusNoContent))
				rest.Get(r, "/typed", func(context.Context, struct{}) (rest.Answer[int], error) {
					return rest.Answer[int]{Body: 7}, nil
				})
			})
			answers(t, api, nil, map[string]string{"GET /x": `200 {"id":1,...`, "GET /x?nil=true": "204", "GET /typed": "200 7"})
			if a := resttest.Do[any](t, api, http.MethodGet, "/x?wrong=true"); a.Status != 500 ||
				!strings.Contains(a.Text, "Book") || !strings.Contains(a.Text, "Int") {
				t.Errorf("got %d %s", a.Status, a.Text)
			}
		},
		"`get_object_or_exception`": func(t row) {
			api := mount(func(r *rest.Routes) {
				rest.Get(r, "/{int:id}", func(ctx context.Context, in byID) (*Book, error) {
					return rest.GetOrNotFound(ctx, func(_ context.Context, id int64) (*Book, error) {
						if id == 1 {
							return &books()[0], nil
						}
						return nil, nil
					}, in.ID)
				}, rest.Permit(permission.Owner(func(b *Book) string { return b.Author })), rest.Auth(keyed()))
			})
			answers(t, api, nil, map[string]string{"GET /1?key=bob-key": "403"}) // the object permissions are asked
			a := resttest.Do[any](t, api, http.MethodGet, "/9?key=bob-key")
			same(t, []any{404, "Book was not found."}, []any{a.Status, a.Error.Detail})
		},
		"overriding these methods": func(t row) {
			api := rest.New(silent())
			api.Register(owned{})
			answers(t, api, nil, map[string]string{"GET /one": `200 {"id":1,...`, "GET /two": "403"})
			if a := resttest.Do[any](t, api, http.MethodGet, "/three"); a.Header.Get("X-Own") != "yes" {
				t.Error(a.Status, a.Header)
			}
			var _ rest.ObjectPermissionChecker = owned{}
			var _ rest.ResponseCreator = owned{}
			var _ rest.ObjectGetter[Book, int64] = owned{}
		},
		"dependency injection": func(t row) {
			made := 0
			api := mount(func(r *rest.Routes) {
				rest.Get(r, "/x", func(ctx context.Context, _ struct{}) (int, error) {
					first, err := rest.Resolve[*basket](ctx)
					second, again := rest.Resolve[*basket](ctx)
					if first != second {
						t.Error("two services of one request")
					}
					return made, errors.Join(err, again)
				})
			},
				rest.Provide(func(rest.Services) (*stock, error) { return &stock{}, nil }),
				rest.ProvideRequest(func(_ context.Context, s rest.Services) (*basket, error) {
					made++
					store, err := rest.From[*stock](s)
					return &basket{store}, err
				}))
			answers(t, api, nil, map[string]string{"GET /x": "200 1"})
			answers(t, api, nil, map[string]string{"GET /x": "200 2"})
		},
	}
}

func controllerRows() map[string]func(t row) {
	hello := func(r *rest.Routes) { rest.Get(r, "/x", who, rest.Name("get")) }
	register := func(options ...rest.ControllerOption) *rest.API {
		api := rest.New(silent(), rest.Auth(keyed()), rest.Permit(permission.IsAdmin))
		api.Register(routes(hello), options...)
		return api
	}
	return map[string]func(t row){
		"1 `prefix_or_class`": func(t row) {
			answers(t, register(rest.Prefix("/a")), nil, map[string]string{"GET /a/x?key=ada-key": `200 "ada"`})
			api := rest.New(silent())
			api.Register(routes(func(r *rest.Routes) {
				rest.Get(r, "/x", func(_ context.Context, in struct {
					B int `path:"b"`
					C int `path:"c"`
				},
				) (int, error) {
					return in.B + in.C, nil
				})
			}), rest.Prefix("/a/{b}/{int:c}"))
			answers(t, api, nil, map[string]string{"GET /a/1/2/x": "200 3"})
			answers(t, register(), nil, map[string]string{"GET /x?key=ada-key": `200 "ada"`})
		},
		"2 `auth`": func(t row) {
			answers(t, register(rest.Auth(keyed(), rest.Anonymous), rest.Open()), nil,
				map[string]string{"GET /x": "200", "GET /x?key=wrong": "401"})
			answers(t, register(), nil, map[string]string{"GET /x": "401"})
			answers(t, register(rest.NoAuth(), rest.Open()), nil, map[string]string{"GET /x": "200"})
			if text := panics(t, func() { rest.Auth() }); !strings.Contains(text, "NoAuth") {
				t.Error(text)
			}
		},
		"3 `tags`": func(t row) {
			same(t, `["a","b"]`, documented(t, register(rest.Tags("a", "b")), "paths", "/x", "get", "tags"))
			same(t, `["Routes"]`, documented(t, register(), "paths", "/x", "get", "tags"))
		},
		"4 `permissions`": func(t row) {
			answers(t, register(rest.Permit(permission.IsAuthenticated, permission.Not(permission.IsAdmin))), nil,
				map[string]string{"GET /x?key=ada-key": "403", "GET /x?key=bob-key": "200"})
			answers(t, register(), nil, map[string]string{"GET /x?key=bob-key": "403"})
			answers(t, register(rest.Open()), nil, map[string]string{"GET /x?key=bob-key": "200"})
			if text := panics(t, func() { rest.Permit() }); !strings.Contains(text, "Open") {
				t.Error(text)
			}
		},
		"5 `auto_import`": func(t row) {
			var registry rest.Registry
			registry.Add(routes(hello), rest.Prefix("/yes"))
			registry.Add(routes(hello), rest.Prefix("/no"), rest.AutoImport(false))
			api := rest.New(silent())
			api.Import(&registry)
			answers(t, api, nil, map[string]string{"GET /yes/x": "200", "GET /no/x": "404"})
		},
		"6 `urls_namespace`": func(t row) {
			for namespace, api := range map[string]*rest.API{"shop": register(rest.Namespace("shop")), "Routes": register()} {
				url, err := api.Reverse(namespace + ".get")
				same(t, "/x", url)
				if err != nil {
					t.Error(err)
				}
			}
		},
		"7 `use_unique_op_id`": func(t row) {
			api := register()
			api.Register(routes(hello), rest.Prefix("/again"))
			same(t, `"Routes_get"`, documented(t, api, "paths", "/x", "get", "operationId"))
			same(t, `"Routes_get_2"`, documented(t, api, "paths", "/again/x", "get", "operationId"))
			plain := register(rest.UniqueIDs(false))
			same(t, `"get"`, documented(t, plain, "paths", "/x", "get", "operationId"))
			panics(t, func() { plain.Register(routes(hello), rest.Prefix("/again"), rest.UniqueIDs(false)) })
		},
	}
}

func settingRows() map[string]func(t row) {
	list := func(t row, extra map[string]any, options ...rest.APIOption) *rest.API {
		t.Helper()
		settings, err := rest.FromSettings(rest.Settings{"REST_EXTRA": extra, "OTHER": 1})
		if err != nil {
			t.Fatal(err)
		}
		return mount(func(r *rest.Routes) { rest.List(r, "/x", Shelf{}.list) }, append(options, settings)...)
	}
	return map[string]func(t row){
		"`<LIB>_EXTRA`": func(t row) {
			answers(t, list(t, map[string]any{}), nil, map[string]string{"GET /x?limit=1": `200 {"items":[...`})
			_, err := rest.FromSettings(rest.Settings{"REST_EXTRA": map[string]any{"PAGINATION_KLASS": "x"}})
			if err == nil || !strings.Contains(err.Error(), "PAGINATION_KLASS") {
				t.Errorf("an unknown key: %v", err)
			}
		},
		"`PAGINATION_CLASS`": func(t row) {
			for _, name := range []string{"PageNumberPaginationExtra", "ninja_extra.pagination.PageNumberPaginationExtra"} {
				extra := map[string]any{"PAGINATION_CLASS": name}
				answers(t, list(t, extra), nil, map[string]string{"GET /x?page_size=1": `200 {"count":5,"next":...`})
				answers(t, list(t, extra, rest.Paginate(page.None())), nil, map[string]string{"GET /x": `200 [...`})
			}
			if _, err := rest.FromSettings(rest.Settings{
				"REST_EXTRA": map[string]any{"PAGINATION_CLASS": "CursorPagination"},
			}); err == nil {
				t.Error("a cursor without a secret")
			}
		},
		"`PAGINATION_PER_PAGE` (Django Ninja Extra)": func(t row) {
			for _, name := range []string{"LimitOffsetPagination", "PageNumberPaginationExtra"} {
				a := resttest.Do[struct{ Items, Results []Book }](t,
					list(t, map[string]any{"PAGINATION_CLASS": name, "PAGINATION_PER_PAGE": 2}), http.MethodGet, "/x")
				same(t, 2, len(a.Body.Items)+len(a.Body.Results))
			}
		},
	}
}
