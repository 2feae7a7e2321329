package rest_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool/rest"
)

// A client that has closed its side of the connection gets no answer at all, and middleware sees 499.
func TestClientGone(t *testing.T) {
	t.Parallel()

	seen := make(chan int, 1)
	api := serve(func(r *rest.Routes) {
		rest.Get(r, "/wait", func(ctx context.Context, _ struct{}) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		})
	}, rest.Use(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			noted := &statusWriter{ResponseWriter: w}
			defer func() { seen <- noted.status }()
			next.ServeHTTP(noted, r)
		})
	}))
	peer := httptest.NewServer(api)
	defer peer.Close()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", peer.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := fmt.Fprintf(conn, "GET /wait HTTP/1.1\r\nHost: h\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	half, ok := conn.(*net.TCPConn)
	if !ok {
		t.Fatalf("the connection is a %T", conn)
	}
	if err := half.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(conn); err != nil || len(text) > 0 {
		t.Errorf("got %q and error %v, want nothing", text, err)
	}
	if status := <-seen; status != 499 {
		t.Errorf("middleware saw %d", status)
	}
}

type statusWriter struct {
	http.ResponseWriter

	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Something else than the client may be canceled. Then the client waits, and may try again.
func TestCanceledForClient(t *testing.T) {
	t.Parallel()

	api := serve(func(r *rest.Routes) {
		rest.Get(r, "/canceled", func(context.Context, struct{}) (string, error) { return "", context.Canceled })
	}, rest.MapError(func(error) *rest.Error { return &rest.Error{Status: 499, Code: "canceled"} }))
	w := httptest.NewRecorder()
	api.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/canceled", http.NoBody))
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "1" ||
		!strings.Contains(w.Body.String(), "unavailable") {
		t.Errorf("got %d %v %s", w.Code, w.Header(), w.Body)
	}
}

// A shutdown that begins while a body ends leaves no deadline on the connection: net/http would cancel the request.
func TestClosingWhileBodyEnds(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		closing, shutDown := context.WithCancel(t.Context())
		api := serve(func(r *rest.Routes) {
			rest.Post(r, "/body", func(context.Context, struct{ Body map[string]string }) (string, error) { return "read", nil })
		}, rest.BoundBodies(rest.BodyBounds{Timeout: time.Minute, Closing: closing}))
		w := &slowDeadlines{ResponseRecorder: httptest.NewRecorder(), begun: make(chan struct{})}
		body := io.MultiReader(strings.NewReader("{"), readFunc(func(p []byte) (int, error) {
			shutDown()
			<-w.begun
			return copy(p, "}"), io.EOF
		}))
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/body", body)
		r.Header.Set("Content-Type", "application/json")
		api.ServeHTTP(w, r)
		<-time.After(time.Minute)
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.Code != http.StatusOK || !w.last.IsZero() {
			t.Errorf("got %d %s and the deadline %s", w.Code, w.Body, w.last)
		}
	})
}

type readFunc func(p []byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// slowDeadlines is a connection whose deadline of a shutdown, which is a second, takes a while to be set.
type slowDeadlines struct {
	*httptest.ResponseRecorder

	begun chan struct{}
	mu    sync.Mutex
	last  time.Time
}

func (w *slowDeadlines) SetReadDeadline(at time.Time) error {
	if left := time.Until(at); left == time.Second {
		close(w.begun)
		<-time.After(time.Millisecond)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = at
	return nil
}
