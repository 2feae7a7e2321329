package rest_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/spoolhq/spool/rest"
)

// mild is a controller whose API tolerates something.
type mild struct{ options []rest.RouteOption }

type mildInput struct {
	Query string   `query:"q"`
	Tags  []string `query:"tag"`
	Key   string   `header:"X-Key"`
	Body  struct {
		Name  string          `json:"name"`
		Count int             `json:"count,omitempty"`
		Raw   json.RawMessage `json:"raw,omitempty"`
	}
}

// Routes implements [rest.Controller].
func (m mild) Routes(r *rest.Routes) {
	rest.Post(r, "/", func(_ context.Context, in mildInput) (mildInput, error) { return in, nil }, m.options...)
}

// send posts a body and returns the answer.
func (m mild) send(
	t *testing.T, target, body string, header http.Header, options ...rest.APIOption,
) *httptest.ResponseRecorder {
	t.Helper()
	api := rest.New(append(options, rest.Logger(slog.New(slog.DiscardHandler)))...)
	api.Register(m)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, target, strings.NewReader(body))
	if header != nil {
		r.Header = header
	}
	w := httptest.NewRecorder()
	api.ServeHTTP(w, r)
	return w
}

// What is tolerated is taken by an API that says so, and refused by one that does not.
func TestTolerate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tolerance    rest.Tolerance
		target, body string
		header       http.Header
		want         string
	}{
		"ContentType": {rest.AnyContentType, "/", `{"name":"a"}`, http.Header{"Content-Type": {"text/plain"}}, `"name":"a"`},
		"Null":        {rest.LooseValues, "/", `{"name":"a","count":null,"raw":null}`, nil, `"raw":null`},
		"Unicode":     {rest.LooseValues, "/", `{"name":"\ud800\u0000"}`, nil, "\"name\":\"\uFFFD\\u0000\""},
		"Raw":         {rest.LooseValues, "/", `{"name":"a","raw":{"b":"\u0000"}}`, nil, `"raw":{"b":"\u0000"}`},
		"Absent":      {rest.AbsentFields, "/", `{}`, nil, `"name":""`},
		"Repeated":    {rest.LooseParameters, "/?q=a&q=b&tag=&tag=c", `{"name":"a"}`, nil, `"Query":"a","Tags":["c"]`},
		"Header":      {rest.LooseParameters, "/", `{"name":"a"}`, http.Header{"X-Key": {"a", "b"}}, `"Key":"a"`},
		"Text":        {rest.LooseParameters, "/?q=%ff%00", `{"name":"a"}`, nil, "\"Query\":\"\uFFFD\uFFFD\""},
		"Broken":      {rest.BrokenQuery, "/?x=%zz&q=a", `{"name":"a"}`, nil, `"Query":"a"`},
	} {
		got := mild{}.send(t, c.target, c.body, c.header.Clone(), rest.Tolerate(c.tolerance))
		if got.Code != http.StatusOK || !strings.Contains(got.Body.String(), c.want) {
			t.Errorf("%s: %d %s, want %s", name, got.Code, got.Body, c.want)
		}
		strict := mild{
			[]rest.RouteOption{rest.Tolerate()},
		}.send(t, c.target, c.body, c.header.Clone(), rest.Tolerate(c.tolerance))
		if name != "Null" && strict.Code < http.StatusBadRequest {
			t.Errorf("%s: a route that tolerates nothing answers %d %s", name, strict.Code, strict.Body)
		}
	}
}

