package resttest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/auth"
	"github.com/spoolhq/spool/rest/permission"
	"github.com/spoolhq/spool/rest/resttest"
)

// routes is a controller that is made of a function.
type routes func(r *rest.Routes)

func (f routes) Routes(r *rest.Routes) { f(r) }

func newAPI(f func(r *rest.Routes), options ...rest.APIOption) *rest.API {
	api := rest.New(append([]rest.APIOption{rest.Logger(slog.New(slog.DiscardHandler))}, options...)...)
	api.Register(routes(f), rest.Prefix("/v1/shops"))
	return api
}

// seen is what a handler saw of its request.
type seen struct {
	URL, Host, Remote, User string
	Header                  http.Header
}

func see(ctx context.Context, _ struct{}) (seen, error) {
	r := rest.RequestOf(ctx)
	s := seen{URL: r.URL.String(), Host: r.Host, Remote: r.RemoteAddr, Header: r.Header}
	if p := rest.PrincipalOf(ctx); p != nil {
		s.User = p.PrincipalID()
	}
	return s, nil
}

func TestWhatTheServerSees(t *testing.T) {
	t.Parallel()

	var mark rest.Middleware = func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Middleware", r.URL.Path)
			next.ServeHTTP(w, r)
		})
	}
	var e *rest.Endpoint[struct{}, seen]
	api := newAPI(func(r *rest.Routes) { e = rest.Get(r, "/seen", see) }, rest.Use(mark))

	a := resttest.Call(t, api, e, struct{}{}, resttest.Header("X-Trace", "1"), resttest.Cookie("a", "b"),
		resttest.Basic("ann", "pass"), resttest.Query("q", "x y"), resttest.Query("q", "z"), resttest.From("198.51.100.7:99"))
	want := seen{
		URL: "http://api.test/v1/shops/seen?q=x+y&q=z", Host: "api.test", Remote: "198.51.100.7:99",
		Header: http.Header{"X-Trace": {"1"}, "Cookie": {"a=b"}, "Authorization": {"Basic YW5uOnBhc3M="}},
	}
	if diff := cmp.Diff(want, a.Body); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if got := a.Header.Get("X-Middleware"); got != "/v1/shops/seen" {
		t.Errorf("the middleware saw %q", got)
	}
}

func TestPrefixIsNotDropped(t *testing.T) {
	t.Parallel()

	api := newAPI(func(r *rest.Routes) { rest.Get(r, "/seen", see) })
	for target, want := range map[string]int{"/v1/shops/seen": http.StatusOK, "/seen": http.StatusNotFound} {
		if got := resttest.Do[seen](t, api, http.MethodGet, target); got.Status != want {
			t.Errorf("%s: got %d, want %d", target, got.Status, want)
		}
	}
	below := http.StripPrefix("/api", api)
	if got := resttest.Do[seen](
		t, below, http.MethodGet, "https://shop.example/api/v1/shops/seen",
	); got.Body.Host != "shop.example" {
		t.Errorf("got %d %+v", got.Status, got.Body)
	}
}

func TestAs(t *testing.T) {
	t.Parallel()

	keys := auth.Keys(map[string]*rest.User{"right": {ID: "ann"}})
	var guarded, open *rest.Endpoint[struct{}, seen]
	api := newAPI(func(r *rest.Routes) {
		guarded = rest.Get(r, "/guarded", see, rest.Permit(permission.IsAdmin))
		open = rest.Get(r, "/open", see, rest.NoAuth())
	}, rest.Auth(auth.Bearer(keys)))

	boss, clerk := &rest.User{ID: "boss", Admin: true}, &rest.User{ID: "clerk"}
	if a := resttest.Call(
		t, api, guarded, struct{}{}, resttest.As(boss), resttest.Bearer("wrong"),
	); a.Body.User != "boss" {
		t.Errorf("got %d %+v", a.Status, a.Body)
	}
	if a := resttest.Call(t, api, guarded, struct{}{}, resttest.As(clerk)); a.Status != http.StatusForbidden {
		t.Errorf("permissions: got %d", a.Status)
	}
	if a := resttest.Call(t, api, open, struct{}{}, resttest.As(clerk)); a.Body.User != "clerk" {
		t.Errorf("without authenticators: got %+v", a.Body)
	}
	if a := resttest.Call(t, api, guarded, struct{}{}, resttest.Bearer("wrong")); a.Status != http.StatusUnauthorized {
		t.Errorf("without As: got %d", a.Status)
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()

	type upload struct {
		Name  string                  `form:"name"`
		Cover *multipart.FileHeader   `file:"cover" contentType:"image/png" required:"true"`
		Pages []*multipart.FileHeader `file:"page"`
	}
	var e *rest.Endpoint[upload, []string]
	api := newAPI(func(r *rest.Routes) {
		e = rest.Post(r, "/upload", func(_ context.Context, in upload) ([]string, error) {
			all := []string{in.Name}
			for _, f := range append([]*multipart.FileHeader{in.Cover}, in.Pages...) {
				opened, err := f.Open()
				if err != nil {
					return nil, err
				}
				text, err := io.ReadAll(opened)
				if err != nil {
					return nil, err
				}
				all = append(all, f.Filename+"="+string(text))
			}
			return all, nil
		})
	})
	a := resttest.Call(t, api, e, upload{
		Name:  "Emma & co",
		Cover: resttest.File("a.png", "image/png", []byte("\x00png")),
		Pages: []*multipart.FileHeader{
			resttest.File("1.txt", "text/plain", []byte("one")), resttest.File("2.txt", "text/plain", nil),
		},
	})
	if diff := cmp.Diff([]string{"Emma & co", "a.png=\x00png", "1.txt=one", "2.txt="}, a.Body); diff != "" {
		t.Errorf("status %d, -want +got\n%s", a.Status, diff)
	}
	a = resttest.Call(t, api, e, upload{Name: "x"})
	if diff := cmp.Diff(
		"file.cover: missing", fmt.Sprint(a.Error.Faults[0]),
	); a.Status != http.StatusUnprocessableEntity || diff != "" {
		t.Errorf("got %d %s", a.Status, diff)
	}
}

func TestErrorsOfBothRenderers(t *testing.T) {
	t.Parallel()

	type in struct {
		Tags []string `json:"tags" minLength:"2"`
	}
	for name, of := range map[string]struct {
		renderer          rest.ErrorRenderer
		location, message string
	}{
		"problem": {rest.ProblemErrors, "body.tags[1]", "must be at least 2 characters"},
		"detail":  {rest.DetailErrors, "body.in.tags[1]", "String should have at least 2 characters"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var e *rest.Endpoint[in, rest.NoContent]
			api := newAPI(func(r *rest.Routes) {
				e = rest.Post(r, "/", func(context.Context, in) (rest.NoContent, error) { return rest.NoContent{}, nil })
			}, rest.Errors(of.renderer))
			got := resttest.Call(t, api, e, in{Tags: []string{"ok", "x"}})
			want := []resttest.Fault{{
				Location: of.location, Kind: "string_too_short", Message: of.message,
				Limits: map[string]any{"min_length": 2.0},
			}}
			if diff := cmp.Diff(want, got.Error.Faults); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			missing := resttest.Do[any](t, api, http.MethodGet, "/nowhere")
			if missing.Error.Detail != "Not found." {
				t.Errorf("got %+v", missing.Error)
			}
		})
	}
}

