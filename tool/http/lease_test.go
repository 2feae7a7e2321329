package httptool_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	httptool "github.com/spoolhq/spool/tool/http"
)

var errLapsed = errors.New("the lease has lapsed")

// TestLease has the worker lose its lease at each moment before a request. The request does not reach the endpoint.
func TestLease(t *testing.T) {
	t.Parallel()

	object := json.RawMessage(`{"type":"object"}`)
	for name, c := range map[string]struct {
		config httptool.Config
		// kept is how many calls are made before, over a connection that is kept.
		kept int
		// asks is how often the lease is good in the call. Zero: until the endpoint has a request.
		asks int32
		// answer is how the endpoint answers the call.
		answer   http.HandlerFunc
		requests int32 // of the call
	}{
		"before the dial": {asks: -1},
		"during the dial": {asks: 1},
		"during it, repeats": {
			config: httptool.Config{Idempotent: true, Retry: httptool.Retry{Attempts: 3, Backoff: time.Nanosecond}}, asks: 1,
		},
		"before a repeat": {
			config: httptool.Config{Retry: httptool.Retry{Attempts: 3, Backoff: time.Nanosecond}},
			answer: busy(http.StatusServiceUnavailable, "0"), requests: 1,
		},
		"before a redirect": {
			answer: func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "/again", http.StatusTemporaryRedirect)
			},
			requests: 1,
		},
		"before the repeat of net/http": {
			config: httptool.Config{Idempotent: true}, kept: 1, answer: cutOff, requests: 1,
		},
		"before the repeat of net/http of a GET": {
			config: httptool.Config{Method: http.MethodGet}, kept: 1, answer: cutOff, requests: 1,
		},
		"before the repeat of net/http, a DELETE": {
			config: httptool.Config{Method: http.MethodDelete, Idempotent: true}, kept: 1, answer: cutOff, requests: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var requests, asked atomic.Int32
			var measured atomic.Bool
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if measured.Load() {
					requests.Add(1)
					c.answer(w, r)
				}
			})
			c.config.URL, c.config.Egress, c.config.Parameters = s.URL, loopback, object
			tl := open(t, c.config)
			for range c.kept {
				if _, err := tl.Call(t.Context(), spool.ToolCall{}); err != nil {
					t.Fatal(err)
				}
			}
			measured.Store(true)
			_, err := tl.Call(t.Context(), spool.ToolCall{LeaseFunc: func(context.Context) error {
				if n := asked.Add(1); requests.Load() > 0 || c.asks != 0 && n > c.asks {
					return errLapsed
				}
				return nil
			}})
			if requests.Load() != c.requests || err == nil || c.requests == 0 && !errors.Is(err, errLapsed) {
				t.Errorf("%d requests, %v", requests.Load(), err)
			}
		})
	}
}

func cutOff(w http.ResponseWriter, _ *http.Request) { cut(w) }
