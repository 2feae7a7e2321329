package rest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/auth"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/resttest"
)

func TestUnknownFields(t *testing.T) {
	t.Parallel()

	register := func(r *rest.Routes) {
		rest.Post(r, "/x", echo[newBook])
		rest.List(r, "/list", listNovels, page.Number(), query.Filter[novelFilter](), query.Order("price"))
		rest.Get(r, "/none", handle(""))
	}
	const known, more = `{"title":"a","price":1}`, `{"title":"a","price":1,"more":{"x":[1]}}`
	for name, c := range map[string]struct {
		options []rest.APIOption
		// more in a body, in the query of a POST, in that of a list, and of what has no input
		body, query, list, none int
	}{
		"default": {nil, 422, 200, 200, 200},
		"fields":  {[]rest.APIOption{rest.Unknown(rest.RefuseFields)}, 422, 200, 200, 200},
		"ignore":  {[]rest.APIOption{rest.Unknown(rest.IgnoreUnknown)}, 200, 200, 200, 200},
		"all":     {[]rest.APIOption{rest.Unknown(rest.RefuseAll)}, 422, 422, 422, 422},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := serve(register, append(c.options, rest.Auth(auth.APIKeyQuery("key", people())))...)
			text := func(body string) resttest.Option { return resttest.Content("application/json", body) }
			wantStatus(t, api, http.MethodPost, "/x?key=bob-key", http.StatusOK, text(known))
			wantStatus(t, api, http.MethodPost, "/x?key=bob-key", c.body, text(more))
			wantStatus(t, api, http.MethodPost, "/x?key=bob-key&more=1", c.query, text(known))
			wantStatus(t, api, http.MethodGet, "/list?key=bob-key&page=1&ordering=price&title=e", http.StatusOK)
			wantStatus(t, api, http.MethodGet, "/list?key=bob-key&more=1", c.list)
			wantStatus(t, api, http.MethodGet, "/none?key=bob-key&more=1", c.none)
			responses := at(document(t, api), "paths", "/none", "get", "responses", "422")
			if (responses != nil) != (c.none == 422) {
				t.Errorf("documented 422: %v", responses)
			}
		})
	}
}

func TestUnknownFieldsOfOneTypeInTwoRoutes(t *testing.T) {
	t.Parallel()

	api := serve(func(r *rest.Routes) {
		rest.Post(r, "/strict", echo[newBook])
		rest.Post(r, "/lenient", echo[newBook], rest.Unknown(rest.IgnoreUnknown))
	})
	more := resttest.Content("application/json", `{"title":"a","price":1,"more":1}`)
	wantStatus(t, api, http.MethodPost, "/strict", http.StatusUnprocessableEntity, more)
	wantStatus(t, api, http.MethodPost, "/lenient", http.StatusOK, more)
}

// change is an input that tells absent, null and set apart, in both ways that there are.
type change struct {
	ID    int64            `path:"id"`
	Title rest.Opt[string] `json:"title,omitzero"  minLength:"2"`
	Price *float64         `json:"price,omitempty"`
	Notes string           `json:"notes"           required:"false" default:"none"`
}

func TestPresence(t *testing.T) {
	t.Parallel()

	api := serve(func(r *rest.Routes) {
		rest.Patch(r, "/{int:id}", func(ctx context.Context, in change) (string, error) {
			title, set := in.Title.Get()
			return fmt.Sprintf("%q %v null=%v absent=%v price=%v/%v notes=%s/%v %v", title, set, in.Title.IsNull(),
				in.Title.IsAbsent(),
				in.Price != nil, rest.Sent(ctx, "price"), in.Notes, rest.Sent(ctx, "notes"), rest.SentFields(ctx)), nil
		})
	})
	for body, want := range map[string]string{
		`{}`:               `"" false null=false absent=true price=false/false notes=none/false []`,
		`{"title":null}`:   `"" false null=true absent=false price=false/false notes=none/false [title]`,
		`{"title":"ab"}`:   `"ab" true null=false absent=false price=false/false notes=none/false [title]`,
		`{"price":null}`:   `"" false null=false absent=true price=false/true notes=none/false [price]`,
		`{"notes":""}`:     `"" false null=false absent=true price=false/false notes=/true [notes]`,
		`{"title":"a"}`:    "",
		`{"title":7}`:      "",
		`{"titel":"abcd"}`: "",
	} {
		a := resttest.Do[string](t, api, http.MethodPatch, "/7", resttest.Content("application/json", body))
		if a.Body != want || (want == "") != (a.Status == http.StatusUnprocessableEntity) {
			t.Errorf("%s: got %d %q, want %q", body, a.Status, a.Body, want)
		}
	}
}

