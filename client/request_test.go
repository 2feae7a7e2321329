package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/wire"
)

const started = `{"accepted":true,"threadId":"t1","runId":"r1","state":"QUEUED"}`

func reply(status int, body string, header ...string) *answer {
	return says(status, "application/json; charset=utf-8", body, header...)
}

// TestRetry has the requests that are sent again, and those that are not.
func TestRetry(t *testing.T) {
	t.Parallel()

	read := func(c *client.Client, ctx context.Context) error {
		_, err := c.Usage(ctx, "t1")
		return err
	}
	start := func(key string) func(*client.Client, context.Context) error {
		return func(c *client.Client, ctx context.Context) error {
			_, err := c.Run(ctx, client.RunRequest{Prompt: "Hello", IdempotencyKey: key})
			return err
		}
	}
	busy := func() *answer { return fails(503, spool.Unavailable, "Retry-After", "20") }
	cut := func() *answer {
		res := reply(200, "")
		res.Body = io.NopCloser(io.MultiReader(res.Body, failing{}))
		return res
	}
	none := func() *answer { return nil }
	usage, run := func() *answer { return reply(200, `{"model":"demo"}`) }, func() *answer { return reply(202, started) }
	for name, c := range map[string]struct {
		call    func(*client.Client, context.Context) error
		answers []func() *answer
		code    spool.Code
		asked   int
		wait    time.Duration // at least, between the first two
	}{
		"a read, and no server":      {read, list(none, none, none, usage), "", 4, 500 * time.Millisecond},
		"a read, and never a server": {read, list(none, none, none, none), spool.Unavailable, 4, 500 * time.Millisecond},
		"a read of a busy server":    {read, list(busy, usage), "", 2, 20 * time.Second},
		"a read that is cut":         {read, list(cut, usage), "", 2, 500 * time.Millisecond},
		"a read, and a limit": {
			read, list(func() *answer { return fails(429, spool.Limit, "Retry-After", "3") }, usage), "", 2, 3 * time.Second,
		},
		"a read, and a proxy's 502": {
			read, list(func() *answer { return says(502, "text/html", "") }, usage), "", 2, 500 * time.Millisecond,
		},
		"a read, and a defect": {read, list(func() *answer { return fails(500, spool.Internal) }), spool.Internal, 1, 0},
		"a read of nothing":    {read, list(func() *answer { return fails(404, spool.NotFound) }), spool.NotFound, 1, 0},
		"a read of a page": {
			read, list(func() *answer { return says(200, "text/html", "<html>") }), spool.Internal, 1, 0,
		},
		"a start without a key": {start(""), list(busy), spool.Unavailable, 1, 0},
		"a start with a key":    {start("k"), list(busy, none, cut, run), "", 4, 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			synctest.Test(t, func(t *testing.T) {
				s := &script{answer: func(n int, _ *http.Request) *answer { return c.answers[n-1]() }}
				err := c.call(s.client(t), t.Context())
				if spool.CodeOf(err) != c.code || len(s.asked) != c.asked {
					t.Errorf("%v after %d requests, want %q after %d", err, len(s.asked), c.code, c.asked)
				}
				if len(s.asked) > 1 {
					within(t, "the second request", s.waits()[0], c.wait)
				}
			})
		})
	}
}

func list(answers ...func() *answer) []func() *answer { return answers }

type failing struct{}

// Read implements [io.Reader].
func (failing) Read([]byte) (int, error) { return 0, errors.New("connection reset by peer") }

// TestRetryWithinDeadline returns the answer at once if the context does not last until the next request.
func TestRetryWithinDeadline(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		s := &script{answer: func(int, *http.Request) *answer { return fails(503, spool.Unavailable, "Retry-After", "20") }}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		began := time.Now()
		_, err := s.client(t).Usage(ctx, "t1")
		wantError(t, err, spool.Unavailable, 503)
		if time.Since(began) != 0 || len(s.asked) != 1 {
			t.Errorf("%d requests in %s", len(s.asked), time.Since(began))
		}
	})
}

