package rest_test

import (
	"context"
	"mime/multipart"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/auth"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/resttest"
)

// TestMistakes has what refuses to register: the message says what is wrong, and where.
func TestMistakes(t *testing.T) {
	t.Parallel()

	type two struct {
		A int64 `path:"a"`
		B int64 `path:"b"`
	}
	get := func(path string, options ...rest.RouteOption) func(r *rest.Routes) {
		return func(r *rest.Routes) { rest.Get(r, path, handle("x"), options...) }
	}
	for want, register := range map[string]func(r *rest.Routes){
		`GET /a/{id: path "/a/{id": segment`:          get("/a/{id"),
		"a parameter is a whole segment":              get("/a-{id}"),
		`there is no converter "float"`:               get("/{float:id}"),
		"the parameter has no proper name":            get("/{int:1d}"),
		`the parameter "id" appears twice`:            get("/{id}/{id}"),
		"nothing may follow {path:rest}":              get("/{path:rest}/x"),
		"has {id}, for which the input struct {} has": get("/{id}"),
		"has a field for {id}, which is not in the":   func(r *rest.Routes) { rest.Get(r, "/x", routeOf) },
		"is not a struct":                             func(r *rest.Routes) { rest.Get(r, "/x", echo[int]) },
		"a GET has no body":                           func(r *rest.Routes) { rest.Get(r, "/x", echo[newBook]) },
		"wants a form and a JSON body": func(r *rest.Routes) {
			rest.Post(r, "/x", echo[formAndBody])
		},
		"Loose has neither the tag of a source":        func(r *rest.Routes) { rest.Post(r, "/x", echo[looseField]) },
		"is neither a parameter nor in the field Body": func(r *rest.Routes) { rest.Post(r, "/x", echo[strayField]) },
		`the tag minimum:"x"`:                          func(r *rest.Routes) { rest.Get(r, "/x", echo[badTag]) },
		"takes a reflect.Value, and is a struct: it is <nil>": func(r *rest.Routes) {
			rest.Get(r, "/x", echo[reflect.Value])
		},
		"it is int, and the handler takes reflect.Value": func(r *rest.Routes) {
			rest.Get(r, "/x", echo[reflect.Value], rest.InputType(reflect.TypeFor[int]()))
		},
		"it is rest_test.two, and the handler takes struct {}": get("/x", rest.InputType(reflect.TypeFor[two]())),
		"methods must be a list": func(r *rest.Routes) {
			rest.Handle(r, nil, "/x", handle(""))
		},
		`"BREW" is not a method of HTTP`: func(r *rest.Routes) { rest.Handle(r, []string{"BREW"}, "/x", handle("")) },
		"the method GET appears twice": func(r *rest.Routes) {
			rest.Handle(r, []string{"GET", "get"}, "/x", handle(""))
		},
		"404 is not the status of an answer": get("/x", rest.Status(http.StatusNotFound)),
		"say what it may answer by rest.Returns": func(r *rest.Routes) {
			rest.Get(r, "/x", func(context.Context, struct{}) (*rest.Reply, error) { return nil, nil }) //nolint:nilnil // never called
		},
		"filters, orderings and searches are for": get("/x", query.Search("title")),
		"authenticator 1 is nil":                  get("/x", rest.Auth(nil)),
		"permission 2 is nil":                     get("/x", rest.Permit(allow, nil)),
		"throttle 1 is nil":                       get("/x", rest.Throttles(nil)),
		"rest.Anonymous has to be the last":       get("/x", rest.Auth(rest.Anonymous, bearer())),
		"has a scheme without a name":             get("/x", rest.Auth(finding{})),
		"two different security schemes": get("/x",
			rest.Auth(auth.APIKeyQuery("a", people(), auth.Name("k")), auth.APIKeyHeader("b", people(), auth.Name("k")))),
		"never be asked: the route Routes.first2": func(r *rest.Routes) {
			rest.Get(r, "/{a}/{b}", first2)
			rest.Get(r, "/{int:a}/{b}", func(context.Context, two) (int, error) { return 0, nil })
		},
		"is the route Routes": func(r *rest.Routes) { get("/x")(r); get("/x")(r) },
		"the path cannot be told from another": func(r *rest.Routes) {
			rest.Get(r, "/{id}/b", routeText(""))
			rest.Get(r, "/a/{key}", routeKey)
		},
		`the query parameter "page" belongs to two`: func(r *rest.Routes) {
			rest.List(r, "/x", listNovels, page.Number(), query.Search("title").Param("page"))
		},
		"the operation id same belongs to": func(r *rest.Routes) {
			get("/x", rest.OperationID("same"))(r)
			get("/y", rest.OperationID("same"))(r)
		},
		"the view is of string, and the list of": func(r *rest.Routes) {
			rest.List(r, "/x", listNovels, rest.View(strings.ToUpper))
		},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			text := mustPanic(t, func() { serve(register) })
			if !strings.Contains(text, want) || !strings.HasPrefix(text, "rest: rest_test.routes: ") {
				t.Errorf("got %q", text)
			}
		})
	}
}

