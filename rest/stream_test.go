package rest_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/resttest"
)

func TestFiles(t *testing.T) {
	t.Parallel()

	modified := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	files := fstest.MapFS{
		"a.txt":      {Data: []byte("0123456789"), ModTime: modified},
		"b.unknown":  {Data: []byte("<b>")},
		"dir/c.html": {Data: []byte("<html>")},
	}
	api := serve(func(r *rest.Routes) {
		rest.Get(r, "/f/{path:rest}", func(_ context.Context, in restOf) (*rest.File, error) {
			return rest.OpenFile(files, in.Rest)
		})
		rest.Get(r, "/save", func(context.Context, struct{}) (*rest.File, error) {
			return &rest.File{Name: `ü".txt`, Content: strings.NewReader("x"), Download: true, Type: "text/x-own"}, nil
		})
		rest.Get(r, "/stream", func(context.Context, struct{}) (*rest.File, error) {
			return &rest.File{Name: "x.txt", Content: io.LimitReader(strings.NewReader("abc"), 2)}, nil
		})
	})
	for _, c := range []struct {
		target  string
		options []resttest.Option
		status  int
		kind    string
		text    string
	}{
		{"/f/a.txt", nil, 200, "text/plain; charset=utf-8", "0123456789"},
		{"/f/a.txt", []resttest.Option{resttest.Header("Range", "bytes=2-4")}, 206, "text/plain; charset=utf-8", "234"},
		{"/f/a.txt", []resttest.Option{resttest.Header("If-Modified-Since", modified.Format(http.TimeFormat))}, 304, "", ""},
		{"/f/b.unknown", nil, 200, "application/octet-stream", "<b>"},
		{"/f/dir/c.html", nil, 200, "text/html; charset=utf-8", "<html>"},
		{"/f/dir", nil, 404, "application/problem+json", "*"},
		{"/f/nothing", nil, 404, "application/problem+json", "*"},
		{"/f/..%2Fpasswd", nil, 404, "application/problem+json", "*"},
		{"/f/", nil, 404, "application/problem+json", "*"},
		{"/save", nil, 200, "text/x-own", "x"},
		{"/stream", nil, 200, "text/plain; charset=utf-8", "ab"},
	} {
		a := resttest.Do[any](t, api, http.MethodGet, c.target, c.options...)
		if c.text == "*" {
			a.Text = "*"
		}
		wantDiff(t, c.target, []any{c.status, c.kind, c.text, "nosniff"},
			[]any{a.Status, a.Header.Get("Content-Type"), a.Text, a.Header.Get("X-Content-Type-Options")})
	}
	a := resttest.Do[any](t, api, http.MethodGet, "/save")
	if got := a.Header.Get("Content-Disposition"); !strings.HasPrefix(got, "attachment;") || strings.Contains(got, "ü") {
		t.Errorf("got %q", got)
	}
}

var errStorm = errors.New("storm: secret")

// sequence yields items, and then an error if there is one.
func sequence[T any](err error, items ...T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, item := range items {
			if !yield(item, nil) {
				return
			}
		}
		var none T
		if err != nil {
			yield(none, err)
		}
	}
}

