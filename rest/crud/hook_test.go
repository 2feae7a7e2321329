package crud_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/crud"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/query"
)

func TestHooks(t *testing.T) {
	t.Parallel()

	var calls []string
	call := func(name string) { calls = append(calls, name) }
	store := storeOf()
	c := serve(t, store, crud.Config[Book]{Hooks: crud.Hooks[Book]{
		BeforeCreate: func(_ context.Context, row *Book) error {
			call("before create " + row.Title)
			row.Owner = "hook"
			return nil
		},
		AfterCreate: func(_ context.Context, row Book) error {
			if row.ID == 0 {
				t.Error("the row has no key")
			}
			call("after create " + row.Owner)
			return nil
		},
		BeforeUpdate: func(_ context.Context, current Book, next *Book) error {
			call("before update " + current.Title + " " + next.Title)
			next.Hidden = "changed"
			return nil
		},
		AfterUpdate: func(_ context.Context, before, row Book) error {
			call("after update " + before.Title + " " + row.Title)
			return nil
		},
		BeforeDelete: func(_ context.Context, row Book) error { call("before delete " + row.Title); return nil },
		AfterDelete:  func(_ context.Context, row Book) error { call("after delete " + row.Title); return nil },
	}})
	c.do("POST /books", dune).status(201).has(`"owner":"hook"`)
	c.do("PATCH /books/1", `{"title":"Two"}`).status(200)
	if row := stored(t, store); row.Hidden != "changed" {
		t.Error("a patch has not stored what the hook changed")
	}
	c.do("PUT /books/1", dune).status(200)
	c.do("DELETE /books/1", "").status(204)
	want := []string{
		"before create Dune", "after create hook", "before update Dune Two", "after update Dune Two",
		"before update Two Dune", "after update Two Dune", "before delete Dune", "after delete Dune",
	}
	if diff := cmp.Diff(want, calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// A hook that refuses leaves nothing behind, also after the write.
func TestHooksRefuse(t *testing.T) {
	t.Parallel()

	refuse := &rest.Error{Status: http.StatusPaymentRequired, Detail: "Pay first."}
	one := func(context.Context, Book) error { return refuse }
	for name, hooks := range map[string]crud.Hooks[Book]{
		"BeforeCreate": {BeforeCreate: func(context.Context, *Book) error { return refuse }},
		"AfterCreate":  {AfterCreate: one},
		"BeforeUpdate": {BeforeUpdate: func(context.Context, Book, *Book) error { return refuse }},
		"AfterUpdate":  {AfterUpdate: func(context.Context, Book, Book) error { return refuse }},
		"BeforeDelete": {BeforeDelete: one},
		"AfterDelete":  {AfterDelete: one},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			store := storeOf(full())
			c := serve(t, store, crud.Config[Book]{Hooks: hooks})
			switch name[len(name)-6:] {
			case "Create":
				c.do("POST /books", `{"title":"Dune","slug":"other","price":9.5,"authorId":1}`).status(402).has("Pay first.")
			case "Update":
				c.do("PUT /books/1", dune).status(402)
				c.do("PATCH /books/1", `{"price":1}`).status(402)
			default:
				c.do("DELETE /books/1", "").status(402)
			}
			want := full()
			want.ID = 1
			rows, err := store.Set(t.Context()).All(t.Context())
			if diff := cmp.Diff([]Book{want}, rows); diff != "" || err != nil {
				t.Errorf("rows (-want +got, error %v):\n%s", err, diff)
			}
		})
	}
}

// cheap is a service that overrides some of the usual one.
type cheap struct {
	*crud.DefaultService[Book, int64]
}

func (s cheap) GetAll(ctx context.Context) (query.Set[Book], error) {
	set, err := s.DefaultService.GetAll(ctx)
	return set.Where(query.Where("price__lt", 5)), err
}

func (s cheap) Create(ctx context.Context, row *Book) error {
	row.Owner = "service"
	return s.DefaultService.Create(ctx, row)
}

func TestService(t *testing.T) {
	t.Parallel()

	service := cheap{crud.NewService(storeOf(full()))}
	c := serveController(t, &Books{crud.NewWith(service, crud.Config[Book]{})}, rest.Prefix("/books"))
	c.do("GET /books", "").status(200).has(`"count":0`)
	c.do("POST /books", `{"title":"Dune","slug":"other","price":3,"authorId":1}`).status(201).has(`"owner":"service"`)
	c.do("GET /books", "").status(200).has(`"count":1`)
}

// Span is a model whose fields have to fit each other.
type Span struct {
	ID   int64 `json:"id"`
	From int   `json:"from"`
	To   int   `json:"to"`
}

