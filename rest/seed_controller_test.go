package rest_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/permission"
	"github.com/spoolhq/spool/rest/resttest"
)

// shelf is a controller with all that the contract's base class has.
type shelf struct{ books map[int64]*book }

func newShelf() *shelf {
	return &shelf{
		books: map[int64]*book{1: {ID: 1, Title: "Emma", Owner: "bob"}, 2: {ID: 2, Title: "Ulysses", Owner: "carl"}},
	}
}

func (s *shelf) load(_ context.Context, id int64) (*book, error) { return s.books[id], nil }

func (s *shelf) Routes(r *rest.Routes) {
	rest.Get(r, "/{int:id}", s.get)
	rest.Post(r, "/", s.create, rest.Returns[book](http.StatusCreated), rest.Detail(http.StatusAccepted))
	rest.Get(r, "/context", s.context)
}

func (s *shelf) get(ctx context.Context, in byID) (*book, error) {
	return rest.GetOrNotFound(ctx, s.load, in.ID)
}

func (*shelf) create(ctx context.Context, in newBook) (*rest.Reply, error) {
	if in.Price == 0 {
		return rest.CreateResponse(ctx, nil, http.StatusAccepted), nil
	}
	return rest.CreateResponse(ctx, book{ID: 3, Title: in.Title, Price: in.Price}, http.StatusCreated), nil
}

func (s *shelf) context(ctx context.Context, _ struct{}) (map[string]any, error) {
	r := rest.RequestOf(ctx)
	rest.ResponseOf(ctx).Header().Set("X-Shelf", "1")
	rest.ResponseOf(ctx).SetCookie(&http.Cookie{Name: "seen", Value: "yes"})
	return map[string]any{
		"header": r.Header.Get("X-In"), "query": r.URL.Query().Get("q"), "permissions": len(rest.PermissionsOf(ctx)),
		"controller": rest.ControllerOf(ctx) == rest.Controller(s), "route": rest.RouteName(ctx),
	}, nil
}

// ownShelf overrides all helpers of the base.
type ownShelf struct{ *shelf }

func (ownShelf) CreateResponse(_ context.Context, body any, _ int) *rest.Reply {
	return &rest.Reply{Status: http.StatusCreated, Body: body, Header: http.Header{"X-Own": {"yes"}}}
}

func (ownShelf) CheckObjectPermission(_ context.Context, object any) error {
	return rest.Denied(fmt.Sprintf("own says no to %T", object))
}

type strictShelf struct{ *shelf }

func (strictShelf) GetOrNotFound(context.Context, func(context.Context, int64) (*book, error), int64) (*book, error) {
	return nil, rest.NotFound("own finds nothing")
}