// period is an input that checks itself.
type period struct {
	From int `query:"from"`
	To   int `query:"to"`
}

func (p *period) Validate(ctx context.Context) error {
	switch {
	case p.From > p.To:
		return rest.Invalid(rest.Fault{
			In: "query", Path: []any{"to"}, Kind: "before_from", Message: "It ends before it begins.",
		})
	case p.To > 100:
		return rest.Conflict(rest.RouteName(ctx))
	case p.To == 100:
		return errors.New("secret")
	}
	return nil
}

func TestValidate(t *testing.T) {
	t.Parallel()

	type below struct {
		ID int64 `path:"id"`
		newBook
	}
	api := serve(func(r *rest.Routes) {
		rest.Get(r, "/x", echo[period], rest.Name("x"))
		rest.Get(r, "/pointer", func(_ context.Context, in *period) (int, error) { return in.To, nil })
		rest.Put(r, "/{int:id}", echo[below])
	})
	for target, want := range map[string]string{
		"/x?from=1&to=2":       `200 {"From":1,"To":2}`,
		"/x?from=2&to=1":       "422 query.to: before_from",
		"/x?from=2&to=x":       "422 query.to: int_parsing", // not asked when something is wrong already
		"/x?to=101":            "409 Routes.x",
		"/x?to=100":            "500 Internal error.",
		"/pointer?to=7":        "200 7",
		"/pointer?from=2&to=1": "422 query.to: before_from",
	} {
		a := resttest.Do[any](t, api, http.MethodGet, target)
		got := fmt.Sprint(a.Status, " ")
		switch {
		case a.Error == nil:
			got += strings.TrimSpace(a.Text)
		case len(a.Error.Faults) > 0:
			got += strings.Trim(fmt.Sprint(a.Error.Faults), "[]")
		default:
			got += a.Error.Detail
		}
		wantDiff(t, target, want, got)
	}
	a := resttest.Do[any](t, api, http.MethodPut, "/7", resttest.Content("application/json", `{"title":"","price":-1}`))
	wantDiff(t, "embedded body", "[body.title: string_too_short body.price: greater_than_equal]",
		fmt.Sprint(a.Error.Faults))
}

func TestInputByItself(t *testing.T) {
	t.Parallel()

	// The pointer is another one for each request.
	var before *period
	api := serve(func(r *rest.Routes) {
		rest.Get(r, "/x", func(_ context.Context, in *period) (bool, error) {
			same := in == before
			before = in
			return same, nil
		})
		rest.Get(r, "/empty", func(_ context.Context, in *struct{}) (bool, error) { return in != nil, nil })
		rest.Post(r, "/body", func(_ context.Context, in struct {
			Body []author `minItems:"1"`
		},
		) (int, error) {
			return len(in.Body), nil
		})
		rest.Get(r, "/param", func(_ context.Context, in struct {
			Body string `query:"body"`
		},
		) (string, error) {
			return in.Body, nil
		})
	})
	for target, want := range map[string]string{"/x": "false", "/empty": "true", "/param?body=b": `"b"`} {
		_, text := get(t, api, target)
		wantDiff(t, target, want, text)
	}
	if _, text := get(t, api, "/x"); text != "false" {
		t.Error("two requests share an input")
	}
	a := resttest.Do[int](t, api, http.MethodPost, "/body", resttest.JSON([]author{{1, "a"}, {2, "b"}}))
	wantDiff(t, "list", 2, a.Body)
}

// piecemeal is a codec that breaks its contract.
type piecemeal struct{}

func (piecemeal) NewEncoder(w io.Writer) rest.Encoder { return pieces{w} }
func (piecemeal) Unmarshal(data []byte, into any) error {
	return json.Unmarshal(data, into)
}

type pieces struct{ w io.Writer }

func (p pieces) Encode(v any) error {
	text, err := json.Marshal(v)
	_, _ = p.w.Write(text[:1])
	_, _ = p.w.Write(text[1:])
	return err
}

// counter is a codec that counts what it encodes.
type counter struct{ encoded *int }

func (c counter) NewEncoder(w io.Writer) rest.Encoder { return counted{json.NewEncoder(w), c} }
func (counter) Unmarshal(data []byte, into any) error { return json.Unmarshal(data, into) }

