package rest_test

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/auth"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/resttest"
	"github.com/spoolhq/spool/rest/throttle"
)

type label struct {
	Text string `json:"text"`
}

// pamphlet has two forms: what has a default may be left out, and is always answered.
type pamphlet struct {
	ID     int64     `json:"id"               readOnly:"true"`
	Copies int       `json:"copies"           default:"1"`
	Tags   []label   `json:"tags"`
	Note   *string   `json:"note"`
	First  *label    `json:"first"`
	Parts  []section `json:"parts"`
	Secret string    `json:"secret,omitempty" writeOnly:"true"`
}

// section differs by what it contains only.
type section struct {
	Of *pamphlet `json:"of,omitempty"`
}

type pamphlets struct{}

func (pamphlets) Routes(r *rest.Routes) {
	r.Configure(rest.Prefix("/pamphlets"))
	rest.Post(r, "/", func(_ context.Context, in pamphlet) (pamphlet, error) { return in, nil }, rest.Name("create"))
	rest.List(r, "/", func(context.Context, struct{}) ([]pamphlet, error) { return nil, nil }, rest.Name("list"),
		page.Number())
	rest.Post(r, "/labels", func(_ context.Context, in label) (label, error) { return in, nil }, rest.Name("label"))
}

func TestRequestsAndAnswersDiffer(t *testing.T) {
	t.Parallel()

	d := document(t, serve(pamphlets{}.Routes))
	schemas := func(name string) any { return at(d, "components", "schemas", name) }
	wantDiff(t, "of answers", []any{"id", "copies", "tags", "note", "first", "parts"}, at(schemas("Pamphlet"), "required"))
	wantDiff(t, "of requests", []any{"tags", "parts"}, at(schemas("PamphletInput"), "required"))
	wantDiff(t, "null in an answer", map[string]any{"anyOf": []any{
		map[string]any{"$ref": "#/components/schemas/Label"}, map[string]any{"type": "null", "enum": []any{nil}},
	}}, at(schemas("Pamphlet"), "properties", "first"))
	wantDiff(t, "nested in a request", "#/components/schemas/SectionInput",
		at(schemas("PamphletInput"), "properties", "parts", "items", "$ref"))
	wantDiff(t, "nested in an answer", "#/components/schemas/Section",
		at(schemas("Pamphlet"), "properties", "parts", "items", "$ref"))
	wantDiff(t, "round again", "#/components/schemas/PamphletInput",
		at(schemas("SectionInput"), "properties", "of", "$ref"))
	if at(schemas("Pamphlet"), "properties", "secret") != nil ||
		at(schemas("PamphletInput"), "properties", "secret") == nil {
		t.Error("a field for requests is in an answer, or not in a request")
	}
	if schemas("LabelInput") != nil || schemas("Label") == nil {
		t.Error("a type whose forms are the same has two")
	}
	wantDiff(t, "page", "#/components/schemas/Pamphlet",
		at(schemas("PaginatedResponseSchemaPamphlet"), "properties", "results", "items", "$ref"))
	post := at(d, "paths", "/pamphlets/", "post")
	if post == nil {
		post = at(d, "paths", "/pamphlets", "post")
	}
	wantDiff(t, "request", "#/components/schemas/PamphletInput",
		at(post, "requestBody", "content", "application/json", "schema", "$ref"))
	wantDiff(t, "answer", "#/components/schemas/Pamphlet",
		at(post, "responses", "200", "content", "application/json", "schema", "$ref"))
}