func TestSeedControllerBase(t *testing.T) {
	t.Parallel()

	owned := permission.Owner(func(b *book) string { return b.Owner })
	mount := func(c rest.Controller, options ...rest.ControllerOption) *rest.API {
		api := quiet(rest.Auth(bearer(), rest.Anonymous))
		api.Register(c, append(options, rest.Prefix("/books"))...)
		return api
	}

	t.Run("request_and_response_object", func(t *testing.T) {
		t.Parallel()
		api := mount(newShelf(), rest.Permit(allow, allow))
		a := resttest.Do[map[string]any](t, api, http.MethodGet, "/books/context?q=x", resttest.Header("X-In", "y"))
		wantDiff(t, "context", map[string]any{
			"header": "y", "query": "x", "permissions": 2.0, "controller": true, "route": "Shelf.context",
		}, a.Body)
		wantDiff(t, "answer", []string{"1", "seen=yes"}, []string{a.Header.Get("X-Shelf"), a.Header.Get("Set-Cookie")})
	})
	t.Run("check_object_permission", func(t *testing.T) {
		t.Parallel()
		api := mount(newShelf(), rest.Permit(owned))
		wantStatus(t, api, http.MethodGet, "/books/1", http.StatusOK, resttest.Bearer("bob-key"))
		wantStatus(t, api, http.MethodGet, "/books/2", http.StatusForbidden, resttest.Bearer("bob-key"))
		wantStatus(t, api, http.MethodGet, "/books/2", http.StatusUnauthorized)
	})
	t.Run("create_response", func(t *testing.T) {
		t.Parallel()
		api := mount(newShelf())
		a := resttest.Do[book](t, api, http.MethodPost, "/books", resttest.JSON(newBook{"Emma", 5}))
		wantDiff(t, "with a body", resttest.Answer[book]{Status: 201, Body: book{ID: 3, Title: "Emma", Price: 5}},
			resttest.Answer[book]{Status: a.Status, Body: a.Body})
		a = resttest.Do[book](t, api, http.MethodPost, "/books", resttest.JSON(newBook{"Emma", 0}))
		wantDiff(t, "without", []any{202, ""}, []any{a.Status, a.Text})
	})
	t.Run("get_object_or_exception", func(t *testing.T) {
		t.Parallel()
		api := mount(newShelf())
		wantStatus(t, api, http.MethodGet, "/books/1", http.StatusOK)
		a := resttest.Do[book](t, api, http.MethodGet, "/books/9")
		wantDiff(t, "missing", []any{404, "Book was not found."}, []any{a.Status, a.Error.Detail})
	})
	t.Run("methods_can_be_overridden", func(t *testing.T) {
		t.Parallel()
		api := mount(ownShelf{newShelf()})
		if a := resttest.Do[book](
			t, api, http.MethodPost, "/books", resttest.JSON(newBook{"Emma", 0}),
		); a.Header.Get("X-Own") != "yes" {
			t.Errorf("CreateResponse: got %d %v", a.Status, a.Header)
		}
		a := resttest.Do[book](t, api, http.MethodGet, "/books/1", resttest.Bearer("bob-key"))
		wantDiff(t, "CheckObjectPermission", []any{403, "own says no to *rest_test.book"}, []any{a.Status, a.Error.Detail})
		a = resttest.Do[book](t, mount(strictShelf{newShelf()}), http.MethodGet, "/books/1")
		wantDiff(t, "GetOrNotFound", []any{404, "own finds nothing"}, []any{a.Status, a.Error.Detail})
	})
}

