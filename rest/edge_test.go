package rest_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/spoolhq/spool/rest"
)

// TestLongestWaitOfThrottles has two throttles refuse at once. Who waits for the shorter of
// them would be refused again.
func TestLongestWaitOfThrottles(t *testing.T) {
	t.Parallel()

	refuse := func(wait time.Duration) rest.Throttle {
		return throttleFunc(func(context.Context) (rest.Verdict, error) { return rest.Verdict{RetryAfter: wait}, nil })
	}
	for name, throttles := range map[string][]rest.Throttle{
		"long first":  {refuse(7 * time.Second), refuse(3 * time.Second)},
		"short first": {refuse(3 * time.Second), refuse(7 * time.Second)},
	} {
		api := serve(func(r *rest.Routes) {
			rest.Get(r, "/x", func(context.Context, struct{}) (string, error) { return "", nil }, rest.Throttles(throttles...))
		})
		w := httptest.NewRecorder()
		api.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/x", nil))
		if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "7" {
			t.Errorf("%s: got %d, Retry-After %q", name, w.Code, w.Header().Get("Retry-After"))
		}
	}
}

// halfway is an answer that panics after its status.
type halfway struct{}

// Respond implements [rest.Responder].
func (halfway) Respond(w http.ResponseWriter, _ *http.Request) error {
	w.WriteHeader(http.StatusOK)
	panic("behind the status")
}

// TestPanicBehindTheStatus cuts the connection: the status says that all is well, and a
// client must not take what follows for an answer.
func TestPanicBehindTheStatus(t *testing.T) {
	t.Parallel()

	api := serve(func(r *rest.Routes) {
		rest.Get(r, "/x", func(context.Context, struct{}) (halfway, error) { return halfway{}, nil })
	})
	server := httptest.NewServer(api)
	defer server.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err == nil {
		_ = answer.Body.Close()
		t.Errorf("got %s", answer.Status)
	}
}

// wayward is an error with a status of its own.
type wayward int

func (w wayward) Error() string   { return "wayward" }
func (w wayward) HTTPStatus() int { return int(w) }

// TestStatusesThatAreNone has handlers and routes name statuses that HTTP does not have, or
// that do not say what became of the request.
func TestStatusesThatAreNone(t *testing.T) {
	t.Parallel()

	for _, status := range []int{-1, 42, 99, 100, 199, 600, 700, 1000} {
		for name, err := range map[string]error{
			"a rest.Error": &rest.Error{Status: status}, "an error of one's own": wayward(status),
		} {
			api := serve(func(r *rest.Routes) {
				rest.Get(r, "/x", func(context.Context, struct{}) (string, error) { return "", err })
			})
			w := httptest.NewRecorder()
			api.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/x", nil))
			if w.Code != http.StatusInternalServerError {
				t.Errorf("%s of the status %d is answered %d", name, status, w.Code)
			}
		}
		panicked := func() (reason any) {
			defer func() { reason = recover() }()
			serve(func(r *rest.Routes) {
				rest.Get(r, "/x", func(context.Context, struct{}) (string, error) { return "", errors.New("never") },
					rest.Status(status))
			})
			return nil
		}
		if panicked() == nil {
			t.Errorf("rest.Status(%d) registers", status)
		}
	}
}

// TestEscapedTypedSegments spells the characters of a typed segment as escapes, which is the
// same path.
func TestEscapedTypedSegments(t *testing.T) {
	t.Parallel()

	type byID struct {
		ID int `path:"id"`
	}
	api := serve(func(r *rest.Routes) {
		rest.Get(r, "/books/{int:id}", func(_ context.Context, in byID) (int, error) { return in.ID, nil })
		rest.Get(r, "/books/{name}", func(context.Context, struct {
			Name string `path:"name"`
		},
		) (string, error) {
			return "by name", nil
		})
	})
	for path, want := range map[string]string{
		"/books/12":     "12",
		"/books/%31%32": "12",
		"/books/1%32":   "12",
		"/books/%612":   `"by name"`,
		"/books/1%2F2":  `"by name"`,
	} {
		w := httptest.NewRecorder()
		api.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != http.StatusOK || w.Body.String() != want && w.Body.String() != want+"\n" {
			t.Errorf("%s: got %d %s", path, w.Code, w.Body)
		}
	}
	typed := serve(func(r *rest.Routes) {
		rest.Get(r, "/books/{int:id}", func(_ context.Context, in byID) (int, error) { return in.ID, nil })
	})
	for path, want := range map[string]int{"/books/%31": http.StatusMethodNotAllowed, "/books/%61": http.StatusNotFound} {
		w := httptest.NewRecorder()
		typed.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, nil))
		if w.Code != want {
			t.Errorf("POST %s: got %d", path, w.Code)
		}
	}
}
