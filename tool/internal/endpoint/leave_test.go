package endpoint

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
)

// transport answers requests in the place of a network.
type transport func(r *http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// leaving is the body of an answer whose reader ends the call's context.
type leaving struct {
	io.Reader

	leave context.CancelFunc
}

func (l leaving) Close() error {
	l.leave()
	return nil
}

// TestDoCallerLeaves has a caller leave when the whole answer is there. It gets the context's error in place of a
// further attempt, and every answer that is the last.
func TestDoCallerLeaves(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		status     int
		after      string
		attempts   int
		idempotent bool
		text       string // of the answer. Empty: the context's error
	}{
		"Busy":              {status: http.StatusServiceUnavailable, after: "50", attempts: 2},
		"BusyNow":           {status: http.StatusTooManyRequests, after: "0", attempts: 3},
		"BusyLast":          {status: http.StatusServiceUnavailable, after: "50", attempts: 1, text: "status 503"},
		"BusyTooLong":       {status: http.StatusServiceUnavailable, after: "90", attempts: 2, text: "status 503"},
		"Unknown":           {status: http.StatusBadGateway, attempts: 2, text: "status 502"},
		"UnknownIdempotent": {status: http.StatusBadGateway, attempts: 2, idempotent: true},
		"Final":             {status: http.StatusConflict, attempts: 2, text: "status 409"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, err := New(Config{Tool: "post", Retry: Retry{Attempts: c.attempts, Backoff: time.Nanosecond}})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			requests := 0
			answer := transport(func(*http.Request) (*http.Response, error) {
				requests++
				header := http.Header{}
				if c.after != "" {
					header.Set("Retry-After", c.after)
				}
				return &http.Response{StatusCode: c.status, Header: header, Body: leaving{strings.NewReader(""), cancel}}, nil
			})
			e.kept, e.once = &http.Client{Transport: answer}, &http.Client{Transport: answer}
			_, err = e.Do(ctx, spool.ToolCall{},
				Request{Method: http.MethodPost, URL: &url.URL{Scheme: "https", Host: "a.example"}, Idempotent: c.idempotent})
			if requests != 1 {
				t.Errorf("%d requests", requests)
			}
			if ended := errors.Is(err, context.Canceled); ended != (c.text == "") ||
				!ended && (err == nil || !strings.Contains(spool.MessageOf(err), c.text)) {
				t.Errorf("got %v", err)
			}
		})
	}
}