func (s *Span) Validate(context.Context) error {
	if s.From > s.To {
		return rest.Invalid(rest.Fault{
			In: "body", Path: []any{"to"}, Kind: "value_error", Message: "must not be before from",
		})
	}
	return nil
}

type Spans struct{ crud.Controller[Span, int64] }

type spanIn struct {
	Length int `json:"length"`
}

func (s *spanIn) Validate(context.Context) error {
	if s.Length == 13 {
		return rest.Conflict("Not that one.")
	}
	return nil
}

func TestValidators(t *testing.T) {
	t.Parallel()

	store := crud.Memory[Span, int64](crud.MemoryConfig{})
	c := serveController(t, &Spans{crud.New(store, crud.Config[Span]{
		Path: "/spans",
		Update: crud.Input(func(_ context.Context, in spanIn, row *Span) error {
			row.To = row.From + in.Length
			return nil
		}),
	})})
	c.do("POST /spans", `{"from":2,"to":1}`).status(422).has("/to")
	c.do("POST /spans", `{"from":2,"to":4}`).status(201)
	c.do("PATCH /spans/1", `{"to":1}`).status(422).has("/to")
	c.do("PATCH /spans/1", `{"from":5}`).status(422)
	c.do("PATCH /spans/1", `{"to":5}`).status(200)
	c.do("PUT /spans/1", `{"length":13}`).status(409).has("Not that one.")
	c.do("PUT /spans/1", `{"length":-1}`).status(422)
	c.do("PUT /spans/1", `{"length":1}`).status(200).has(`"to":3`)
}

type NoKey struct {
	Name string `json:"name"`
}

type BadTag struct {
	ID   int64  `json:"id"`
	Name string `crud:"hidden" json:"name"`
}

type Below struct {
	ID    int64 `json:"id"`
	OrgID int64 `crud:"parent" json:"orgId"`
}

func TestMistakes(t *testing.T) {
	t.Parallel()

	books := storeOf()
	for want, build := range map[string]func(){
		`there is no route "destroy"`: func() {
			crud.New(books, crud.Config[Book]{AllowedRoutes: []crud.Route{"destroy"}})
		},
		`no route is allowed`:             func() { crud.New(books, crud.Config[Book]{AllowedRoutes: []crud.Route{}}) },
		`has no field "isbn"`:             func() { crud.New(books, crud.Config[Book]{Lookup: "isbn"}) },
		`cannot stand in a path`:          func() { crud.New(books, crud.Config[Book]{Lookup: "price"}) },
		`has no field "org" with the tag`: func() { crud.New(books, crud.Config[Book]{Path: "/{org}/books"}) },
		`no parameter {org_id} fills it`: func() {
			crud.New(crud.Memory[Below, int64](crud.MemoryConfig{}), crud.Config[Below]{})
		},
		`no paginator has the name "pages"`: func() {
			crud.New(books, crud.Config[Book]{Pagination: crud.Pagination{Klass: "pages"}})
		},
		`a Paginator is given, and a Klass or Pa`: func() {
			crud.New(books, crud.Config[Book]{Pagination: crud.Pagination{Klass: page.Number, Paginator: page.Number()}})
		},
		`a Filter and a FilterSchema are given`: func() {
			f := query.Filter[bookFilter]()
			crud.New(books, crud.Config[Book]{Pagination: crud.Pagination{Filter: f, FilterSchema: f}})
		},
		`a int is no Klass`: func() {
			crud.New(books, crud.Config[Book]{Pagination: crud.Pagination{Klass: 3}})
		},
		`its key has 0 fields`:               func() { crud.Memory[NoKey, int64](crud.MemoryConfig{}) },
		`the tag crud:"hidden" is not known`: func() { crud.Memory[BadTag, int64](crud.MemoryConfig{}) },
		`its key ID is int64, not string`:    func() { crud.Memory[Book, string](crud.MemoryConfig{}) },
		`a model is a struct`:                func() { crud.Memory[int, int](crud.MemoryConfig{}) },
		`has no field "isbn" `: func() {
			crud.Memory[Book, int64](crud.MemoryConfig{Required: []string{"isbn"}})
		},
		`has no versions to match`: func() {
			crud.New(books, crud.Config[Book]{RequireMatch: true, Versions: crud.NoVersions})
		},
		`is not one of the controller's`: func() {
			crud.New(books, crud.Config[Book]{
				AllowedRoutes: []crud.Route{crud.List},
				RouteOptions:  map[crud.Route][]rest.RouteOption{crud.Delete: nil},
			})
		},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()

			message := panicOf(build)
			if !strings.Contains(message, strings.TrimSpace(want)) {
				t.Errorf("the panic says %q, not %q", message, want)
			}
		})
	}
}

func panicOf(f func()) (message string) {
	defer func() { message, _ = recover().(string) }()
	f()
	return ""
}
