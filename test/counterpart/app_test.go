package counterpart_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/netip"
	"time"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/crud"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/throttle"
)

// controller is a controller of one function.
type controller func(r *rest.Routes)

func (c controller) Routes(r *rest.Routes) { c(r) }

// newApp is app.py in Go, with the state that each request finds.
func newApp() *rest.API {
	configured, err := rest.FromSettings(rest.Settings{"REST_EXTRA": map[string]any{
		"PAGINATION_CLASS":    "ninja_extra.pagination.PageNumberPaginationExtra",
		"PAGINATION_PER_PAGE": 3,
	}})
	if err != nil {
		panic(err)
	}
	api := rest.New(
		rest.Title("Counterpart"),
		rest.Errors(rest.DetailErrors),
		rest.Unknown(rest.IgnoreUnknown),
		rest.BaseURL("http://example.com"),
		configured,
		rest.Logger(slog.New(slog.DiscardHandler)),
	)
	for prefix, c := range map[string]controller{
		"/paths": paths, "/orgs/{int:org}/books": orgs, "/query": queries, "/bodies": bodies, "/forms": forms,
		"/lists": lists, "/auth": signIn, "/throttles": throttles, "/answers": answers,
	} {
		api.Register(c, rest.Prefix(prefix), rest.Namespace(prefix[1:]))
	}
	api.Register(controller(guarded), rest.Prefix("/guarded"), rest.Namespace("guarded"), rest.Auth(keyQuery),
		rest.Permit(isAnn))
	api.Register(newBooks(), rest.Prefix("/books"), rest.Namespace("books"))
	return api
}

// reply makes a handler of a function that cannot fail.
func reply[In, Out any](f func(In) Out) func(context.Context, In) (Out, error) {
	return func(_ context.Context, in In) (Out, error) { return f(in), nil }
}

// always makes a handler that gives one answer.
func always[Out any](out Out) func(context.Context, struct{}) (Out, error) {
	return func(context.Context, struct{}) (Out, error) { return out, nil }
}

type object map[string]any

const (
	isoDate = "2006-01-02"
	isoTime = "2006-01-02T15:04:05Z07:00"
)

func paths(r *rest.Routes) {
	type number struct {
		N int64 `path:"n"`
	}
	type text struct {
		S string `path:"s"`
	}
	rest.Get(r, "/int/{int:n}", reply(func(in number) object { return object{"n": in.N} }))
	rest.Get(r, "/str/{str:s}", reply(func(in text) object { return object{"s": in.S} }))
	rest.Get(r, "/slug/{slug:s}", reply(func(in text) object { return object{"s": in.S} }))
	rest.Get(r, "/uuid/{uuid:u}", reply(func(in struct {
		U string `path:"u"`
	},
	) object {
		return object{"u": in.U}
	}))
	rest.Get(r, "/path/{path:p}", reply(func(in struct {
		P string `path:"p"`
	},
	) object {
		return object{"p": in.P}
	}))
	rest.Get(r, "/plain/{n}", reply(func(in number) object { return object{"n": in.N} }))
	rest.Get(r, "/text/{s}", reply(func(in struct {
		S string `maxLength:"5" minLength:"2" path:"s"`
	},
	) object {
		return object{"s": in.S}
	}))
	rest.Get(r, "/date/{d}", reply(func(in struct {
		D time.Time `format:"date" path:"d"`
	},
	) object {
		return object{"d": in.D.Format(isoDate)}
	}))
	rest.Get(r, "/flag/{f}", reply(func(in struct {
		F bool `path:"f"`
	},
	) object {
		return object{"f": in.F}
	}))
	rest.Get(r, "/bound/{n}", reply(func(in struct {
		N int `maximum:"9" minimum:"1" path:"n"`
	},
	) object {
		return object{"n": in.N}
	}))
	rest.Get(r, "/two/{int:a}/{slug:b}", reply(func(in struct {
		A int    `path:"a"`
		B string `path:"b"`
	},
	) object {
		return object{"a": in.A, "b": in.B}
	}))
	rest.Get(r, "/slash/", always("slash"))
	rest.Get(r, "/bare", always("bare"))
	rest.Post(r, "/create/", always("made"))
}

func orgs(r *rest.Routes) {
	type org struct {
		Org int `path:"org"`
	}
	type book struct {
		org

		Book int `path:"book"`
	}
	rest.Get(r, "", reply(func(in org) object { return object{"org": in.Org} }))
	rest.Get(r, "/{int:book}", reply(func(in book) object { return object{"org": in.Org, "book": in.Book} }))
}

