package httptool_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	httptool "github.com/spoolhq/spool/tool/http"
)

// cut ends the connection without an answer.
func cut(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_ = conn.Close()
	}
}

// TestRetries has an endpoint fail its first request.
func TestRetries(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		fail  http.HandlerFunc
		plain int // requests of a tool that is not idempotent
		again int // requests of one that is
		text  string
	}{
		"Cut":  {func(w http.ResponseWriter, _ *http.Request) { cut(w) }, 1, 2, "reach"},
		"Slow": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 1, 2, "did not answer within"},
		"HalfBody": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "9")
			_, _ = io.WriteString(w, "{")
			cut(w)
		}, 1, 2, "reach"},
		"Busy":       {busy(http.StatusServiceUnavailable, "0"), 2, 2, ""},
		"TooMany":    {busy(http.StatusTooManyRequests, "0"), 2, 2, ""},
		"BusyLong":   {busy(http.StatusTooManyRequests, "90"), 1, 1, "status 429"},
		"BusyDate":   {busy(http.StatusTooManyRequests, "Tue, 24 Nov 2020 00:00:00 GMT"), 2, 2, ""},
		"NoAfter":    {busy(http.StatusServiceUnavailable, ""), 1, 2, "status 503"},
		"BadGateway": {busy(http.StatusBadGateway, "0"), 1, 2, "status 502"},
		"Broken":     {busy(http.StatusInternalServerError, "0"), 1, 1, "status 500"},
		"Wrong":      {busy(http.StatusConflict, "0"), 1, 1, "status 409"},
		"Large": {
			func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, strings.Repeat("x", 200)) }, 1, 1,
			"larger than 100 bytes",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			timeout := 20 * time.Second
			if name == "Slow" {
				timeout = 500 * time.Millisecond
			}
			for _, idempotent := range []bool{false, true} {
				var requests atomic.Int32
				keys := make(chan string, 9)
				s := serve(t, func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body) // so that the server notices a client that has gone
					keys <- r.Header.Get("Idempotency-Key")
					if requests.Add(1) == 1 {
						c.fail(w, r)
						return
					}
					_, _ = io.WriteString(w, `"done"`)
				})
				tl := open(t, httptool.Config{
					URL: s.URL, Egress: loopback, Idempotent: idempotent, MaxResultBytes: 100, Timeout: timeout,
					Retry: httptool.Retry{Attempts: 3, Backoff: time.Millisecond, Within: 20 * time.Second},
				})
				want := c.plain
				if idempotent {
					want = c.again
				}
				got, err := tl.Call(t.Context(), spool.ToolCall{RunID: "r", Step: 1, ID: "c"})
				if int(requests.Load()) != want {
					t.Errorf("idempotent %t: %d requests, want %d: %v", idempotent, requests.Load(), want, err)
				}
				if want == 2 && string(got) != `"done"` ||
					want == 1 && (err == nil || !strings.Contains(spool.MessageOf(err), c.text)) {
					t.Errorf("idempotent %t: %s, %v", idempotent, got, err)
				}
				_, asks := errors.AsType[*spool.OutcomeUnknownError](err)
				if want := !idempotent && slices.Contains([]string{"Cut", "Slow", "HalfBody"}, name); asks != want {
					t.Errorf("idempotent %t: a person is asked: %t", idempotent, asks)
				}
				for range want {
					if key := <-keys; key != "r/1/c" {
						t.Errorf("the key is %s", key)
					}
				}
			}
		})
	}
}

func busy(status int, after string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if after != "" {
			w.Header().Set("Retry-After", after)
		}
		w.WriteHeader(status)
	}
}

// TestRetryRefused has an address that refuses connections until the second attempt.
func TestRetryRefused(t *testing.T) {
	t.Parallel()

	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	config := httptool.Config{URL: "http://" + address, Egress: loopback}
	if _, err := open(t, config).Call(t.Context(), spool.ToolCall{}); spool.MessageOf(err) != "reach "+address {
		t.Errorf("once: %v", err)
	}
	config.Retry = httptool.Retry{Attempts: 10, Backoff: 10 * time.Millisecond, Within: 10 * time.Second}
	ended := make(chan error, 1)
	go func() {
		_, err := open(t, config).Call(t.Context(), spool.ToolCall{})
		ended <- err
	}()
	if listener, err = (&net.ListenConfig{}).Listen(t.Context(), "tcp", address); err != nil {
		t.Fatal(err)
	}
	server := &http.Server{
		Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), ReadHeaderTimeout: time.Minute,
	}
	go func() { _ = server.Serve(listener) }()
	defer server.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestRetryStops ends a call that waits for its next attempt.
func TestRetryStops(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithCancel(t.Context())
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		busy(http.StatusServiceUnavailable, "50")(w, r)
		cancel()
	})
	tl := open(t, httptool.Config{URL: s.URL, Egress: loopback, Retry: httptool.Retry{Attempts: 2}})
	if _, err := tl.Call(ctx, spool.ToolCall{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestSentOnce has a server that closes kept connections as soon as it has read the second request. net/http
// would send a request with an Idempotency-Key again.
func TestSentOnce(t *testing.T) {
	t.Parallel()

	var requests atomic.Int32
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if requests.Add(1) == 2 {
			cut(w)
		}
	})
	for _, method := range []string{http.MethodPost, http.MethodDelete} {
		requests.Store(0)
		tl := open(t, httptool.Config{
			URL: s.URL, Method: method, Egress: loopback, Parameters: json.RawMessage(`{"type":"object"}`),
		})
		if _, err := tl.Call(t.Context(), spool.ToolCall{}); err != nil {
			t.Fatal(err)
		}
		_, err := tl.Call(t.Context(), spool.ToolCall{})
		if _, asks := errors.AsType[*spool.OutcomeUnknownError](err); requests.Load() != 2 || !asks {
			t.Errorf("%s: %d requests, %v", method, requests.Load(), err)
		}
	}
}