type formAndBody struct {
	A string `form:"a"`
	B string `json:"b"`
}

type looseField struct {
	ID    int64 `query:"id"`
	Loose string
}

type strayField struct {
	Body  newBook
	Stray string `json:"stray"`
}

type badTag struct {
	N int `query:"n" minimum:"x"`
}

func first2(_ context.Context, in struct {
	A string `path:"a"`
	B string `path:"b"`
},
) (string, error) {
	return in.A + in.B, nil
}

// base, middle and leaf are controllers that inherit.
type base struct{ name string }

func (b *base) Routes(r *rest.Routes) {
	r.Configure(rest.Prefix("/base"), rest.Tags("base"), rest.Auth(bearer()))
	rest.Get(r, "/a", b.a, rest.Permit(deny))
	rest.Get(r, "/b", b.b)
	rest.Handle(r, []string{"PUT", "PATCH"}, "/c", b.c)
}

func (b *base) a(context.Context, struct{}) (string, error) { return b.name + ".a", nil }
func (b *base) b(context.Context, struct{}) (string, error) { return b.name + ".b", nil }
func (b *base) c(context.Context, struct{}) (string, error) { return b.name + ".c", nil }

type embedding struct{ *base }

type middle struct {
	base

	open bool
}

func (m *middle) Routes(r *rest.Routes) {
	r.Configure(rest.Prefix("/middle"))
	r.Inherit(&m.base)
	rest.Get(r, "/a", handle("middle.a"))
	rest.Put(r, "/c", handle("middle.c"))
	if m.open {
		r.Configure(rest.NoAuth())
	}
}

type leaf struct{ middle }

func (l *leaf) Routes(r *rest.Routes) {
	r.Inherit(&l.middle)
	r.Configure(rest.Prefix("/leaf"))
	rest.Get(r, "/b", handle("leaf.b"))
	rest.Get(r, "/d", handle("leaf.d"))
}

func TestInherit(t *testing.T) {
	t.Parallel()

	newMiddle := func(open bool) *middle { return &middle{base: base{"base"}, open: open} }
	for name, c := range map[string]struct {
		controller rest.Controller
		want       map[string]string
	}{
		"embedded": {
			embedding{&base{"embedded"}},
			map[string]string{"GET /base/b": "embedded.b", "PATCH /base/c": "embedded.c", "GET /base/a": "403"},
		},
		"one": {
			newMiddle(false),
			map[string]string{
				"GET /middle/a": "middle.a", "GET /middle/b": "base.b", "PUT /middle/c": "middle.c", "PATCH /middle/c": "base.c",
				"GET /base/b": "404",
			},
		},
		"two": {
			&leaf{*newMiddle(false)},
			map[string]string{
				"GET /leaf/a": "middle.a", "GET /leaf/b": "leaf.b", "PUT /leaf/c": "middle.c", "PATCH /leaf/c": "base.c",
				"GET /leaf/d": "leaf.d",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := quiet()
			api.Register(c.controller)
			api.Register(&base{"sibling"}, rest.Prefix("/sibling")) // which changes nothing
			for target, want := range c.want {
				method, path, _ := strings.Cut(target, " ")
				a := resttest.Do[string](t, api, method, path, resttest.Bearer("bob-key"))
				if got := a.Body; got != want && http.StatusText(a.Status) != http.StatusText(statusOf(want)) {
					t.Errorf("%s: got %d %q, want %q", target, a.Status, got, want)
				}
			}
			wantStatus(t, api, http.MethodGet, "/sibling/b", http.StatusUnauthorized)
		})
	}
	open := quiet()
	open.Register(newMiddle(true))
	wantStatus(t, open, http.MethodGet, "/middle/b", http.StatusOK)
	wantDiff(t, "tags", []any{"base"}, at(document(t, open), "paths", "/middle/b", "get", "tags"))
}

// statusOf reads a status, or 0.
func statusOf(text string) int {
	switch text {
	case "403":
		return http.StatusForbidden
	case "404":
		return http.StatusNotFound
	default:
		return 0
	}
}