func TestSeedApiController(t *testing.T) {
	t.Parallel()

	t.Run("prefix_or_class", func(t *testing.T) {
		t.Parallel()
		c := routes(func(r *rest.Routes) {
			rest.Get(r, "/", handle("root"))
			rest.Get(r, "/all", handle("all"))
		})
		api := quiet()
		api.Register(c)
		api.Register(c, rest.Prefix("/a/b/"))
		for _, path := range []string{"/", "/all", "/a/b", "/a/b/all"} {
			wantStatus(t, api, http.MethodGet, path, http.StatusOK)
		}
	})
	t.Run("auth", func(t *testing.T) {
		t.Parallel()
		api := quiet()
		api.Register(routes(func(r *rest.Routes) { rest.Get(r, "/who", whoami) }), rest.Auth(apiKey(), bearer()))
		wantStatus(t, api, http.MethodGet, "/who", http.StatusUnauthorized)
		for _, option := range []resttest.Option{resttest.Query("key", "bob-key"), resttest.Bearer("bob-key")} {
			if a := resttest.Do[string](t, api, http.MethodGet, "/who", option); a.Body != "bob" {
				t.Errorf("got %d %q", a.Status, a.Body)
			}
		}
	})
	t.Run("tags", func(t *testing.T) {
		t.Parallel()
		api := quiet()
		api.Register(routes(func(r *rest.Routes) {
			rest.Get(r, "/a", handle(""))
			rest.Get(r, "/b", handle(""), rest.Tags("own"))
		}), rest.Tags("shop", "books"))
		api.Register(newShelf(), rest.Prefix("/shelf"))
		d := document(t, api)
		wantDiff(t, "controller", []any{"shop", "books"}, at(d, "paths", "/a", "get", "tags"))
		wantDiff(t, "route", []any{"own"}, at(d, "paths", "/b", "get", "tags"))
		wantDiff(t, "default", []any{"Shelf"}, at(d, "paths", "/shelf/{id}", "get", "tags"))
	})
	t.Run("permissions", func(t *testing.T) {
		t.Parallel()
		api := quiet(rest.Auth(bearer()))
		api.Register(routes(func(r *rest.Routes) { rest.Get(r, "/who", whoami) }),
			rest.Permit(permission.IsAuthenticated, permission.IsAdmin))
		wantStatus(t, api, http.MethodGet, "/who", http.StatusForbidden, resttest.Bearer("bob-key"))
		wantStatus(t, api, http.MethodGet, "/who", http.StatusOK, resttest.Bearer("ann-key"))
	})
	t.Run("auto_import", func(t *testing.T) {
		t.Parallel()
		var registry rest.Registry
		one := func(path string) rest.Controller {
			return routes(func(r *rest.Routes) { rest.Get(r, path, handle("")) })
		}
		registry.Add(one("/default"))
		registry.Add(one("/yes"), rest.AutoImport(true))
		registry.Add(one("/no"), rest.AutoImport(false))
		registry.Add(routes(func(r *rest.Routes) {
			r.Configure(rest.AutoImport(false))
			rest.Get(r, "/no-by-itself", handle(""))
		}))
		api := quiet()
		api.Import(&registry)
		for path, want := range map[string]int{"/default": 200, "/yes": 200, "/no": 404, "/no-by-itself": 404} {
			wantStatus(t, api, http.MethodGet, path, want)
		}
	})
	t.Run("urls_namespace", func(t *testing.T) {
		t.Parallel()
		api := quiet()
		api.Register(newShelf(), rest.Prefix("/a"))
		api.Register(newShelf(), rest.Prefix("/b"), rest.Namespace("other"))
		for name, want := range map[string]string{"Shelf.get": "/a/7", "other.get": "/b/7"} {
			if got, err := api.Reverse(name, 7); err != nil || got != want {
				t.Errorf("%s: got %q, %v", name, got, err)
			}
		}
	})
	t.Run("use_unique_op_id", func(t *testing.T) {
		t.Parallel()
		api := quiet()
		api.Register(newShelf(), rest.Prefix("/a"))
		api.Register(newShelf(), rest.Prefix("/b"))
		api.Register(newShelf(), rest.Prefix("/c"), rest.UniqueIDs(false))
		ids := operationIDs(document(t, api))
		wantDiff(t, "ids", []string{"Shelf_get", "Shelf_get_2", "get"},
			[]string{ids["GET /a/{id}"], ids["GET /b/{id}"], ids["GET /c/{id}"]})
		text := mustPanic(t, func() { api.Register(newShelf(), rest.Prefix("/d"), rest.UniqueIDs(false)) })
		if !strings.Contains(text, "the operation id get belongs to") {
			t.Errorf("got %q", text)
		}
	})
	t.Run("said_by_the_controller_itself", func(t *testing.T) {
		t.Parallel()
		c := routes(func(r *rest.Routes) {
			r.Configure(rest.Prefix("/own"), rest.Tags("own"), rest.Permit(deny))
			rest.Get(r, "/x", handle(""))
		})
		api := quiet()
		api.RegisterControllers(c)
		api.Register(c, rest.Prefix("/other"), rest.Open())
		wantStatus(t, api, http.MethodGet, "/own/x", http.StatusForbidden)
		wantStatus(t, api, http.MethodGet, "/other/x", http.StatusOK)
		wantDiff(t, "tags", []any{"own"}, at(document(t, api), "paths", "/other/x", "get", "tags"))
	})
}

