package rest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/auth"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/permission"
	"github.com/spoolhq/spool/rest/resttest"
)

// everyFault is an input with a rule of most kinds.
type everyFault struct {
	N      int       `path:"n"`
	Count  int8      `query:"count"    minimum:"2"          maximum:"9"`
	Ratio  float64   `query:"ratio"    exclusiveMinimum:"0" exclusiveMaximum:"1"`
	Flag   bool      `query:"flag"`
	Mode   string    `query:"mode"     enum:"a,b"`
	When   time.Time `query:"when"`
	Day    time.Time `query:"day"      format:"date"`
	IDs    []int     `query:"id"       minItems:"2"`
	Trace  string    `header:"X-Trace" required:"true"`
	Locale string    `cookie:"locale"  pattern:"^[a-z]{2}$"`
	Body   struct {
		Title string            `json:"title"         minLength:"2"    maxLength:"4"`
		Price float64           `json:"price"         multipleOf:"0.5"`
		Age   int               `json:"age"`
		Tags  []string          `json:"tags"          maxItems:"1"     minLength:"2"`
		Owner author            `json:"owner"`
		Extra map[string]int    `json:"extra"         required:"false"`
		UUID  string            `json:"uuid"          format:"uuid"`
		Mail  string            `json:"mail"          format:"email"`
		Note  rest.Opt[string]  `json:"note,omitzero" maxLength:"1"`
		Links map[string]string `json:"links"         required:"false"`
	}
}

// statusError is an error of a program with a status of its own.
type statusError int

func (e statusError) Error() string   { return "own words" }
func (e statusError) HTTPStatus() int { return int(e) }

var errGone = errors.New("gone: secret")

// errorAPI has a route for each error that there is.
func errorAPI(r rest.ErrorRenderer) *rest.API {
	fail := func(err error) func(context.Context, struct{}) (string, error) {
		return func(context.Context, struct{}) (string, error) { return "", err }
	}
	wait := func(d time.Duration) rest.RouteOption {
		return rest.Throttles(throttleFunc(func(context.Context) (rest.Verdict, error) {
			return rest.Verdict{RetryAfter: d}, nil
		}))
	}
	return serve(func(r *rest.Routes) {
		rest.Post(r, "/every/{n}", func(context.Context, everyFault) (string, error) { return "", nil })
		rest.Post(r, "/body", echo[newBook], rest.MaxBody(100))
		rest.Get(r, "/auth", handle(""), rest.Auth(bearer()))
		rest.Get(r, "/denied", handle(""), rest.Permit(deny))
		rest.Get(r, "/denied/message", handle(""), rest.Permit(permission.WithMessage(deny, "Only on Sundays.")))
		rest.Get(r, "/denied/body", handle(""),
			rest.Permit(permission.WithBody(deny, map[string]string{"code": "E1", "why": "x"})))
		rest.Get(r, "/throttled/0", handle(""), wait(0))
		rest.Get(r, "/throttled/1", handle(""), wait(time.Second))
		rest.Get(r, "/throttled/6", handle(""), wait(5100*time.Millisecond))
		rest.List(r, "/page", listNovels, page.Number())
		rest.Get(r, "/{int:id}", func(ctx context.Context, in byID) (*book, error) {
			return rest.GetOrNotFound(ctx, func(context.Context, int64) (*book, error) { return nil, nil }, in.ID)
		})
		for name, err := range map[string]error{
			"not_found":     rest.NotFound(""),
			"not_found_own": fmt.Errorf("load secret: %w", rest.NotFound("No such book.")),
			"wrapped":       fmt.Errorf("secret: %w", rest.ErrNotFound),
			"conflict":      rest.Conflict("The title is taken."),
			"errorf":        rest.Errorf(http.StatusTeapot, "%d pots", 3),
			"code": &rest.Error{
				Status: http.StatusConflict, Code: "taken", Detail: "Taken.", Err: errGone, Header: http.Header{"X-By": {"ann"}},
			},
			"body": &rest.Error{Status: http.StatusConflict, Body: []string{"Invalid input."}, Err: errGone},
			"invalid": rest.Invalid(rest.Fault{
				In: "body", Path: []any{"lines", 2, "sku/~"}, Kind: "unknown_sku", Message: "There is no such article.",
			}),
			"unauthorized": &rest.Error{Status: http.StatusUnauthorized, Detail: "Incorrect authentication credentials."},
			"mapped":       fmt.Errorf("select: %w", errGone),
			"own_status":   fmt.Errorf("secret: %w", statusError(http.StatusPaymentRequired)),
			"plain":        errGone,
			"internal":     &rest.Error{Status: http.StatusInternalServerError, Detail: "secret", Body: "secret", Err: errGone},
			"no_status":    &rest.Error{Detail: "secret"},
			"bad_status":   statusError(7),
			"unavailable":  &rest.Error{Status: http.StatusServiceUnavailable, Detail: "Back soon."},
			"deadline":     context.DeadlineExceeded,
			"plain_eof":    io.EOF,
		} {
			rest.Get(r, "/error/"+name, fail(err), rest.Name(name))
		}
	}, rest.Errors(r), rest.MapError(func(err error) *rest.Error {
		if errors.Is(err, errGone) && !errors.Is(err, io.EOF) && strings.HasPrefix(err.Error(), "select") {
			return &rest.Error{Status: http.StatusGone, Detail: "It is gone.", Err: err}
		}
		return nil
	}), rest.MapError(func(error) *rest.Error { return nil }))
}