func TestStreamsAndLines(t *testing.T) {
	t.Parallel()

	api := serve(func(r *rest.Routes) {
		rest.Get(r, "/stream", func(context.Context, struct{}) (*rest.Stream, error) {
			return &rest.Stream{Type: "text/csv", Write: func(_ context.Context, w io.Writer, flush func() error) error {
				_, _ = io.WriteString(w, "a,b\n")
				return flush()
			}}, nil
		})
		rest.Get(r, "/stream/early", func(context.Context, struct{}) (*rest.Stream, error) {
			return &rest.Stream{Write: func(context.Context, io.Writer, func() error) error { return rest.NotFound("no rows") }},
				nil
		})
		rest.Get(r, "/stream/late", func(context.Context, struct{}) (*rest.Stream, error) {
			return &rest.Stream{Write: func(_ context.Context, w io.Writer, _ func() error) error {
				_, _ = io.WriteString(w, "part")
				return errStorm
			}}, nil
		})
		rest.Get(r, "/lines", func(context.Context, struct{}) (rest.Lines[author], error) {
			return rest.Lines[author]{Items: sequence(nil, author{1, "a"}, author{2, "b"})}, nil
		})
		rest.Get(r, "/lines/early", func(context.Context, struct{}) (rest.Lines[author], error) {
			return rest.Lines[author]{Items: sequence[author](errStorm)}, nil
		})
		rest.Get(r, "/lines/late", func(context.Context, struct{}) (rest.Lines[author], error) {
			return rest.Lines[author]{Items: sequence(errStorm, author{1, "a"})}, nil
		})
	})
	for _, c := range []struct {
		path    string
		status  int
		kind    string
		text    string
		aborted bool
	}{
		{"/stream", 200, "text/csv", "a,b\n", false},
		{"/stream/early", 404, "application/problem+json", "*", false},
		{"/stream/late", 200, "application/octet-stream", "part", true},
		{"/lines", 200, "application/jsonl", "{\"id\":1,\"name\":\"a\"}\n{\"id\":2,\"name\":\"b\"}\n", false},
		{"/lines/early", 500, "application/problem+json", "*", false},
		{"/lines/late", 200, "application/jsonl", "{\"id\":1,\"name\":\"a\"}\n", true},
	} {
		a := resttest.Do[any](t, api, http.MethodGet, c.path)
		if c.text == "*" {
			a.Text = "*"
		}
		wantDiff(t, c.path, []any{c.status, c.kind, c.text, c.aborted},
			[]any{a.Status, a.Header.Get("Content-Type"), a.Text, a.Aborted})
	}
	d := document(t, api)
	wantDiff(t, "document", any("#/components/schemas/Author"),
		at(d, "paths", "/lines", "get", "responses", "200", "content", "application/jsonl", "schema", "$ref"))
}

type event = rest.Event[author]

func TestEvents(t *testing.T) {
	t.Parallel()

	events := func(err error, all ...event) func(context.Context, struct{}) (rest.Events[author], error) {
		return func(context.Context, struct{}) (rest.Events[author], error) {
			return rest.Events[author]{Items: sequence(err, all...)}, nil
		}
	}
	var log memory
	api := serve(func(r *rest.Routes) {
		rest.Get(r, "/all", events(nil, event{ID: "7", Name: "made", Retry: 2500 * time.Millisecond, Data: author{1, "a\nb"}},
			event{}))
		rest.Get(r, "/late", events(errStorm, event{}))
		rest.Get(r, "/id", events(nil, event{ID: "7\ndata: forged"}))
		rest.Get(r, "/name", events(nil, event{Name: "x\rdata: forged"}))
		rest.Get(r, "/panic", func(context.Context, struct{}) (rest.Events[author], error) {
			return rest.Events[author]{Items: func(yield func(event, error) bool) {
				yield(event{}, nil)
				panic("secret panic")
			}}, nil
		})
		rest.Get(r, "/abort", func(context.Context, struct{}) (rest.Events[author], error) {
			return rest.Events[author]{Items: func(func(event, error) bool) { panic(http.ErrAbortHandler) }}, nil
		})
		rest.Get(r, "/refused", func(context.Context, struct{}) (rest.Events[author], error) {
			return rest.Events[author]{}, rest.NotFound("")
		})
	}, rest.Logger(log.logger()))
	const none = "data: {\"id\":0,\"name\":\"\"}\n\n"
	for _, c := range []struct {
		path, text string
		aborted    bool
		logged     string
	}{
		{"/all", "id: 7\nevent: made\nretry: 2500\ndata: {\"id\":1,\"name\":\"a\\nb\"}\n\n" + none, false, ""},
		{"/late", none, true, "storm"},
		{"/id", "", true, "line break"},
		{"/name", "", true, "line break"},
		{"/panic", none, true, "secret panic"},
		{"/abort", "", true, ""},
	} {
		a := resttest.Do[any](t, api, http.MethodGet, c.path)
		wantDiff(t, c.path, []any{200, "text/event-stream", "no-store", c.text, c.aborted},
			[]any{a.Status, a.Header.Get("Content-Type"), a.Header.Get("Cache-Control"), a.Text, a.Aborted})
		if logged := strings.Contains(log.String(), "path="+c.path+" "); logged != (c.logged != "") ||
			!strings.Contains(log.String(), c.logged) {
			t.Errorf("%s: logged %v", c.path, logged)
		}
	}
	wantStatus(t, api, http.MethodGet, "/refused", http.StatusNotFound)
}