func TestSeedRoute(t *testing.T) {
	t.Parallel()

	t.Run("http_get_post_put_patch_delete", func(t *testing.T) {
		t.Parallel()
		api := serve(func(r *rest.Routes) {
			rest.Get(r, "/x", handle("get"))
			rest.Post(r, "/x", handle("post"))
			rest.Put(r, "/x", handle("put"))
			rest.Patch(r, "/x", handle("patch"))
			rest.Delete(r, "/x", handle("delete"))
		})
		for _, m := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
			if a := resttest.Do[string](t, api, m, "/x"); a.Body != strings.ToLower(m) {
				t.Errorf("%s: got %d %q", m, a.Status, a.Body)
			}
		}
	})
	t.Run("http_generic", func(t *testing.T) {
		t.Parallel()
		api := serve(func(r *rest.Routes) { rest.Handle(r, []string{"put", "PATCH"}, "/{int:id}", routeOf) })
		for m, want := range map[string]int{"PUT": 200, "PATCH": 200, "POST": 405} {
			wantStatus(t, api, m, "/7", want)
		}
		wantDiff(t, "ids", map[string]string{"PUT /{id}": "Routes_routeOf_put", "PATCH /{id}": "Routes_routeOf_patch"},
			operationIDs(document(t, api)))
	})
	t.Run("response_of_a_schema", func(t *testing.T) {
		t.Parallel()
		api := quiet()
		api.Register(newShelf())
		wantDiff(t, "schema", any("#/components/schemas/Book"),
			at(document(t, api), "paths", "/{id}", "get", "responses", "200", "content", "application/json", "schema", "$ref"))
	})
	t.Run("response_of_a_list", func(t *testing.T) {
		t.Parallel()
		api := serve(func(r *rest.Routes) {
			rest.Get(r, "/books", func(context.Context, struct{}) ([]book, error) { return nil, nil })
		})
		d := document(t, api)
		wantDiff(t, "schema", any("array"),
			at(d, "paths", "/books", "get", "responses", "200", "content", "application/json", "schema", "type"))
		if _, text := get(t, api, "/books"); text != "[]" {
			t.Errorf("no books: got %q", text)
		}
	})
	t.Run("response_by_status", func(t *testing.T) {
		t.Parallel()
		api := quiet()
		api.Register(newShelf())
		responses := at(document(t, api), "paths", "/", "post", "responses")
		if at(responses, "201", "content", "application/json", "schema", "$ref") != "#/components/schemas/Book" ||
			at(responses, "202") == nil || at(responses, "202", "content") != nil {
			t.Errorf("got %v", responses)
		}
	})
	t.Run("response_paginated", func(t *testing.T) {
		t.Parallel()
		api := serve(func(r *rest.Routes) {
			rest.List(r, "/books", func(context.Context, struct{}) ([]book, error) { return []book{{ID: 1}}, nil },
				page.Number())
		})
		ref, _ := at(document(t, api), "paths", "/books", "get", "responses", "200", "content", "application/json", "schema",
			"$ref").(string)
		schema := at(document(t, api), "components", "schemas", strings.TrimPrefix(ref, "#/components/schemas/"), "required")
		wantDiff(t, "wrapper", []any{"count", "next", "previous", "results"}, schema)
	})
	t.Run("detail_of_a_status", func(t *testing.T) {
		t.Parallel()
		api := serve(func(r *rest.Routes) { rest.Delete(r, "/x", nothing) })
		a := resttest.Do[any](t, api, http.MethodDelete, "/x")
		wantDiff(t, "answer", []any{204, "", ""}, []any{a.Status, a.Text, a.Header.Get("Content-Type")})
	})
	t.Run("typed_segments", func(t *testing.T) {
		t.Parallel()
		api := serve(func(r *rest.Routes) { rest.Get(r, "/typed/{int:id}", routeOf); rest.Get(r, "/plain/{id}", routeOf) })
		for path, want := range map[string]int{"/typed/7": 200, "/typed/x": 404, "/plain/7": 200, "/plain/x": 422} {
			wantStatus(t, api, http.MethodGet, path, want)
		}
	})
	t.Run("schema_argument_is_the_body", func(t *testing.T) {
		t.Parallel()
		api := serve(func(r *rest.Routes) {
			rest.Post(r, "/books", func(_ context.Context, in newBook) (newBook, error) { return in, nil })
		})
		a := resttest.Do[newBook](t, api, http.MethodPost, "/books", resttest.JSON(newBook{"Emma", 2.5}))
		wantDiff(t, "body", newBook{"Emma", 2.5}, a.Body)
	})
	t.Run("scalars_are_path_or_query", func(t *testing.T) {
		t.Parallel()
		type in struct {
			ID   int64  `path:"id"    json:"id"`
			Lang string `query:"lang" json:"lang" default:"en"`
			All  bool   `query:"all"  json:"all"`
		}
		api := serve(func(r *rest.Routes) {
			rest.Get(r, "/{int:id}", func(_ context.Context, i in) (in, error) { return i, nil })
		})
		for target, want := range map[string]in{"/7": {7, "en", false}, "/8?lang=de&all=yes": {8, "de", true}} {
			wantDiff(t, target, want, resttest.Do[in](t, api, http.MethodGet, target).Body)
		}
	})
	t.Run("status_constants", func(t *testing.T) {
		t.Parallel()
		api := serve(func(r *rest.Routes) {
			rest.Post(r, "/x", handle("made"), rest.Status(http.StatusCreated))
		})
		wantStatus(t, api, http.MethodPost, "/x", http.StatusCreated)
		if at(document(t, api), "paths", "/x", "post", "responses", "200") != nil {
			t.Error("200 is documented, and never answered")
		}
	})
}

func routeOf(_ context.Context, in byID) (int64, error) { return in.ID, nil }