func TestErrorBodies(t *testing.T) {
	t.Parallel()

	const valid = `{"title":"ab","price":1,"age":1,"tags":["ab"],"owner":{"id":1,"name":"x"},"uuid":"00000000-0000-0000-0000-000000000000","mail":"a@b.example"}`
	text := func(body string) resttest.Option { return resttest.Content("application/json", body) }
	trace := resttest.Header("X-Trace", "1")
	type request struct {
		method, target string
		options        []resttest.Option
	}
	requests := []request{
		{
			"POST", "/every/1?count=300&ratio=nan&flag=maybe&mode=c&when=now&day=2020-13-01&id=1",
			[]resttest.Option{
				text(`{"title":"","price":0.3,"age":1.5,"tags":["a","b"],"owner":[],"extra":{"a":"b"},"uuid":"x","mail":"x","note":"ab","more":1}`),
				resttest.Cookie("locale", "EN"),
			},
		},
		{
			"POST", "/every/x?count=1&ratio=1&ratio=2&id=a&id=1",
			[]resttest.Option{
				trace,
				text(`{"title":"too long","price":"1","age":"1","tags":"a","owner":{"id":1},"uuid":1,"mail":null,"note":1,"links":[]}`),
			},
		},
		{"POST", "/every/1?count=10&ratio=0&q=%zz", []resttest.Option{trace, text(`{}`)}},
		{"POST", "/every/1", []resttest.Option{trace, text(valid[:len(valid)-1] + `,"title":"ab","PRICE":1}`)}},
		{"POST", "/body", []resttest.Option{text(`{"title"`)}},
		{"POST", "/body", []resttest.Option{text(``)}},
		{"POST", "/body", []resttest.Option{text(`[]`)}},
		{"POST", "/body", []resttest.Option{text(`{"title":"` + strings.Repeat("a", 100) + `"}`)}},
		{"POST", "/body", []resttest.Option{resttest.Content("text/plain", `{"title":"a"}`)}},
		{"GET", "/auth", nil},
		{"GET", "/auth", []resttest.Option{resttest.Bearer("wrong")}},
		{"GET", "/denied", nil},
		{"GET", "/denied/message", nil},
		{"GET", "/denied/body", nil},
		{"GET", "/throttled/0", nil},
		{"GET", "/throttled/1", nil},
		{"GET", "/throttled/6", nil},
		{"GET", "/page?page=4", nil},
		{"GET", "/page?page=0&page_size=201", nil},
		{"GET", "/9", nil},
		{"GET", "/nowhere", nil},
		{"DELETE", "/auth", nil},
		{"BREW", "/auth", nil},
	}
	for _, rendering := range []struct {
		name     string
		renderer rest.ErrorRenderer
	}{{"problem", rest.ProblemErrors}, {"detail", rest.DetailErrors}} {
		t.Run(rendering.name, func(t *testing.T) {
			t.Parallel()
			api := errorAPI(rendering.renderer)
			all := slices.Clone(requests)
			for _, info := range api.Routes() {
				if strings.HasPrefix(info.Path, "/error/") {
					all = append(all, request{"GET", info.Path, nil})
				}
			}
			slices.SortFunc(all[len(requests):], func(a, b request) int { return strings.Compare(a.target, b.target) })
			var b strings.Builder
			for _, q := range all {
				a := resttest.Do[any](t, api, q.method, q.target, q.options...)
				fmt.Fprintf(&b, "%s %s\n%d %s\n", q.method, q.target, a.Status, a.Header.Get("Content-Type"))
				for _, name := range []string{"Accept", "Allow", "Retry-After", "Www-Authenticate", "X-By"} {
					for _, value := range a.Header.Values(name) {
						fmt.Fprintf(&b, "%s: %s\n", name, value)
					}
				}
				b.WriteString(strings.TrimSuffix(a.Text, "\n") + "\n\n")
				if strings.Contains(a.Text, "secret") {
					t.Errorf("%s shows what is for the log: %s", q.target, a.Text)
				}
				if a.Header.Get("Cache-Control") != "no-store" || a.Header.Get("X-Content-Type-Options") != "nosniff" {
					t.Errorf("%s: headers %v", q.target, a.Header)
				}
			}
			golden(t, "errors_"+rendering.name+".txt", b.String())
		})
	}
}

