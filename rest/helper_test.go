package rest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/auth"
	"github.com/spoolhq/spool/rest/resttest"
)

var update = flag.Bool("update", false, "write what is now into testdata")

// book is what most controllers here are about.
type book struct {
	ID    int64   `json:"id"`
	Title string  `json:"title"`
	Price float64 `json:"price"`
	Owner string  `json:"owner,omitempty"`
}

type byID struct {
	ID int64 `path:"id"`
}

type newBook struct {
	Title string  `json:"title" minLength:"1" maxLength:"40"`
	Price float64 `json:"price" minimum:"0"`
}

// routes is a controller that is made of a function.
type routes func(r *rest.Routes)

func (f routes) Routes(r *rest.Routes) { f(r) }

// quiet makes an API that logs nowhere.
func quiet(options ...rest.APIOption) *rest.API {
	return rest.New(append([]rest.APIOption{rest.Logger(slog.New(slog.DiscardHandler))}, options...)...)
}

// serve makes an API of one controller without a prefix.
func serve(f func(r *rest.Routes), options ...rest.APIOption) *rest.API {
	api := quiet(options...)
	api.Register(routes(f))
	return api
}

// get asks for a path, and returns the status and the text of the answer.
func get(t *testing.T, h http.Handler, target string, options ...resttest.Option) (status int, text string) {
	t.Helper()
	a := resttest.Do[any](t, h, http.MethodGet, target, options...)
	return a.Status, strings.TrimSpace(a.Text)
}

// wantStatus asks for a path and compares the status.
func wantStatus(t *testing.T, h http.Handler, method, target string, want int, options ...resttest.Option) {
	t.Helper()
	if a := resttest.Do[any](t, h, method, target, options...); a.Status != want {
		t.Errorf("%s %s: got %d, want %d: %s", method, target, a.Status, want, a.Text)
	}
}

func wantDiff(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: -want +got\n%s", what, diff)
	}
}

// handle is a handler that answers with its name.
func handle(name string) func(context.Context, struct{}) (string, error) {
	return func(context.Context, struct{}) (string, error) { return name, nil }
}

func nothing(context.Context, struct{}) (rest.NoContent, error) { return rest.NoContent{}, nil }

// people are the principals of the tests by their keys.
func people() auth.Lookup[*rest.User] {
	return auth.Keys(map[string]*rest.User{
		"ann-key":  {ID: "ann", Admin: true, Scopes: []string{"books:write"}},
		"bob-key":  {ID: "bob"},
		"carl-key": {ID: "carl"},
	})
}

func bearer() rest.Authenticator { return auth.Bearer(people()) }
func apiKey() rest.Authenticator { return auth.APIKeyQuery("key", people()) }

// whoami answers with the ID of who asks.
func whoami(ctx context.Context, _ struct{}) (string, error) {
	if p := rest.PrincipalOf(ctx); p != nil {
		return p.PrincipalID(), nil
	}
	return "nobody", nil
}

// ruleFunc is a permission that is made of a function.
type ruleFunc func(ctx context.Context) error

func (f ruleFunc) Check(ctx context.Context) error { return f(ctx) }

var (
	allow = ruleFunc(func(context.Context) error { return nil })
	deny  = ruleFunc(func(context.Context) error { return rest.Denied("") })
)

// throttleFunc is a throttle that is made of a function.
type throttleFunc func(ctx context.Context) (rest.Verdict, error)

func (f throttleFunc) Take(ctx context.Context) (rest.Verdict, error) { return f(ctx) }

// mustPanic returns what f panicked with, as text.
func mustPanic(t *testing.T, f func()) (text string) {
	t.Helper()
	defer func() {
		switch reason := recover().(type) {
		case nil:
			t.Error("nothing was refused")
		case string:
			text = reason
		case error:
			text = reason.Error()
		default:
			t.Errorf("panicked with a %T", reason)
		}
	}()
	f()
	return ""
}

// memory is a log that a test reads.
type memory struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (m *memory) Write(b []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.text.Write(b)
}

func (m *memory) String() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.text.String()
}

func (m *memory) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(m, nil))
}

// golden compares text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(got), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	wantDiff(t, file, string(want), got)
}

// document is the OpenAPI document of an API, decoded.
func document(t *testing.T, api *rest.API) map[string]any {
	t.Helper()
	text, err := api.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	var d map[string]any
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// at walks down a decoded document, through references if it begins at the root; it is nil where
// there is nothing.
func at(d any, path ...string) any {
	root := d
	whole, _ := root.(map[string]any)
	for _, step := range path {
		object, ok := d.(map[string]any)
		if ref, isRef := object["$ref"].(string); isRef && step != "$ref" && whole["components"] != nil {
			object, ok = at(root, strings.Split(ref, "/")[1:]...).(map[string]any)
		}
		if !ok {
			return nil
		}
		d = object[step]
	}
	return d
}

// operationIDs lists the ids of a document.
func operationIDs(d map[string]any) map[string]string {
	ids := map[string]string{}
	paths, _ := d["paths"].(map[string]any)
	for path, item := range paths {
		operations, _ := item.(map[string]any)
		for method, op := range operations {
			ids[strings.ToUpper(method)+" "+path], _ = at(op, "operationId").(string)
		}
	}
	return ids
}

// listen serves an API over a real connection.
func listen(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	s.Start()
	t.Cleanup(s.Close)
	return s.URL
}

// reply is what came over a real connection.
type reply struct {
	StatusCode int
	Header     http.Header
	Location   func() (*url.URL, error)
}

// ask makes a request over a real connection.
func ask(t *testing.T, method, address string) (got reply, text string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatal(err)
	}
	return reply{res.StatusCode, res.Header, res.Location}, string(body)
}

// record serves a request as it is.
func record(h http.Handler, r *http.Request) (status int, text string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}