type counted struct {
	*json.Encoder

	c counter
}

func (c counted) Encode(v any) error {
	*c.c.encoded++
	return c.Encoder.Encode(v)
}

func TestCodecs(t *testing.T) {
	t.Parallel()

	c := counter{new(int)}
	register := func(r *rest.Routes) {
		rest.Post(r, "/x", echo[newBook])
		rest.Get(r, "/long", func(context.Context, struct{}) (string, error) { return strings.Repeat("x", 5000), nil })
	}
	api := serve(register, rest.JSON(c))
	wantStatus(t, api, http.MethodPost, "/x", http.StatusOK, resttest.JSON(newBook{"Emma", 1}))
	wantStatus(t, api, http.MethodPost, "/x", http.StatusUnprocessableEntity, resttest.JSON(newBook{"", 1}))
	wantDiff(t, "encoded, of which none is an error", 1, *c.encoded)
	own := serve(register, rest.JSON(c), rest.Errors(encoded{rest.ProblemErrors}))
	wantStatus(t, own, http.MethodPost, "/x", http.StatusUnprocessableEntity, resttest.JSON(newBook{"", 1}))
	wantDiff(t, "encoded, with an error of the program's renderer", 2, *c.encoded)
	a := resttest.Do[string](t, api, http.MethodGet, "/long")
	wantDiff(t, "length", "5003", a.Header.Get("Content-Length"))

	for _, path := range []string{"/long", "/nowhere"} {
		w, aborted := httptest.NewRecorder(), false
		func() {
			defer func() { aborted = recover() != nil }()
			serve(register, rest.JSON(piecemeal{}), rest.Errors(encoded{rest.ProblemErrors})).ServeHTTP(w,
				httptest.NewRequest(http.MethodGet, path, nil))
		}()
		if !aborted || w.Body.Len() != 1 {
			t.Errorf("%s: a part was taken for the whole: %d bytes", path, w.Body.Len())
		}
	}
}

func TestSunset(t *testing.T) {
	t.Parallel()

	at1 := january(2026)
	api := serve(func(r *rest.Routes) {
		rest.Get(r, "/x", handle(""), rest.Sunset(at1, january(2027)))
		rest.Get(r, "/error", func(context.Context, struct{}) (string, error) { return "", rest.NotFound("") },
			rest.Sunset(at1, january(2027)))
		rest.Get(r, "/lines", func(context.Context, struct{}) (rest.Lines[int], error) {
			return rest.Lines[int]{Items: sequence(nil, 1)}, nil
		}, rest.Sunset(at1, january(2027)))
		rest.Get(r, "/new", handle(""))
	})
	for path, want := range map[string][]string{
		"/x": {"@1767312000", "Sat, 02 Jan 2027 00:00:00 GMT"}, "/error": {"@1767312000", "Sat, 02 Jan 2027 00:00:00 GMT"},
		"/lines": {"@1767312000", "Sat, 02 Jan 2027 00:00:00 GMT"}, "/new": {"", ""},
	} {
		a := resttest.Do[any](t, api, http.MethodGet, path)
		wantDiff(t, path, want, []string{a.Header.Get("Deprecation"), a.Header.Get("Sunset")})
	}
	wantDiff(t, "document", any(true), at(document(t, api), "paths", "/x", "get", "deprecated"))
}

// A controller may make its inputs of data.
func TestInputType(t *testing.T) {
	t.Parallel()

	input := reflect.StructOf([]reflect.StructField{
		{Name: "Shop", Type: reflect.TypeFor[string](), Tag: `path:"shop"`},
		{Name: "Body", Type: reflect.TypeFor[map[string]int]()},
	})
	var link *rest.Endpoint[reflect.Value, string]
	api := serve(func(r *rest.Routes) {
		link = rest.Post(r, "/{shop}/stock", func(_ context.Context, in reflect.Value) (string, error) {
			return fmt.Sprint(in.Field(0), in.Field(1)), nil
		}, rest.InputType(input))
	})
	w := httptest.NewRecorder()
	api.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/west/stock", strings.NewReader(`{"emma":2}`)))
	if got := strings.TrimSpace(w.Body.String()); got != `"west map[emma:2]"` {
		t.Errorf("answered %d %s", w.Code, got)
	}
	in := reflect.New(input).Elem()
	in.Field(0).SetString("east")
	if url, err := link.URL(in); url != "/east/stock" || err != nil {
		t.Errorf("the link is %s (%v)", url, err)
	}
}