func TestErrorsAreLoggedOnce(t *testing.T) {
	t.Parallel()

	var log memory
	api := serve(func(r *rest.Routes) {
		rest.Get(r, "/ours", func(context.Context, struct{}) (string, error) {
			return "", &rest.Error{Status: 503, Err: errGone}
		})
		rest.Get(r, "/theirs", func(context.Context, struct{}) (string, error) { return "", rest.NotFound("") })
	}, rest.Logger(log.logger()), rest.Auth(auth.APIKeyQuery("key", people())))
	wantStatus(t, api, http.MethodGet, "/ours?key=bob-key", http.StatusServiceUnavailable)
	wantStatus(t, api, http.MethodGet, "/theirs?key=bob-key", http.StatusNotFound)
	text := log.String()
	if strings.Count(text, "\n") != 1 || !strings.Contains(text, "gone: secret") || strings.Contains(text, "bob-key") {
		t.Errorf("logged %q", text)
	}
}

func TestErrorsAreNotTheAnswerThatWasMeant(t *testing.T) {
	t.Parallel()

	api := serve(func(r *rest.Routes) {
		rest.Get(r, "/x", func(ctx context.Context, _ struct{}) (string, error) {
			h := rest.ResponseOf(ctx).Header()
			h.Set("Cache-Control", "public, max-age=3600")
			h.Set("Content-Length", "5")
			h.Set("Content-Type", "text/plain")
			h.Set("X-Own", "kept")
			return "", rest.NotFound("")
		})
		rest.Get(r, "/own", func(context.Context, struct{}) (string, error) {
			return "", &rest.Error{Status: http.StatusGone, Header: http.Header{"Cache-Control": {"max-age=60"}}}
		})
	})
	res, text := ask(t, http.MethodGet, listen(t, api)+"/x")
	wantDiff(t, "answer", []any{404, "no-store", "application/problem+json", "kept", true},
		[]any{
			res.StatusCode, res.Header.Get("Cache-Control"), res.Header.Get("Content-Type"), res.Header.Get("X-Own"),
			strings.HasSuffix(text, "}\n"),
		})
	res, _ = ask(t, http.MethodGet, listen(t, api)+"/own")
	wantDiff(t, "its own", []string{"max-age=60"}, res.Header.Values("Cache-Control"))
}