// What lets a value past a check is refused whatever is tolerated, and so is the null that stands for
// what is required.
func TestTolerateHasBounds(t *testing.T) {
	t.Parallel()
	all := rest.Tolerate(rest.AnyContentType, rest.LooseValues, rest.LooseParameters, rest.BrokenQuery)
	for body, want := range map[string]string{
		`{"name":"a","name":"b"}`: "duplicate_key", `{"name":"a","NAME":"b"}`: "key_case_mismatch",
		`{"name":null}`: "missing",
		`{"name":"a","raw":[{"b":{"c":1,"c":2}}]}`: "duplicate_key",
		`{"name":null,"name":"b"}`:                 "duplicate_key", `null`: "model_type",
		`{"name":"a","count":1e2}`: "int_from_float", `{"name":1}`: "string_type",
	} {
		if got := (mild{}).send(t, "/", body, nil, all); got.Code != http.StatusUnprocessableEntity ||
			!strings.Contains(got.Body.String(), `"kind":"`+want+`"`) {
			t.Errorf("%s: %d %s, want %s", body, got.Code, got.Body, want)
		}
	}
}

// A body is refused for its length, depth and values before it is decoded.
func TestBoundBodies(t *testing.T) {
	t.Parallel()
	bounds := rest.BoundBodies(rest.BodyBounds{Memory: 1 << 20, Values: 100, Depth: 5})
	for name, c := range map[string]struct {
		body   string
		status int
	}{
		"Good":   {`{"name":"a","raw":[[[[]]]]}`, http.StatusOK},
		"Deep":   {`{"name":"a","raw":[[[[[]]]]]}`, http.StatusUnprocessableEntity},
		"Values": {`{"name":"a","raw":[` + strings.Repeat("1,", 100) + `1]}`, http.StatusRequestEntityTooLarge},
		"Commas": {`{"name":"` + strings.Repeat(`,\"`, 200) + `"}`, http.StatusOK},
		"Long":   {`{"name":"` + strings.Repeat("a", 1000) + `"}`, http.StatusRequestEntityTooLarge},
	} {
		if got := (mild{}).send(t, "/", c.body, nil, bounds, rest.MaxBody(1000)); got.Code != c.status {
			t.Errorf("%s: %d %s, want %d", name, got.Code, got.Body, c.status)
		}
	}
}

// The bodies of all requests share their memory, which each gives back.
func TestBodyMemory(t *testing.T) {
	t.Parallel()
	entered, leave := make(chan struct{}), make(chan struct{})
	api := rest.New(rest.BoundBodies(rest.BodyBounds{Memory: 64 << 10, Values: 1000}),
		rest.Logger(slog.New(slog.DiscardHandler)))
	api.Register(holder{entered, leave})
	send := func(path string) int {
		body := `{"text":"` + strings.Repeat("x", 40<<10) + `"}`
		w := httptest.NewRecorder()
		api.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body)))
		if w.Code == http.StatusServiceUnavailable && w.Header().Get("Retry-After") == "" {
			t.Error("there is no Retry-After")
		}
		return w.Code
	}
	for _, path := range []string{"/hold", "/release"} {
		first := make(chan int)
		go func() { first <- send(path) }()
		<-entered
		want := http.StatusServiceUnavailable
		if path == "/release" {
			want = http.StatusNoContent
		}
		if got := send("/"); got != want {
			t.Errorf("beside %s: %d, want %d", path, got, want)
		}
		leave <- struct{}{}
		if got := <-first; got != http.StatusNoContent {
			t.Errorf("%s: %d", path, got)
		}
		if got := send("/"); got != http.StatusNoContent {
			t.Errorf("behind %s: %d", path, got)
		}
	}
}

type holder struct{ entered, leave chan struct{} }

type heldText struct {
	Text string `json:"text"`
}

// Routes implements [rest.Controller].
func (h holder) Routes(r *rest.Routes) {
	wait := func(release bool) func(context.Context, heldText) (rest.NoContent, error) {
		return func(ctx context.Context, _ heldText) (rest.NoContent, error) {
			if release {
				rest.ReleaseBody(ctx)
			}
			h.entered <- struct{}{}
			<-h.leave
			return rest.NoContent{}, nil
		}
	}
	rest.Post(r, "/hold", wait(false))
	rest.Post(r, "/release", wait(true))
	rest.Post(r, "/", func(context.Context, heldText) (rest.NoContent, error) { return rest.NoContent{}, nil })
}