func queries(r *rest.Routes) {
	rest.Get(r, "/needed", reply(func(in struct {
		N int    `query:"n" required:"true"`
		S string `query:"s" required:"true"`
	},
	) object {
		return object{"n": in.N, "s": in.S}
	}))
	rest.Get(r, "/types", reply(func(in struct {
		N int        `default:"1"   query:"n"`
		F float64    `default:"0.5" query:"f"`
		B bool       `query:"b"`
		S string     `default:"x"   query:"s"`
		M string     `default:"new" enum:"new,used" query:"m"`
		D *time.Time `format:"date" query:"d"`
		T *time.Time `query:"t"`
		U *string    `format:"uuid" query:"u"`
	},
	) object {
		return object{
			"n": in.N, "f": in.F, "b": in.B, "s": in.S, "m": in.M, "d": formatted(in.D, isoDate), "t": formatted(in.T, isoTime),
			"u": in.U,
		}
	}))
	rest.Get(r, "/bounds", reply(func(in struct {
		GE    int     `default:"5"   minimum:"1"          query:"ge"`
		LE    int     `default:"5"   maximum:"9"          query:"le"`
		GT    float64 `default:"0.5" exclusiveMinimum:"0" query:"gt"`
		LT    float64 `default:"0.5" exclusiveMaximum:"1" query:"lt"`
		Short string  `default:"abc" maxLength:"4"        minLength:"2" query:"short"`
		Form  string  `default:"abc" pattern:"^[a-z]+$"   query:"form"`
	},
	) object {
		return object{"ge": in.GE, "le": in.LE, "gt": in.GT, "lt": in.LT, "short": in.Short, "form": in.Form}
	}))
	rest.Get(r, "/lists", reply(func(in struct {
		IDs  []int    `query:"ids"`
		Tags []string `default:"a" query:"tags"`
	},
	) object {
		return object{"ids": append([]int{}, in.IDs...), "tags": in.Tags}
	}))
	rest.Get(r, "/sized", reply(func(in struct {
		IDs []int `maxItems:"3" minItems:"2" query:"ids" required:"true"`
	},
	) object {
		return object{"ids": in.IDs}
	}))
	rest.Get(r, "/header", reply(func(in struct {
		Trace int    `header:"X-Trace" required:"true"`
		Lang  string `default:"en"     header:"X-Lang"`
	},
	) object {
		return object{"trace": in.Trace, "lang": in.Lang}
	}))
	rest.Get(r, "/cookie", reply(func(in struct {
		Visits int    `cookie:"visits" required:"true"`
		Theme  string `cookie:"theme"  default:"light"`
	},
	) object {
		return object{"visits": in.Visits, "theme": in.Theme}
	}))
	rest.Get(r, "/all/{n}", reply(func(in struct {
		N      int `path:"n"`
		Q      int `query:"q"        required:"true"`
		Trace  int `header:"X-Trace" required:"true"`
		Visits int `cookie:"visits"  required:"true"`
	},
	) object {
		return object{"n": in.N, "q": in.Q, "trace": in.Trace, "visits": in.Visits}
	}))
}

func formatted(t *time.Time, layout string) *string {
	if t == nil {
		return nil
	}
	return new(t.Format(layout))
}

type (
	// Item has the bounds of a thing for sale.
	Item struct {
		Title string  `json:"title" maxLength:"10" minLength:"2"`
		Price float64 `json:"price" maximum:"1000" minimum:"0"`
		Stock int     `default:"1"  json:"stock"`
		Note  *string `json:"note"`
	}
	// Owner is a person, who owns an order.
	Owner struct {
		Name string `json:"name" minLength:"1"`
		Age  *int   `json:"age"`
	}
	// Order has lists and maps in it.
	Order struct {
		Owner  Owner          `json:"owner"`
		Items  []Item         `json:"items"  maxItems:"2"     minItems:"1"`
		Tags   []string       `json:"tags"   minLength:"2"    required:"false"`
		Counts map[string]int `json:"counts" required:"false"`
	}
	// Kinds has a field of each kind.
	Kinds struct {
		Flag  bool        `default:"false" json:"flag"`
		Mode  string      `default:"new"   enum:"new,used"      json:"mode"`
		Day   *time.Time  `format:"date"   json:"day"`
		At    *time.Time  `json:"at"`
		UID   *string     `format:"uuid"   json:"uid"`
		URL   *string     `format:"uri"    json:"url"`
		Mail  *string     `format:"email"  json:"mail"`
		IP    *netip.Addr `json:"ip"`
		Ratio float64     `default:"0.5"   exclusiveMaximum:"1" exclusiveMinimum:"0" json:"ratio"`
		Even  int         `default:"2"     json:"even"          multipleOf:"2"`
		Code  string      `default:"ab"    json:"code"          pattern:"^[a-z]+$"`
	}
	// Cat is a pet.
	Cat struct {
		Kind  string `const:"cat"  json:"kind"`
		Lives int    `json:"lives"`
	}
	// Dog is another.
	Dog struct {
		Kind string `const:"dog" json:"kind"`
		Name string `json:"name"`
	}
	// Pet is one of them.
	Pet struct {
		Cat *Cat
		Dog *Dog
	}
	// Span is checked as a whole.
	Span struct {
		First int `json:"first"`
		Last  int `json:"last"`
	}
)