func TestAnswersWithoutABody(t *testing.T) {
	t.Parallel()

	api := newAPI(func(r *rest.Routes) {
		rest.Get(r, "/seen", see)
		rest.Delete(r, "/seen", func(context.Context, struct{}) (rest.NoContent, error) { return rest.NoContent{}, nil })
	})
	if a := resttest.Do[seen](t, api, http.MethodHead, "/v1/shops/seen"); a.Status != http.StatusOK || a.Text != "" {
		t.Errorf("HEAD: got %d %q", a.Status, a.Text)
	}
	if a := resttest.Do[seen](t, api, http.MethodDelete, "/v1/shops/seen"); a.Status != http.StatusNoContent ||
		a.Text != "" {
		t.Errorf("DELETE: got %d %q", a.Status, a.Text)
	}
}

func TestAborted(t *testing.T) {
	t.Parallel()

	api := newAPI(func(r *rest.Routes) {
		rest.Get(r, "/", func(context.Context, struct{}) (*rest.Stream, error) {
			return &rest.Stream{Write: func(_ context.Context, w io.Writer, _ func() error) error {
				_, _ = io.WriteString(w, "part")
				return io.ErrUnexpectedEOF
			}}, nil
		})
	})
	if a := resttest.Do[any](t, api, http.MethodGet, "/v1/shops"); !a.Aborted || a.Text != "part" {
		t.Errorf("got %+v", a)
	}
}

// shouting is a codec that can be told from the usual one.
type shouting struct{}

func (shouting) NewEncoder(w io.Writer) rest.Encoder { return json.NewEncoder(w) }
func (shouting) Unmarshal(data []byte, into any) error {
	return json.Unmarshal([]byte(strings.ToUpper(string(data))), into)
}

func TestCodec(t *testing.T) {
	t.Parallel()

	api := newAPI(func(r *rest.Routes) {
		rest.Get(r, "/", func(context.Context, struct{}) (string, error) { return "quiet", nil })
	})
	if a := resttest.Do[string](t, api, http.MethodGet, "/v1/shops", resttest.Codec(shouting{})); a.Body != "QUIET" {
		t.Errorf("got %q", a.Body)
	}
}

// fatal is a test that only remembers why it ended.
type fatal struct{ why string }

func (*fatal) Helper()                  {}
func (*fatal) Context() context.Context { return context.Background() }
func (f *fatal) Fatalf(format string, args ...any) {
	f.why = fmt.Sprintf(format, args...)
	panic(f)
}

func TestMistakesEndTheTest(t *testing.T) {
	t.Parallel()

	type byName struct {
		Name string `path:"name"`
	}
	var e, unregistered *rest.Endpoint[byName, byName]
	api := newAPI(func(r *rest.Routes) {
		e = rest.Get(r, "/{name}", func(_ context.Context, in byName) (byName, error) { return in, nil })
	})
	unregistered = &rest.Endpoint[byName, byName]{}
	for why, call := range map[string]func(t *fatal){
		"no proper value for {name}": func(t *fatal) { resttest.Call(t, api, e, byName{}) },
		"is not registered":          func(t *fatal) { resttest.Call(t, api, unregistered, byName{}) },
		"the body is no []int":       func(t *fatal) { resttest.CallAs[[]int](t, api, e, byName{"x"}) },
		"invalid method":             func(t *fatal) { resttest.Do[any](t, api, "BAD METHOD", "/") },
		"encode the body": func(t *fatal) {
			resttest.Do[any](t, api, http.MethodPost, "/", resttest.JSON(func() {}))
		},
	} {
		t.Run(why, func(t *testing.T) {
			t.Parallel()

			f := &fatal{}
			func() {
				defer func() {
					if reason := recover(); reason != any(f) {
						t.Errorf("panicked with %v", reason)
					}
				}()
				call(f)
			}()
			if !strings.Contains(f.why, why) {
				t.Errorf("ended with %q", f.why)
			}
		})
	}
}