func TestListing(t *testing.T) {
	t.Parallel()

	api := quiet()
	api.Register(newShelf(), rest.Prefix("/shelf"))
	var got []string
	for _, info := range api.Routes() {
		got = append(got, info.Name+" "+strings.Join(info.Methods, ",")+" "+info.Path+" "+info.Controller.String())
	}
	wantDiff(t, "routes", []string{
		"Shelf.get GET /shelf/{id} *rest_test.shelf",
		"Shelf.create POST /shelf *rest_test.shelf",
		"Shelf.context GET /shelf/context *rest_test.shelf",
	}, got)
}

func TestHiddenAndDeprecated(t *testing.T) {
	t.Parallel()

	api := quiet()
	api.Register(routes(func(r *rest.Routes) {
		rest.Get(r, "/hidden", handle("hidden"), rest.Hidden())
		rest.Get(r, "/old", handle("old"), rest.Deprecated())
		rest.Get(r, "/new", handle("new"))
	}))
	api.Register(routes(func(r *rest.Routes) { rest.Get(r, "/all", handle("all")) }), rest.Hidden(), rest.Namespace("h"))
	d := document(t, api)
	for path, want := range map[string][2]bool{
		"/hidden": {false, false}, "/old": {true, true}, "/new": {true, false}, "/all": {false, false},
	} {
		wantStatus(t, api, http.MethodGet, path, http.StatusOK)
		documented, deprecated := at(d, "paths", path) != nil, at(d, "paths", path, "get", "deprecated") == true
		wantDiff(t, path, want, [2]bool{documented, deprecated})
	}
}

func TestGuardedRawOperations(t *testing.T) {
	t.Parallel()

	api := quiet(rest.Auth(bearer()), rest.Errors(rest.DetailErrors))
	op := func(path string, options ...rest.Option) huma.Operation {
		return rest.Guard(api, huma.Operation{Method: http.MethodGet, Path: path, OperationID: path}, options...)
	}
	who := func(ctx context.Context, _ *struct{}) (*struct{ Body string }, error) {
		id, err := whoami(ctx, struct{}{})
		return &struct{ Body string }{id}, err
	}
	huma.Register(api.Huma(), op("/inherits"), who)
	huma.Register(api.Huma(), op("/open", rest.NoAuth()), who)
	huma.Register(api.Huma(), op("/denied", rest.Permit(deny)), who)
	huma.Register(api.Huma(), op("/panics"), func(context.Context, *struct{}) (*struct{}, error) { panic("secret") })
	huma.Register(huma.NewGroup(api.Huma(), "/group"), op("/in"), who)
	api.Register(routes(func(r *rest.Routes) { rest.Get(r, "/ours", whoami) }))
	bob := resttest.Bearer("bob-key")
	for path, want := range map[string][2]int{
		"/inherits": {401, 200}, "/open": {200, 200}, "/denied": {401, 403}, "/panics": {401, 500}, "/group/in": {401, 200},
		"/ours": {401, 200},
	} {
		wantStatus(t, api, http.MethodGet, path, want[0])
		wantStatus(t, api, http.MethodGet, path, want[1], bob)
	}
	if _, text := get(t, api, "/inherits", bob); text != `"bob"` {
		t.Errorf("got %s", text)
	}
	if _, text := get(t, api, "/inherits"); text != `{"detail":"Unauthorized"}` {
		t.Errorf("got %s", text)
	}
	d := document(t, api)
	for path, want := range map[string]bool{"/inherits": true, "/open": false, "/ours": true, "/group/in": true} {
		responses := at(d, "paths", path, "get", "responses", "401")
		if needs, _ := at(d, "paths", path, "get", "security").([]any); needs == nil || len(needs) > 0 != want ||
			(responses != nil) != want {
			t.Errorf("%s: security %v, 401 %v", path, needs, responses)
		}
	}
	text := mustPanic(t, func() { huma.Register(api.Huma(), op("/ours"), who) })
	if text == "" {
		t.Error("two operations share a path")
	}
}

func TestUnusedFileHeader(t *testing.T) {
	t.Parallel()

	api := serve(func(r *rest.Routes) {
		rest.Post(r, "/x", func(_ context.Context, in struct {
			Cover *multipart.FileHeader `file:"cover"`
		},
		) (bool, error) {
			return in.Cover != nil, nil
		})
	})
	a := resttest.Do[bool](t, api, http.MethodPost, "/x", resttest.Content("application/x-www-form-urlencoded", ""))
	wantDiff(t, "without the file", []any{200, false}, []any{a.Status, a.Body})
}
