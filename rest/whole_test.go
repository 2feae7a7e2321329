package rest_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/resttest"
)

type hooked struct {
	Name string `json:"name"`
	Done func() `json:"done,omitzero"`
}

type twice struct {
	A string `json:"name"`
	B string `json:"name"` //nolint:govet // what is refused
}

type (
	left   struct{ ID, Left int }
	right  struct{ ID, Right int }
	either struct {
		left
		right
	}
	chosen struct {
		left
		right

		ID int
	}
)

// writesItself has a text of its own, so what is in it does not matter.
type writesItself struct{ F func() }

func (w writesItself) MarshalText() ([]byte, error) { return []byte("x"), nil }

type node struct {
	Children []node         `json:"children"`
	Any      any            `json:"any"`
	Own      writesItself   `json:"own"`
	Hidden   func()         `json:"-"`
	Map      map[string]int `json:"map"`
}

// What JSON cannot have is found when the route is registered, and not by a client.
func TestDocumentsAreWhole(t *testing.T) {
	t.Parallel()

	const lost = "have one name in JSON"
	for name, c := range map[string]struct{ got, want string }{
		"Func":       {registered[struct{}, hooked](), "rest_test.hooked: field Done: JSON has no func()"},
		"List":       {registered[struct{}, []map[string]*hooked](), "JSON has no func()"},
		"Chan":       {registered[struct{}, struct{ C chan int }](), "JSON has no chan int"},
		"Complex":    {registered[struct{}, struct{ C rest.Opt[complex128] }](), "JSON has no complex128"},
		"Names":      {registered[struct{}, twice](), `the fields A and B ` + lost + `, "name"`},
		"Embedded":   {registered[struct{}, either](), "the fields left.ID and right.ID " + lost},
		"InBody":     {registered[twice, string](), "the body: rest_test.twice: the fields A and B " + lost},
		"FuncInBody": {registered[hooked, string](), "JSON has no func()"},
		"Declared": {mustPanic(t, func() {
			serve(func(r *rest.Routes) { rest.Get(r, "/x", handle(""), rest.Returns[twice](http.StatusAccepted)) })
		}), lost},
		"Listed": {mustPanic(t, func() {
			serve(func(r *rest.Routes) {
				rest.List(r, "/x", func(context.Context, struct{}) ([]twice, error) { return nil, nil })
			})
		}), lost},
	} {
		if !strings.Contains(c.got, c.want) {
			t.Errorf("%s: got %q, want %s", name, c.got, c.want)
		}
	}
	for _, got := range []string{
		registered[struct{}, chosen](), registered[struct{}, node](), registered[struct{}, json.RawMessage](),
	} {
		if got != "" {
			t.Error(got)
		}
	}
}

type uploadBase struct {
	Folder string `query:"folder"`
	Body   rest.Upload
}

type embeddedUpload struct {
	rest.Upload

	Folder string `query:"folder"`
}

type uploadField struct {
	File rest.Upload `json:"file"`
}

func readAll[In any](of func(In) rest.Upload) func(context.Context, In) (string, error) {
	return func(_ context.Context, in In) (string, error) {
		text, err := io.ReadAll(of(in))
		return string(text), err
	}
}

// An upload may stand in an embedded struct, be embedded, or be the input.
func TestEmbeddedUpload(t *testing.T) {
	t.Parallel()

	type inStruct struct{ uploadBase }
	type only struct{ rest.Upload }
	api := serve(func(r *rest.Routes) {
		rest.Post(r, "/a", readAll(func(in inStruct) rest.Upload { return in.Body }))
		rest.Post(r, "/b", readAll(func(in embeddedUpload) rest.Upload { return in.Upload }))
		rest.Post(r, "/c", readAll(func(in only) rest.Upload { return in.Upload }))
		rest.Post(r, "/d", readAll(func(in rest.Upload) rest.Upload { return in }))
	})
	for _, path := range []string{"/a?folder=f", "/b?folder=f", "/c", "/d"} {
		a := resttest.Do[string](t, api, http.MethodPost, path, resttest.Content("image/png", "png"))
		if a.Body != "png" {
			t.Errorf("%s: got %d %s", path, a.Status, a.Text)
		}
	}
	document, err := api.OpenAPI()
	if n := strings.Count(string(document), `"application/octet-stream": {`); n != 4 || err != nil {
		t.Errorf("the document has %d uploads (%v), want 4", n, err)
	}

	for want, got := range map[string]string{
		"uploadField.File is a rest.Upload, which is a whole body": registered[uploadField, string](),
		"Body is a rest.Upload":   registered[struct{ Body *rest.Upload }, string](),
		"Upload is a rest.Upload": registered[struct{ *rest.Upload }, string](),
		"Title is neither a parameter nor in the ": registered[struct {
			Body  rest.Upload
			Title string
		}, string](),
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got %q, want %s", got, want)
		}
	}
}