// Validate implements [rest.Validator].
func (s Span) Validate(context.Context) error {
	if s.Last < s.First {
		return rest.Invalid(rest.Fault{
			In: "body", Path: []any{"last"}, Kind: "value_error", Message: "must not be before first",
		})
	}
	return nil
}

func bodies(r *rest.Routes) {
	type twoIn struct {
		Owner Owner `json:"owner"`
		Item  Item  `json:"item"`
	}
	type mixedIn struct {
		N    int `path:"n"`
		Q    int `query:"q"`
		Body Owner
	}
	rest.Post(r, "/item", reply(func(in Item) Item { return in }))
	rest.Post(r, "/order", reply(func(in Order) Order { return in }))
	rest.Post(r, "/kinds", reply(func(in Kinds) Kinds { return in }))
	rest.Post(r, "/owners", reply(func(in struct{ Body []Owner }) []Owner { return in.Body }), rest.BodyName("owners"))
	rest.Post(r, "/optional", reply(func(in struct{ Body *Owner }) object {
		if in.Body == nil {
			return object{"owner": nil}
		}
		return object{"owner": in.Body.Name}
	}))
	rest.Post(r, "/two", reply(func(in twoIn) object { return object{"owner": in.Owner.Name, "item": in.Item.Title} }),
		rest.BodyName(""))
	rest.Put(r, "/mixed/{int:n}", reply(func(in mixedIn) object {
		return object{"n": in.N, "q": in.Q, "owner": in.Body.Name}
	}))
	rest.Post(r, "/pet", reply(func(in struct{ Body rest.OneOf[Pet] }) object {
		if in.Body.Value.Cat != nil {
			return object{"kind": in.Body.Value.Cat.Kind}
		}
		return object{"kind": in.Body.Value.Dog.Kind}
	}), rest.BodyName("pet"))
	rest.Post(r, "/span", reply(func(in Span) object { return object{"first": in.First, "last": in.Last} }))
	rest.Handle(r, []string{"PUT", "PATCH"}, "/generic", reply(func(in Owner) object { return object{"name": in.Name} }))
}

func forms(r *rest.Routes) {
	rest.Post(r, "/contact", reply(func(in struct {
		Name string `form:"name"  minLength:"2" required:"true"`
		Age  int    `default:"18" form:"age"`
	},
	) object {
		return object{"name": in.Name, "age": in.Age}
	}))
	rest.Post(r, "/scalars", reply(func(in struct {
		N    int      `form:"n"    required:"true"`
		Tags []string `form:"tags"`
	},
	) object {
		return object{"n": in.N, "tags": append([]string{}, in.Tags...)}
	}))
	rest.Post(r, "/file", reply(func(in struct {
		Cover *multipart.FileHeader `file:"cover" required:"true"`
	},
	) object {
		return object{"name": in.Cover.Filename, "size": in.Cover.Size, "type": in.Cover.Header.Get("Content-Type")}
	}))
	rest.Post(r, "/files", reply(func(in struct {
		Pages []*multipart.FileHeader `file:"pages" required:"true"`
	},
	) object {
		sizes := []int64{}
		for _, p := range in.Pages {
			sizes = append(sizes, p.Size)
		}
		return object{"sizes": sizes}
	}))
	rest.Post(r, "/both", reply(func(in struct {
		Name  string                `form:"name"  required:"true"`
		Cover *multipart.FileHeader `file:"cover" required:"true"`
	},
	) object {
		return object{"name": in.Name, "size": in.Cover.Size}
	}))
}

// Planet is a row of the lists.
type Planet struct {
	ID    int64  `json:"id"`
	Name  string `json:"name"`
	Moons int    `json:"moons"`
	Ring  bool   `json:"ring"`
}

type planetFilter struct {
	Name    *string `filter:"__icontains"`
	Least   *int    `filter:"moons__gte"`
	Ring    *bool
	MoonsLT *int    `query:"moons__lt"`
	IDs     []int64 `filter:"id__in"   query:"ids"`
}

func planets() []Planet {
	return []Planet{
		{1, "Mercury", 0, false},
		{2, "Venus", 0, false},
		{3, "Earth", 1, false},
		{4, "Mars", 2, false},
		{5, "Jupiter", 95, true},
		{6, "Saturn", 146, true},
		{7, "Uranus", 28, true},
		{8, "Neptune", 16, true},
	}
}