// The names do not depend on what is registered first.
func TestComponentNamesAreStable(t *testing.T) {
	t.Parallel()

	post := func(r *rest.Routes) {
		rest.Post(r, "/a", func(context.Context, pamphlet) (rest.NoContent, error) { return rest.NoContent{}, nil })
	}
	show := func(r *rest.Routes) {
		rest.Get(r, "/b", func(context.Context, struct{}) (pamphlet, error) { return pamphlet{}, nil })
	}
	both := func(first, second func(*rest.Routes)) string {
		api := quiet()
		api.Register(routes(first), rest.Namespace("x"))
		api.Huma() // settles names in between
		api.Register(routes(second), rest.Namespace("x"))
		text, err := api.OpenAPI()
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	wantDiff(t, "order", strings.Split(both(post, show), "\n"), strings.Split(both(show, post), "\n"))
	if one := document(t, serve(post)); at(one, "components", "schemas", "Pamphlet") == nil ||
		at(one, "components", "schemas", "PamphletInput") != nil {
		t.Error("a type that only requests use has not its own name")
	}
}

func TestWriteOnlyIsNotAnswered(t *testing.T) {
	t.Parallel()

	type account struct {
		Password string `json:"password" writeOnly:"true"`
	}
	text := mustPanic(t, func() {
		serve(func(r *rest.Routes) {
			rest.Get(r, "/x", func(context.Context, struct{}) (account, error) { return account{}, nil })
		})
	})
	if !strings.Contains(text, "field Password") || !strings.Contains(text, "writeOnly") {
		t.Error(text)
	}
}

// receipt has headers, and a body beside them.
type receipt struct {
	Total   int            `header:"X-Total"       doc:"How many there are."`
	Version string         `header:"ETag"`
	Made    time.Time      `header:"Last-Modified"`
	Day     time.Time      `header:"X-Day"         format:"date"`
	Left    rest.Opt[int]  `header:"X-Left"`
	Cookies []*http.Cookie `header:"Set-Cookie"    doc:"The session."`
	Body    []label
}

// flat has its body beside its headers.
type flat struct {
	At   string `header:"Location" json:"-"`
	Name string `json:"name"`
}

type bare struct {
	At string `header:"Location"`
}

func receiptRoutes(r *rest.Routes) {
	rest.Get(r, "/body", func(context.Context, struct{}) (*receipt, error) {
		made := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
		return &receipt{
			Total: 0, Version: `"v1"`, Made: made, Day: made,
			Cookies: []*http.Cookie{{Name: "a", Value: "b"}, {Name: "c", Value: "d"}},
		}, nil
	})
	rest.Get(r, "/flat", func(context.Context, struct{}) (flat, error) { return flat{At: "/x", Name: "n"}, nil })
	rest.Post(r, "/bare", func(context.Context, struct{}) (bare, error) { return bare{At: "/y"}, nil })
	rest.Get(r, "/reply", func(context.Context, struct{}) (*rest.Reply, error) {
		return &rest.Reply{Status: http.StatusAccepted, Body: flat{At: "/z", Name: "r"}}, nil
	}, rest.Returns[flat](http.StatusAccepted))
	rest.Get(r, "/said", func(ctx context.Context, _ struct{}) (string, error) {
		rest.ResponseOf(ctx).Header().Set("X-Own", "1")
		return "said", nil
	}, rest.SendsHeader("X-Own", "One of ours."), rest.ReadsHeader("If-None-Match", "What is known."))
	rest.Get(r, "/broken", func(context.Context, struct{}) (flat, error) { return flat{At: "a\r\nb"}, nil })
}

func TestAnswersHaveHeaders(t *testing.T) {
	t.Parallel()

	api := serve(receiptRoutes)
	got := resttest.Do[any](t, api, http.MethodGet, "/body")
	wantDiff(t, "body", "[]\n", got.Text)
	wantDiff(t, "headers", [][]string{
		{"0"}, {`"v1"`}, {"Fri, 02 Jan 2026 03:04:05 GMT"}, {"2026-01-02"}, nil, {"a=b", "c=d"},
	}, [][]string{
		got.Header["X-Total"], got.Header["Etag"], got.Header["Last-Modified"], got.Header["X-Day"], got.Header["X-Left"],
		got.Header["Set-Cookie"],
	})
	for target, want := range map[string][]string{
		"GET /flat": {"200", "/x", `{"name":"n"}` + "\n"}, "POST /bare": {"204", "/y", ""},
		"GET /reply": {"202", "/z", `{"name":"r"}` + "\n"},
	} {
		method, path, _ := strings.Cut(target, " ")
		a := resttest.Do[any](t, api, method, path)
		wantDiff(t, target, want, []string{strconv.Itoa(a.Status), a.Header.Get("Location"), a.Text})
	}
	if a := resttest.Do[any](t, api, http.MethodGet, "/broken"); a.Status != http.StatusInternalServerError ||
		a.Header.Get("Location") != "" {
		t.Errorf("a line break in a header: %d %v", a.Status, a.Header)
	}
}

func TestHeadersAreDocumented(t *testing.T) {
	t.Parallel()

	d := document(t, serve(receiptRoutes))
	headers := func(path, method, status string) any {
		return at(d, "paths", path, method, "responses", status, "headers")
	}
	text := map[string]any{"type": "string"}
	wantDiff(t, "body", map[string]any{
		"X-Total": map[string]any{
			"description": "How many there are.", "required": true,
			"schema": map[string]any{"type": "integer", "format": "int64"},
		},
		"ETag": map[string]any{"schema": text},
		"Last-Modified": map[string]any{
			"schema": map[string]any{"type": "string", "examples": []any{"Tue, 15 Nov 1994 12:45:26 GMT"}},
		},
		"X-Day":      map[string]any{"schema": map[string]any{"type": "string", "format": "date"}},
		"X-Left":     map[string]any{"schema": map[string]any{"type": "integer", "format": "int64"}},
		"Set-Cookie": map[string]any{"description": "The session.", "schema": text},
	}, headers("/body", "get", "200"))
	wantDiff(t, "body", map[string]any{"items": map[string]any{"$ref": "#/components/schemas/Label"}, "type": "array"},
		at(d, "paths", "/body", "get", "responses", "200", "content", "application/json", "schema"))
	location := map[string]any{"Location": map[string]any{"schema": text}}
	wantDiff(t, "flat", location, headers("/flat", "get", "200"))
	wantDiff(t, "reply", location, headers("/reply", "get", "202"))
	wantDiff(t, "bare", location, headers("/bare", "post", "204"))
	wantDiff(t, "said", map[string]any{"X-Own": map[string]any{"description": "One of ours.", "schema": text}},
		headers("/said", "get", "200"))
	wantDiff(t, "read", []any{
		map[string]any{"name": "If-None-Match", "in": "header", "description": "What is known.", "schema": text},
	},
		at(d, "paths", "/said", "get", "parameters"))
}

func TestHeadersOfStagesAreDocumented(t *testing.T) {
	t.Parallel()

	list := func(context.Context, struct{}) ([]novel, error) { return nil, nil }
	from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	d := document(t, serve(func(r *rest.Routes) {
		rest.List(r, "/links", list, page.Number(page.LinkHeader()), query.Order("price", "-id"))
		rest.List(r, "/none", list, page.Number())
		rest.Get(r, "/loud", handle("x"), rest.Auth(auth.Bearer(people())), rest.Throttles(throttle.PerUser("5/min")))
		rest.Get(r, "/first", handle("x"), rest.Auth(auth.Bearer(people())), rest.ThrottlesFirst(throttle.PerUser("5/min")))
		rest.Get(r, "/quiet", handle("x"), rest.Throttles(throttle.PerUser("5/min", throttle.Quiet())))
		rest.Get(r, "/old", handle("x"), rest.Sunset(from, from.AddDate(1, 0, 0)))
	}))
	has := func(path, status, header string) bool {
		return at(d, "paths", path, "get", "responses", status, "headers", header) != nil
	}
	for _, c := range []struct {
		path, status, header string
		want                 bool
	}{
		{"/links", "200", "Link", true},
		{"/links", "404", "Link", false},
		{"/none", "200", "Link", false},
		{"/loud", "200", "RateLimit", true},
		{"/loud", "200", "RateLimit-Policy", true},
		{"/loud", "429", "RateLimit", true},
		{"/loud", "401", "RateLimit", false},
		{"/loud", "401", "WWW-Authenticate", true},
		{"/loud", "503", "Retry-After", true},
		{"/first", "200", "RateLimit", true},
		{"/quiet", "200", "RateLimit", false},
		{"/quiet", "429", "Retry-After", true},
		{"/old", "200", "Deprecation", true},
		{"/old", "200", "Sunset", true},
	} {
		if has(c.path, c.status, c.header) != c.want {
			t.Errorf("%s %s %s: documented %t", c.path, c.status, c.header, !c.want)
		}
	}
	params, _ := at(d, "paths", "/links", "get", "parameters").([]any)
	var ordering any
	for _, p := range params {
		if at(p, "name") == "ordering" {
			ordering = p
		}
	}
	wantDiff(t, "ordering", map[string]any{
		"type": "array", "items": map[string]any{"type": "string", "enum": []any{"price", "-price", "-id"}},
	}, without(at(ordering, "schema"), "description"))
	wantDiff(t, "explode", false, at(ordering, "explode"))
}

func without(object any, key string) any {
	m, _ := object.(map[string]any)
	delete(m, key)
	return m
}

func TestHeadersThatCannotBe(t *testing.T) {
	t.Parallel()

	type both struct {
		At   string `header:"Location"`
		Name string `json:"name"`
	}
	type cookie struct {
		C http.Cookie `header:"X-Cookie"`
	}
	type odd struct {
		C chan int `header:"X-Chan"`
	}
	type named struct {
		C string `header:"X Space"` //nolint:tagliatelle // as a program writes it
	}
	type length struct {
		N int `header:"content-length"` //nolint:tagliatelle // as a program writes it
	}
	for want, register := range map[string]func(r *rest.Routes){
		`field At: it is a header, and would be in the body too: give it the tag json:"-"`: answers[both],
		"a cookie is sent in Set-Cookie": answers[cookie],
		"field C":                        answers[odd],
		"is not the name of a header":    answers[named],
		"follows from the answer":        answers[length],
	} {
		if text := mustPanic(t, func() { serve(register) }); !strings.Contains(text, want) {
			t.Errorf("got %s, want %s", text, want)
		}
	}
}

func answers[T any](r *rest.Routes) {
	rest.Get(r, "/x", func(context.Context, struct{}) (out T, err error) { return out, nil })
}