// TestQueueFull has a start that the server has no room for, which is a result.
func TestQueueFull(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		full := func(n int, _ *http.Request) *answer {
			if n > 5 {
				return reply(202, started)
			}
			return reply(503,
				`{"accepted":false,"threadId":"t1","reason":"queue_full","error":"Too many runs","code":"queue_full"}`,
				"Retry-After", "3")
		}
		s := &script{answer: full}
		r, err := s.client(t).Run(t.Context(), client.RunRequest{Prompt: "Hello"})
		if err != nil || r.Accepted || r.Reason != wire.ReasonQueueFull || r.RetryAfter != 3*time.Second ||
			len(s.asked) != 1 {
			t.Errorf("%+v, %v after %d requests", r, err, len(s.asked))
		}
		s = &script{answer: full}
		r, err = s.client(t).Run(t.Context(), client.RunRequest{Prompt: "Hello", IdempotencyKey: "k"})
		if err != nil || r.Accepted || len(s.asked) != 4 {
			t.Errorf("%+v, %v after %d requests", r, err, len(s.asked))
		}
		s = &script{answer: full}
		c := s.client(t, func(o *client.Options) { o.Retries = 9 })
		r, err = c.Run(t.Context(), client.RunRequest{Prompt: "Hello", IdempotencyKey: "k"})
		if err != nil || !r.Accepted || r.RetryAfter != 0 || len(s.asked) != 6 {
			t.Errorf("%+v, %v after %d requests", r, err, len(s.asked))
		}
	})
}

// TestNewToken sends a request again with a new token, also one that writes: the first was refused.
func TestNewToken(t *testing.T) {
	t.Parallel()

	s := &script{answer: func(_ int, r *http.Request) *answer {
		if r.Header.Get("Authorization") != "Bearer t2" {
			return fails(401, spool.Unauthorized)
		}
		return reply(202, started)
	}}
	n := 0
	c := s.client(t, func(o *client.Options) {
		o.Token = func(context.Context) (string, error) {
			n++
			return "t" + string(rune('0'+n)), nil
		}
	})
	if r, err := c.Run(t.Context(), client.RunRequest{Prompt: "Hello"}); err != nil || !r.Accepted || len(s.asked) != 2 {
		t.Errorf("%+v, %v after %d requests", r, err, len(s.asked))
	}
	_, err := c.Run(t.Context(), client.RunRequest{Prompt: "Hello"})
	wantError(t, err, spool.Unauthorized, 401)
	if len(s.asked) != 4 {
		t.Errorf("%d requests", len(s.asked))
	}
}

// TestAwaitSurvives waits for a run over a restart.
func TestAwaitSurvives(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		running := func() *answer { return reply(200, `{"runId":"r1","state":"RUNNING","parks":[]}`) }
		s := &script{}
		s.answer = func(n int, r *http.Request) *answer {
			switch n {
			case 1: // as long as it was asked to
				time.Sleep(30 * time.Second) //nolint:forbidigo // the server of a bubble
				return running()
			case 2: // it drains
				return running()
			case 3, 4, 5, 6, 7, 8:
				return nil
			case 9: // it hangs
				<-r.Context().Done()
				return nil
			case 10:
				return fails(503, spool.Unavailable, "Retry-After", "5")
			default:
				return reply(200, `{"runId":"r1","state":"COMPLETED","parks":[]}`)
			}
		}
		c := s.client(t)
		o, err := c.Await(t.Context(), "r1")
		if err != nil || o.State != wire.Completed || len(s.asked) != 11 {
			t.Errorf("%+v, %v after %d requests", o, err, len(s.asked))
		}
		within(t, "after a drain", s.waits()[1], 500*time.Millisecond)
		within(t, "after a 503, the eighth failure", s.waits()[9], 30*time.Second)

		s.answer = func(int, *http.Request) *answer { return nil }
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if _, err = c.Await(ctx, "r1"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
}