func lists(r *rest.Routes) {
	all := func(context.Context, struct{}) ([]Planet, error) { return planets(), nil }
	rest.List(r, "/all", all, page.None())
	rest.List(r, "/numbers", all, page.PageNumberPaginationExtra(page.Size(3)))
	rest.List(r, "/offsets", all, page.LimitOffset())
	rest.List(r, "/default", all)
	rest.List(r, "/filtered", all, page.PageNumberPaginationExtra(page.Size(3)), query.Filter[planetFilter]())
	rest.List(r, "/ordered", all, page.None(), query.Order("name", "moons"))
	rest.List(r, "/searched", all, page.None(), query.Search("name"))
	rest.List(r, "/memory", always([]string{"a", "b", "c"}), page.LimitOffset())
}

func throttles(r *rest.Routes) {
	rest.Get(r, "/one", always("in"), rest.Throttles(throttle.PerClient("1/min")))
	rest.Get(r, "/two", always("in"), rest.Throttles(throttle.PerClient("2/hour")))
	rest.Get(r, "/free", always("in"))
}

// Message is a short answer.
type Message struct {
	Message string `json:"message"`
}

func answers(r *rest.Routes) {
	rest.Post(r, "/made", always(Message{"made"}), rest.Status(http.StatusCreated))
	rest.Delete(r, "/gone", always(rest.NoContent{}))
	rest.Get(r, "/chosen", func(ctx context.Context, in struct {
		Found bool `default:"true" query:"found"`
	},
	) (*rest.Reply, error) {
		if in.Found {
			return rest.CreateResponse(ctx, Message{"here"}, http.StatusOK), nil
		}
		return rest.CreateResponse(ctx, Message{"away"}, http.StatusNotFound), nil
	}, rest.Returns[Message](http.StatusOK), rest.Returns[Message](http.StatusNotFound))
	rest.Get(r, "/undeclared", func(ctx context.Context, _ struct{}) (*rest.Reply, error) {
		return rest.CreateResponse(ctx, Message{"x"}, http.StatusAccepted), nil
	}, rest.Returns[Message](http.StatusOK))
	rest.Get(r, "/headers", func(ctx context.Context, _ struct{}) (string, error) {
		rest.ResponseOf(ctx).Header().Set("X-By", "ann")
		rest.ResponseOf(ctx).SetCookie(&http.Cookie{Name: "theme", Value: "dark", Path: "/"})
		return "ok", nil
	})
	rest.Get(r, "/null", always[any](nil))
	rest.Get(r, "/created", func(ctx context.Context, _ struct{}) (*rest.Reply, error) {
		return rest.CreateResponse(ctx, map[string]int{"a": 1}, http.StatusCreated), nil
	}, rest.Returns[map[string]int](http.StatusCreated))
	rest.Get(r, "/text", always("Grüße <b>"))
	rest.Get(r, "/error/{name}", func(_ context.Context, in struct {
		Name string `path:"name"`
	},
	) (string, error) {
		return "", failures[in.Name]
	})
}

// failures are the errors that handlers return.
var failures = map[string]error{
	"api":         &rest.Error{Status: http.StatusInternalServerError},
	"auth":        rest.Errorf(http.StatusUnauthorized, "Incorrect authentication credentials."),
	"unknown":     rest.Errorf(http.StatusUnauthorized, "Authentication credentials were not provided."),
	"denied":      rest.Denied(""),
	"denied_why":  rest.Denied("Not you."),
	"missing":     rest.NotFound(""),
	"missing_why": rest.NotFound("No such book."),
	"http":        rest.Errorf(http.StatusTeapot, "3 pots"),
	"conflict":    rest.Conflict("Taken."),
	"throttled": &rest.Error{
		Status: http.StatusTooManyRequests, Detail: "Request was throttled. Expected available in 6 seconds.",
		Header: http.Header{"Retry-After": {"6"}},
	},
	"plain": io.ErrUnexpectedEOF,
}

// Book is a row of the model controller.
type Book struct {
	ID    int64   `json:"id"`
	Title string  `json:"title" maxLength:"20" minLength:"1"`
	Price float64 `default:"1"  json:"price"   minimum:"0"`
	ISBN  string  `json:"isbn"`
}

type books struct{ crud.Controller[Book, int64] }

func newBooks() *books {
	store := crud.Memory[Book, int64](crud.MemoryConfig{Unique: [][]string{{"isbn"}}})
	for i, title := range []string{"Emma", "Persuasion", "Dracula"} {
		if err := store.Insert(
			context.Background(), &Book{Title: title, Price: float64(i + 1), ISBN: fmt.Sprint("isbn-", i+1)},
		); err != nil {
			panic(err)
		}
	}
	return &books{crud.New(store, crud.ModelConfig[Book]{
		Pagination: crud.ModelPagination{Klass: page.Number, PaginatorKwargs: map[string]any{"page_size": 2}},
	})}
}