func TestMethodIsNamed(t *testing.T) {
	t.Parallel()

	api := serve(func(r *rest.Routes) { rest.Get(r, "/x", handle("")) })
	for method, want := range map[string]string{
		"PROPFIND": `Method \"PROPFIND\" not allowed.`, "get": `Method \"get\" not allowed.`, "M-SEARCH": `M-SEARCH`,
		"<b>": `Method \"?\" not allowed.`, strings.Repeat("X", 33): `Method \"?\"`,
	} {
		r := httptest.NewRequest(http.MethodPost, "/x", nil)
		r.Method = method
		if status, text := record(api, r); status != http.StatusMethodNotAllowed || !strings.Contains(text, want) {
			t.Errorf("%s: got %d %s, want %s", method, status, text, want)
		}
	}
}

type numbers struct {
	N    int8    `maximum:"10"          minimum:"-5"    query:"n"`
	F    float32 `exclusiveMaximum:"10" query:"f"`
	Free int8    `query:"free"`
	Key  string  `header:"X-API-Key"    required:"true"` //nolint:tagliatelle // the spelling is that of faults

	Body struct {
		N    int8    `json:"n,omitempty"    maximum:"10"       minimum:"-5"`
		F    float32 `exclusiveMaximum:"10" json:"f,omitempty"`
		Free uint8   `json:"free,omitempty"`
	}
}

// A number that its type cannot hold breaks a limit as any other, and a header has the name of
// its tag.
func TestFaultsSayWhatIsTrue(t *testing.T) {
	t.Parallel()

	api := serve(func(r *rest.Routes) {
		rest.Post(r, "/x", func(_ context.Context, in numbers) (string, error) { return in.Key, nil })
	})
	for query, want := range map[string]string{
		"n=300":      `"query.n","kind":"less_than_equal","message":"must be at most 10"`,
		"n=-9e":      `"query.n","kind":"int_parsing"`,
		"n=-300":     `"query.n","kind":"greater_than_equal","message":"must be at least -5"`,
		"f=1e60":     `"query.f","kind":"less_than","message":"must be less than 10"`,
		"f=-1e60":    `"query.f","kind":"float_overflow"`,
		"free=300":   `"query.free","kind":"int_overflow","message":"must be a whole number from -128 to 127"`,
		"free=1":     `{"location":"header.X-API-Key","kind":"missing","message":"is required"}`,
		"#n=300":     `"body.n","pointer":"/n","kind":"less_than_equal","message":"must be at most 10"`,
		"#n=-1e400":  `"body.n","pointer":"/n","kind":"greater_than_equal","message":"must be at least -5"`,
		"#n=3e30":    `"kind":"less_than_equal"`,
		"#f=1e60":    `"body.f","pointer":"/f","kind":"less_than"`,
		"#f=-1e60":   `"kind":"float_overflow"`,
		"#free=1e30": `"kind":"int_overflow","message":"must be a whole number from 0 to 255"`,
	} {
		body := "{}"
		if field, ok := strings.CutPrefix(query, "#"); ok {
			name, value, _ := strings.Cut(field, "=")
			query, body = "", `{"`+name+`":`+value+`}`
		}
		r := httptest.NewRequest(http.MethodPost, "/x?"+query, strings.NewReader(body))
		if _, text := record(api, r); !strings.Contains(text, want) {
			t.Errorf("%s%s: got %s, want %s", query, body, text, want)
		}
	}
	document, err := api.OpenAPI()
	if err != nil || !strings.Contains(string(document), `"X-API-Key"`) {
		t.Errorf("the document has another name of the header (%v)", err)
	}
}