func TestErrorValue(t *testing.T) {
	t.Parallel()

	e := &rest.Error{Status: http.StatusConflict, Err: errGone}
	wantDiff(t, "text", []string{"Conflict: gone: secret", "x 1"},
		[]string{e.Error(), rest.Errorf(400, "x %d", 1).Error()})
	if !errors.Is(e, errGone) {
		t.Error("the error behind it is lost")
	}
}

func TestInvalidStatus(t *testing.T) {
	t.Parallel()

	api := serve(func(r *rest.Routes) {
		rest.Post(r, "/x", echo[newBook])
		rest.Get(r, "/own", func(context.Context, struct{}) (string, error) { return "", rest.Errorf(422, "no faults") })
	}, rest.InvalidStatus(http.StatusBadRequest))
	a := resttest.Do[any](t, api, http.MethodPost, "/x", resttest.JSON(map[string]int{}))
	wantDiff(t, "status and body", []any{400, true}, []any{a.Status, strings.Contains(a.Text, `"status":400`)})
	wantStatus(t, api, http.MethodGet, "/own", http.StatusUnprocessableEntity)
	responses := at(document(t, api), "paths", "/x", "post", "responses")
	if at(responses, "400") == nil || at(responses, "422") != nil {
		t.Errorf("documented %v", responses)
	}
}

// TestBodyName says how the compatible renderer calls a body.
func TestBodyName(t *testing.T) {
	t.Parallel()

	type item struct {
		Price int `json:"price"`
	}
	type whole struct{ Body item }
	type unnamed struct {
		Body struct {
			Price int `json:"price"`
		}
	}
	type list struct{ Body []item }
	type pointed struct {
		Body *item `required:"true"`
	}
	type spread struct {
		ID    int `path:"id"`
		Price int `json:"price"`
	}
	own := rest.Invalid(rest.Fault{In: "body", Path: []any{"price"}, Kind: "missing", Message: "Ask for it."})
	api := serve(func(r *rest.Routes) {
		rest.Post(r, "/whole", echo[whole])
		rest.Post(r, "/itself", echo[item])
		rest.Post(r, "/unnamed", echo[unnamed])
		rest.Post(r, "/list", echo[list])
		rest.Post(r, "/pointed", echo[pointed])
		rest.Post(r, "/spread/{id}", echo[spread])
		rest.Post(r, "/named", echo[whole], rest.BodyName("payload"))
		rest.Post(r, "/none", echo[whole], rest.BodyName(""))
		rest.Post(r, "/own", func(context.Context, whole) (string, error) { return "", own })
	}, rest.Errors(rest.DetailErrors))

	const missing = `"msg":"Field required"}]}`
	for _, tc := range []struct{ path, body, want string }{
		{"/whole", `{}`, `{"detail":[{"type":"missing","loc":["body","item","price"],` + missing},
		{"/whole", ``, `{"detail":[{"type":"missing","loc":["body","item"],` + missing},
		{"/itself", `{}`, `{"detail":[{"type":"missing","loc":["body","item","price"],` + missing},
		{"/unnamed", `{}`, `{"detail":[{"type":"missing","loc":["body","data","price"],` + missing},
		{"/list", `[{"price":1},{}]`, `{"detail":[{"type":"missing","loc":["body","items",1,"price"],` + missing},
		{"/pointed", `{}`, `{"detail":[{"type":"missing","loc":["body","item","price"],` + missing},
		{"/spread/1", `{}`, `{"detail":[{"type":"missing","loc":["body","price"],` + missing},
		{"/named", `{}`, `{"detail":[{"type":"missing","loc":["body","payload","price"],` + missing},
		{"/none", `{}`, `{"detail":[{"type":"missing","loc":["body","price"],` + missing},
		{"/own", `{"price":1}`, `{"detail":[{"type":"missing","loc":["body","item","price"],"msg":"Ask for it."}]}`},
	} {
		got := resttest.Do[any](t, api, http.MethodPost, tc.path, resttest.Content("application/json", tc.body))
		if text := strings.TrimSpace(got.Text); text != tc.want {
			t.Errorf("%s %s: got %s, want %s", tc.path, tc.body, text, tc.want)
		}
	}
}
