package lease_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/tool/internal/lease"
)

var errLapsed = errors.New("the lease has lapsed")

func TestCheck(t *testing.T) {
	t.Parallel()

	if err := lease.Check(t.Context()); err != nil {
		t.Errorf("without a call: %v", err)
	}
	call := spool.ToolCall{LeaseFunc: func(context.Context) error { return errLapsed }}
	if err := lease.Check(lease.With(t.Context(), call)); !errors.Is(err, errLapsed) {
		t.Errorf("got %v", err)
	}
}

// A request whose check fails when it has its connection, a new one or a kept one, does not reach the server.
func TestGuard(t *testing.T) {
	t.Parallel()

	for name, serve := range map[string]func(s *httptest.Server){
		"HTTP/1":       func(s *httptest.Server) { s.Start() },
		"HTTP/1, TLS":  func(s *httptest.Server) { s.StartTLS() },
		"HTTP/2":       func(s *httptest.Server) { s.EnableHTTP2 = true; s.StartTLS() },
		"HTTP/2, kept": func(s *httptest.Server) { s.EnableHTTP2 = true; s.StartTLS() },
		"HTTP/1, kept": func(s *httptest.Server) { s.Start() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var requests atomic.Int32
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				requests.Add(1)
			}))
			serve(s)
			t.Cleanup(s.Close)
			var lapsed atomic.Bool
			ask := func() (*lease.Guard, error) {
				guard := &lease.Guard{Check: func() error {
					if lapsed.Load() {
						return errLapsed
					}
					return nil
				}}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				traced := httptrace.WithClientTrace(ctx,
					&httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) { guard.GotConn(info, cancel) }})
				r, err := http.NewRequestWithContext(traced, http.MethodPost, s.URL, strings.NewReader("{}"))
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Idempotency-Key", "k") // net/http repeats such a request
				response, err := s.Client().Do(r)
				if err == nil {
					_ = response.Body.Close()
				}
				return guard, err
			}
			want := int32(0)
			if strings.HasSuffix(name, "kept") {
				if guard, err := ask(); err != nil || guard.Refused() != nil {
					t.Fatal(err)
				}
				want = 1
			}
			lapsed.Store(true)
			if guard, err := ask(); err == nil || !errors.Is(guard.Refused(), errLapsed) {
				t.Errorf("got %v, refused with %v", err, guard.Refused())
			}
			lapsed.Store(false)
			if guard, err := ask(); err != nil || guard.Refused() != nil || requests.Load() != want+1 {
				t.Errorf("then got %v after %d requests, want %d", err, requests.Load(), want+1)
			}
		})
	}
}
