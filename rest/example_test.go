package rest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/auth"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/permission"
	"github.com/spoolhq/spool/rest/query"
)

// show makes a request and prints the status and the body of its answer.
func show(api http.Handler, method, target string, bodyAndHeaders ...string) {
	var content io.Reader
	if len(bodyAndHeaders) > 0 && bodyAndHeaders[0] != "" {
		content = strings.NewReader(bodyAndHeaders[0])
	}
	r := httptest.NewRequest(method, target, content)
	for _, h := range bodyAndHeaders[min(1, len(bodyAndHeaders)):] {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	api.ServeHTTP(w, r)
	fmt.Fprintln(os.Stdout, strings.TrimSpace(fmt.Sprint(w.Code, " ", w.Body)))
}

type Person struct {
	Name string `path:"name"`
}

type Greeting struct {
	Text string `json:"text"`
}

type Hello struct{}

func (Hello) Routes(r *rest.Routes) {
	rest.Get(r, "/hello/{name}", func(_ context.Context, in Person) (Greeting, error) {
		return Greeting{"Hello, " + in.Name + "!"}, nil
	})
}

// A program with one route.
func ExampleNew() {
	api := rest.New(rest.Title("Hello"))
	api.Register(Hello{})
	// http.ListenAndServe("127.0.0.1:8080", api)

	show(api, "GET", "/hello/Ann")
	// Output: 200 {"text":"Hello, Ann!"}
}

type Song struct {
	ID    int64   `json:"id"              readOnly:"true"`
	Title string  `json:"title"           minLength:"1"`
	Owner string  `json:"owner,omitempty" readOnly:"true"`
	Price float64 `json:"price"           minimum:"0"`
}

type Songs struct{ all []Song }

type SongID struct {
	ID int64 `path:"id"`
}

func (c *Songs) Routes(r *rest.Routes) {
	r.Configure(rest.Prefix("/songs"), rest.Tags("songs"))
	rest.Get(r, "/{int:id}", c.get)
	rest.Post(r, "/", c.create, rest.Status(http.StatusCreated))
	rest.Delete(r, "/{int:id}", c.remove)
}

func (c *Songs) load(_ context.Context, id int64) (*Song, error) {
	for i := range c.all {
		if c.all[i].ID == id {
			return &c.all[i], nil
		}
	}
	return nil, rest.ErrNotFound
}

func (c *Songs) get(ctx context.Context, in SongID) (*Song, error) {
	return rest.GetOrNotFound(ctx, c.load, in.ID)
}

func (c *Songs) create(_ context.Context, in Song) (*Song, error) {
	in.ID = int64(len(c.all)) + 1
	c.all = append(c.all, in)
	return &in, nil
}

func (*Songs) remove(context.Context, SongID) (rest.NoContent, error) { return rest.NoContent{}, nil }

// A controller is a struct: what it depends on are its fields.
func ExampleAPI_Register() {
	api := rest.New()
	api.Register(&Songs{})

	show(api, "POST", "/songs", `{"title":"Yesterday","price":1.5}`)
	show(api, "GET", "/songs/1")
	show(api, "GET", "/songs/2")
	show(api, "DELETE", "/songs/1")
	// Output:
	// 201 {"id":1,"title":"Yesterday","price":1.5}
	// 200 {"id":1,"title":"Yesterday","price":1.5}
	// 404 {"type":"about:blank","title":"Not Found","status":404,"detail":"Song was not found.","code":"not_found"}
	// 204
}

// A controller may be registered in several APIs, each with options of its own.
func ExampleRoutes_Configure() {
	public, partner := rest.New(), rest.New()
	songs := &Songs{all: []Song{{ID: 1, Title: "Yesterday"}}}
	public.Register(songs, rest.Prefix("/music"))
	partner.Register(songs, rest.Permit(permission.ReadOnly))

	show(public, "GET", "/music/1")
	show(partner, "GET", "/songs/1")
	show(partner, "DELETE", "/songs/1")
	// Output:
	// 200 {"id":1,"title":"Yesterday","price":0}
	// 200 {"id":1,"title":"Yesterday","price":0}
	// 403 {"type":"about:blank","title":"Forbidden","status":403,"detail":"This is read only.","code":"permission_denied"}
}

type Member struct{ name string }

func (m Member) PrincipalID() string { return m.name }

// Permissions are combined, and may judge the object that a handler loads.
func ExamplePermit() {
	byKey := auth.Keys(map[string]Member{"ann-key": {"ann"}, "bob-key": {"bob"}})
	api := rest.New(rest.Auth(auth.APIKeyQuery("key", byKey)))
	owned := permission.Owner(func(s *Song) string { return s.Owner })
	api.Register(&Songs{all: []Song{{ID: 1, Title: "Yesterday", Owner: "ann"}}},
		rest.Permit(permission.Any(permission.IsAdmin, owned)))

	show(api, "GET", "/songs/1?key=ann-key")
	show(api, "GET", "/songs/1?key=bob-key")
	show(api, "GET", "/songs/1")
	// Output:
	// 200 {"id":1,"title":"Yesterday","owner":"ann","price":0}
	// 403 {"type":"about:blank","title":"Forbidden","status":403,"detail":"You do not have permission to perform this action.","code":"permission_denied"}
	// 401 {"type":"about:blank","title":"Unauthorized","status":401,"detail":"Authentication credentials were not provided.","code":"unauthorized"}
}

// Check is for permissions that depend on the input.
func ExampleCheck() {
	cheap := rest.Check(func(_ context.Context, in Song) error {
		if in.Price > 5 {
			return rest.Denied("Songs of more than 5 need an administrator.")
		}
		return nil
	})
	api := rest.New(rest.Errors(rest.DetailErrors))
	api.Register(routes(func(r *rest.Routes) { rest.Post(r, "/songs", new(Songs).create, cheap) }))

	show(api, "POST", "/songs", `{"title":"Yesterday","price":9}`)
	// Output: 403 {"detail":"Songs of more than 5 need an administrator."}
}

type SongFilter struct {
	Title    *string  `filter:"__icontains"`
	MaxPrice *float64 `filter:"price,lte"`
}

// A handler returns the list; what the client may ask of it are options.
func ExampleList() {
	api := rest.New()
	api.Register(routes(func(r *rest.Routes) {
		rest.List(r, "/songs", func(context.Context, struct{}) ([]Song, error) {
			return []Song{{1, "Help!", "", 2}, {2, "Yesterday", "", 1}, {3, "Something", "", 4}, {4, "Let It Be", "", 3}}, nil
		}, page.Number(page.Size(2)), query.Filter[SongFilter](), query.Order("price"))
	}))

	show(api, "GET", "/songs?max_price=3&ordering=-price")
	show(api, "GET", "/songs?title=some")
	// Output:
	// 200 {"count":3,"next":"/songs?max_price=3&ordering=-price&page=2","previous":null,"results":[{"id":4,"title":"Let It Be","price":3},{"id":1,"title":"Help!","price":2}]}
	// 200 {"count":1,"next":null,"previous":null,"results":[{"id":3,"title":"Something","price":4}]}
}

type SongName struct {
	Name string `json:"name"`
}

// View answers with another type than that of the rows.
func ExampleView() {
	api := rest.New(rest.Paginate(page.None()))
	api.Register(routes(func(r *rest.Routes) {
		rest.List(r, "/songs", func(context.Context, struct{}) (query.Set[Song], error) {
			return query.Slice([]Song{{1, "Help!", "", 2}, {2, "Yesterday", "", 1}}), nil
		}, rest.View(func(s Song) SongName { return SongName{s.Title} }))
	}))

	show(api, "GET", "/songs")
	// Output: 200 [{"name":"Help!"},{"name":"Yesterday"}]
}

// All that is wrong with an input is answered at once.
func ExampleProblemErrors() {
	api := rest.New()
	api.Register(&Songs{})

	show(api, "POST", "/songs", `{"title":"","price":-1}`)
	// Output: 422 {"type":"about:blank","title":"Unprocessable Entity","status":422,"detail":"The request is not valid.","code":"validation_failed","errors":[{"location":"body.title","pointer":"/title","kind":"string_too_short","message":"must be at least 1 character","limits":{"min_length":1}},{"location":"body.price","pointer":"/price","kind":"greater_than_equal","message":"must be at least 0","limits":{"ge":0}}]}
}

// DetailErrors have the shape that clients of Django's libraries know.
func ExampleDetailErrors() {
	api := rest.New(rest.Errors(rest.DetailErrors))
	api.Register(&Songs{})

	show(api, "POST", "/songs", `{"price":1}`)
	show(api, "GET", "/songs/7")
	// Output:
	// 422 {"detail":[{"type":"missing","loc":["body","song","title"],"msg":"Field required"}]}
	// 404 {"detail":"Song was not found."}
}

var errTaken = errors.New("duplicate key value violates unique constraint songs_title")

// Errors of the program become answers in one place; what is not known is a 500 without a
// word of its text, and is logged.
func ExampleMapError() {
	api := rest.New(rest.Errors(rest.DetailErrors), rest.Logger(slog.New(slog.DiscardHandler)),
		rest.MapError(func(err error) *rest.Error {
			if errors.Is(err, errTaken) {
				return &rest.Error{Status: http.StatusConflict, Detail: "The title is taken.", Err: err}
			}
			return nil
		}))
	api.Register(routes(func(r *rest.Routes) {
		rest.Get(r, "/taken", func(context.Context, struct{}) (string, error) {
			return "", fmt.Errorf("insert: %w", errTaken)
		})
		rest.Get(r, "/broken", func(context.Context, struct{}) (string, error) { return "", io.ErrUnexpectedEOF })
	}))

	show(api, "GET", "/taken")
	show(api, "GET", "/broken")
	// Output:
	// 409 {"detail":"The title is taken."}
	// 500 {"detail":"A server error occurred."}
}

type Clock struct{ zone string }

// Services are for programs that would rather not hand everything through constructors.
func ExampleProvide() {
	api := rest.New(
		rest.Provide(func(rest.Services) (*Clock, error) { return &Clock{"UTC"}, nil }),
		rest.ProvideRequest(func(ctx context.Context, _ rest.Services) (*slog.Logger, error) {
			return slog.New(slog.DiscardHandler).With("route", rest.RouteName(ctx)), nil
		}),
	)
	api.Register(routes(func(r *rest.Routes) {
		rest.Get(r, "/zone", func(ctx context.Context, _ struct{}) (string, error) {
			clock, err := rest.Resolve[*Clock](ctx)
			if err != nil {
				return "", err
			}
			return clock.zone, nil
		})
	}))

	show(api, "GET", "/zone")
	// Output: 200 "UTC"
}

// Events are sent as soon as they are there.
func ExampleEvents() {
	api := rest.New()
	api.Register(routes(func(r *rest.Routes) {
		rest.Get(r, "/countdown", func(context.Context, struct{}) (rest.Events[int], error) {
			return rest.Events[int]{Items: func(yield func(rest.Event[int], error) bool) {
				for _, n := range []int{2, 1} {
					if !yield(rest.Event[int]{Name: "tick", Data: n}, nil) {
						return
					}
				}
			}}, nil
		})
	}))

	show(api, "GET", "/countdown")
	// Output:
	// 200 event: tick
	// data: 2
	//
	// event: tick
	// data: 1
}

type Linked struct {
	*Songs

	getSong *rest.Endpoint[SongID, *Song]
}

func (c *Linked) Routes(r *rest.Routes) { c.getSong = rest.Get(r, "/songs/{int:id}", c.get) }

// An endpoint makes links that the compiler and the registration have checked.
func ExampleEndpoint_URL() {
	c := &Linked{Songs: &Songs{}}
	api := rest.New()
	api.Register(c, rest.Prefix("/v1"))

	link, err := c.getSong.URL(SongID{ID: 7})
	fmt.Println(link, err)
	named, err := api.Reverse("Linked.get", 7)
	fmt.Println(named, err)
	// Output:
	// /v1/songs/7 <nil>
	// /v1/songs/7 <nil>
}

// An endpoint makes whole requests too, for clients of the API in Go.
func ExampleEndpoint_Request() {
	c := &Linked{Songs: &Songs{}}
	rest.New().Register(c)

	r, err := c.getSong.Request(context.Background(), SongID{ID: 7})
	fmt.Println(r.Method, r.URL, err)
	// Output: GET /songs/7 <nil>
}

// Operations of huma live in the same API. Guard puts before them what is before routes.
func ExampleGuard() {
	byKey := auth.Keys(map[string]Member{"ann-key": {"ann"}})
	api := rest.New(rest.Errors(rest.DetailErrors), rest.Auth(auth.Bearer(byKey)))
	op := rest.Guard(api, huma.Operation{Method: http.MethodGet, Path: "/raw", OperationID: "raw"})
	huma.Register(api.Huma(), op, func(ctx context.Context, _ *struct{}) (*struct{ Body string }, error) {
		return &struct{ Body string }{"Hello, " + rest.PrincipalOf(ctx).PrincipalID()}, nil
	})

	show(api, "GET", "/raw")
	show(api, "GET", "/raw", "", "Authorization: Bearer ann-key")
	// Output:
	// 401 {"detail":"Unauthorized"}
	// 200 "Hello, ann"
}

// Settings come from a file, so that a mistake in them is an error. What options say in code
// overrides them.
func ExampleSettings() {
	configured, err := rest.FromSettings(rest.Settings{
		"REST_EXTRA": map[string]any{"PAGINATION_CLASS": "page.Number", "PAGINATION_PER_PAGE": 1},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	api := rest.New(configured)
	api.Register(routes(func(r *rest.Routes) {
		rest.List(r, "/songs", func(context.Context, struct{}) ([]Song, error) {
			return []Song{{1, "Help!", "", 2}, {2, "Yesterday", "", 1}}, nil
		})
	}))

	show(api, "GET", "/songs")
	// Output: 200 {"count":2,"next":"/songs?page=2","previous":null,"results":[{"id":1,"title":"Help!","price":2}]}
}

// A registry is a list of controllers that announce themselves.
func ExampleRegistry() {
	var registry rest.Registry
	registry.Add(Hello{})
	registry.Add(&Songs{}, rest.AutoImport(false))
	api := rest.New(rest.Errors(rest.DetailErrors))
	api.Import(&registry)

	show(api, "GET", "/hello/Bob")
	show(api, "GET", "/songs/1")
	// Output:
	// 200 {"text":"Hello, Bob!"}
	// 404 {"detail":"Not found."}
}

// A field of a PATCH may be absent, null or set.
func ExampleOpt() {
	type Change struct {
		Note rest.Opt[string] `json:"note,omitzero"`
	}
	api := rest.New()
	api.Register(routes(func(r *rest.Routes) {
		rest.Patch(r, "/note", func(_ context.Context, in Change) (string, error) {
			if in.Note.IsNull() {
				return "removed", nil
			}
			return in.Note.Or("kept"), nil
		})
	}))

	show(api, "PATCH", "/note", `{}`)
	show(api, "PATCH", "/note", `{"note":null}`)
	show(api, "PATCH", "/note", `{"note":"new"}`)
	// Output:
	// 200 "kept"
	// 200 "removed"
	// 200 "new"
}