// verifier takes requests with a key and a body that begins with it.
type verifier struct{}

// VerifyHeader implements [rest.BodyVerifier].
func (verifier) VerifyHeader(ctx context.Context) error {
	if rest.RequestOf(ctx).Header.Get("X-Key") == "" {
		return rest.Errorf(http.StatusUnauthorized, "No key.")
	}
	return nil
}

// VerifyBody implements [rest.BodyVerifier].
func (verifier) VerifyBody(ctx context.Context, body []byte) error {
	if !strings.HasPrefix(string(body), rest.RequestOf(ctx).Header.Get("X-Key")) {
		return rest.Errorf(http.StatusForbidden, "Another key.")
	}
	return nil
}

// A verifier sees the headers before the body is read, and the body before it is decoded.
func TestVerifyBody(t *testing.T) {
	t.Parallel()
	m := mild{[]rest.RouteOption{rest.VerifyBody(verifier{}), rest.MaxBody(100)}}
	long := strings.Repeat(" ", 200)
	for name, c := range map[string]struct {
		body   string
		header http.Header
		status int
	}{
		"NoKey":   {long, http.Header{}, http.StatusUnauthorized},
		"Long":    {long, http.Header{"X-Key": {"a"}}, http.StatusRequestEntityTooLarge},
		"BadKey":  {`no JSON`, http.Header{"X-Key": {"a"}}, http.StatusForbidden},
		"BadJSON": {`no JSON`, http.Header{"X-Key": {"no"}}, http.StatusBadRequest},
		"Good":    {`{"name":"a"}`, http.Header{"X-Key": {"{"}}, http.StatusOK},
	} {
		if got := m.send(t, "/", c.body, c.header); got.Code != c.status {
			t.Errorf("%s: %d %s, want %d", name, got.Code, got.Body, c.status)
		}
	}
}

// Middleware finds out which route a request is for, what a path has, and refuses requests in the
// form of the API's errors.
func TestMiddlewareKnowsRoutes(t *testing.T) {
	t.Parallel()
	var api *rest.API
	api = rest.New(rest.BasePath("/v1"), rest.Use(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			to, takes := api.Match(r)
			if to != nil {
				w.Header().Set("X-Route", to.Name+" "+to.Path)
			}
			if to != nil && takes && r.Header.Get("X-Key") == "" {
				api.Fail(w, r, errors.Join(rest.Errorf(http.StatusTeapot, "No key.")))
				return
			}
			w.Header().Set("X-Methods", strings.Join(api.Methods(r), " "))
			next.ServeHTTP(w, r)
		})
	}))
	api.Register(mild{}, rest.Prefix("/mild"), rest.Namespace("Mild"))
	for _, c := range []struct{ method, path, key, route, methods, body string }{
		{"POST", "/v1/mild", "", "Mild.postMild /v1/mild", "", `"detail":"No key."`},
		{"GET", "/v1/mild", "", "Mild.postMild /v1/mild", "POST OPTIONS", `"status":405`},
		{"GET", "/v1/none", "", "", "", `"status":404`},
		{"GET", "/v1/openapi.json", "k", " /v1/openapi.json", "GET HEAD OPTIONS", `"openapi"`},
	} {
		r := httptest.NewRequestWithContext(t.Context(), c.method, c.path, nil)
		if c.key != "" {
			r.Header.Set("X-Key", c.key)
		}
		w := httptest.NewRecorder()
		api.ServeHTTP(w, r)
		body, _ := io.ReadAll(w.Body)
		if w.Header().Get("X-Route") != c.route || w.Header().Get("X-Methods") != c.methods ||
			!strings.Contains(string(body), c.body) {
			t.Errorf("%s %s: %v %s", c.method, c.path, w.Header(), body)
		}
	}
}