// TestEventsKeepAlive waits for a minute of fake time between two events.
func TestEventsKeepAlive(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		keepAlive time.Duration
		want      int
	}{"default": {0, 3}, "own": {7 * time.Second, 8}, "none": {-1, 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				api := serve(func(r *rest.Routes) {
					rest.Get(r, "/x", func(context.Context, struct{}) (rest.Events[int], error) {
						return rest.Events[int]{KeepAlive: c.keepAlive, Items: func(yield func(rest.Event[int], error) bool) {
							if yield(rest.Event[int]{Data: 1}, nil) {
								<-time.After(59 * time.Second)
								yield(rest.Event[int]{Data: 2}, nil)
							}
						}}, nil
					})
				})
				a := resttest.Do[any](t, api, http.MethodGet, "/x")
				want := "data: 1\n\n" + strings.Repeat(": keepalive\n\n", c.want) + "data: 2\n\n"
				wantDiff(t, "body", want, a.Text)
			})
		})
	}
}

// TestEventsOfAClientThatLeaves proves that nothing of an answer is left.
func TestEventsOfAClientThatLeaves(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		ended := make(chan struct{})
		api := serve(func(r *rest.Routes) {
			rest.Get(r, "/x", func(ctx context.Context, _ struct{}) (rest.Events[int], error) {
				return rest.Events[int]{Items: func(yield func(rest.Event[int], error) bool) {
					defer close(ended)
					for yield(rest.Event[int]{Data: 1}, nil) {
						select {
						case <-time.After(time.Second):
						case <-ctx.Done():
							return
						}
					}
				}}, nil
			})
		})
		ctx, cancel := context.WithTimeout(t.Context(), 3500*time.Millisecond)
		defer cancel()
		w := httptest.NewRecorder()
		api.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/x", nil))
		<-ended
		if got := strings.Count(w.Body.String(), "data: 1"); got != 4 {
			t.Errorf("got %d events", got)
		}
	})
}

func TestEventsAreSentAtOnce(t *testing.T) {
	t.Parallel()

	next := make(chan int)
	url := listen(t, serve(func(r *rest.Routes) {
		rest.Get(r, "/x", func(context.Context, struct{}) (rest.Events[int], error) {
			return rest.Events[int]{Items: func(yield func(rest.Event[int], error) bool) {
				for n := range next {
					if !yield(rest.Event[int]{Data: n}, nil) {
						return
					}
				}
			}}, nil
		})
	}))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r) // which returns before there is an event
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for _, want := range []string{"data: 0", "data: 1", "data: 2"} {
		next <- int(want[6] - '0')
		if !lines.Scan() || lines.Text() != want || !lines.Scan() {
			t.Errorf("got %q, want %q", lines.Text(), want)
		}
	}
	close(next)
}

func TestRaw(t *testing.T) {
	t.Parallel()

	api := quiet(rest.Auth(bearer()))
	api.Register(routes(func(r *rest.Routes) {
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			p := rest.PrincipalOf(r.Context())
			rest.ResponseOf(r.Context()).Header().Set("X-Route", rest.RouteName(r.Context()))
			text, _ := io.ReadAll(r.Body)
			_, _ = io.WriteString(w, r.Method+" "+r.PathValue("org")+" "+r.PathValue("id")+" "+p.PrincipalID()+" "+string(text))
		})
		rest.Raw(r, []string{"GET", "POST"}, "/{int:id}", h, rest.Permit(allow), rest.Name("raw"),
			rest.Returns[book](http.StatusOK))
		rest.Raw(r, []string{"GET"}, "/denied/{int:id}", h, rest.Permit(deny))
	}), rest.Prefix("/o/{org}"))
	bob := resttest.Bearer("bob-key")
	a := resttest.Do[any](t, api, http.MethodPost, "/o/a%20b/7", bob, resttest.Content("text/x", "hi"))
	wantDiff(t, "answer", []string{"POST a b 7 bob hi", "Routes.raw"}, []string{a.Text, a.Header.Get("X-Route")})
	wantStatus(t, api, http.MethodGet, "/o/x/7", http.StatusUnauthorized)
	wantStatus(t, api, http.MethodGet, "/o/x/seven", http.StatusNotFound, bob)
	wantStatus(t, api, http.MethodGet, "/o/x/denied/7", http.StatusForbidden, bob)
	d := document(t, api)
	params, _ := at(d, "paths", "/o/{org}/{id}", "post", "parameters").([]any)
	if len(params) != 2 || at(params[1], "schema", "type") != "integer" ||
		at(d, "paths", "/o/{org}/{id}", "get", "responses", "200", "content") == nil {
		t.Errorf("documented %v", params)
	}
}
