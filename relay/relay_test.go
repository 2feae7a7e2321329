package relay_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/relay"
	"github.com/spoolhq/spool/wire"
)

// Whatever happens to a push, the run is executed, once.
func TestPush(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		// first is what happens to the first push.
		first  fault
		pushes int
		// wait is how long the second push has to wait at least.
		wait time.Duration
	}{
		"Taken":       {first: gets, pushes: 1},
		"Error":       {first: status(http.StatusInternalServerError), pushes: 2, wait: 2 * time.Second},
		"WrongSecret": {first: status(http.StatusUnauthorized), pushes: 2, wait: 2 * time.Second},
		"Redirected": {
			first: status(http.StatusTemporaryRedirect, "Location", "http://other.example/"), pushes: 2, wait: 2 * time.Second,
		},
		"Unavailable": {first: status(http.StatusServiceUnavailable), pushes: 2, wait: 2 * time.Second},
		"TooMany":     {first: status(http.StatusTooManyRequests, "Retry-After", "7"), pushes: 2, wait: 7 * time.Second},
		"UntilDate": {
			first: status(http.StatusServiceUnavailable, "Retry-After", "Sat, 01 Jan 2000 00:00:09 GMT"), pushes: 2,
			wait: 8 * time.Second,
		},
		"ForAges":   {first: status(http.StatusServiceUnavailable, "Retry-After", "99999999"), pushes: 2, wait: time.Hour},
		"UntilPast": {first: status(http.StatusServiceUnavailable, "Retry-After", "0"), pushes: 2, wait: time.Second},
		"AnyWords": {
			first: status(http.StatusServiceUnavailable, "Retry-After", "soon"), pushes: 2, wait: 2 * time.Second,
		},
		"Unreachable":  {first: fails(errors.New("connection refused")), pushes: 2, wait: 2 * time.Second},
		"AnswerTooOld": {first: hangs, pushes: 2, wait: 30 * time.Second},
		"AnswerLost":   {first: loses, pushes: 1}, // the run has taken its job with it
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := setup(t, first(c.first))
				b.push(t, relay.Config{}, engine.WorkOptions{})
				b.start(t, thread)
				pass(2 * time.Hour)
				b.completed(t)
				b.repeats(t, c.pushes, c.wait)
			})
		})
	}
}

// repeats checks that a job was pushed so many times, after the wait, as the same message.
func (b *bundle) repeats(t *testing.T, pushes int, wait time.Duration) {
	t.Helper()

	seen := b.link.seen()
	if len(seen) != pushes {
		t.Fatalf("%d pushes, want %d: %+v", len(seen), pushes, seen)
	}
	if want := `{"tenant":"a","threadId":"t1","runId":"run-t1","model":"m","agent":"assistant","kind":"start",`; !strings.HasPrefix(seen[0].body, want) {
		t.Errorf("the body is %s, want %s", seen[0].body, want)
	}
	for _, p := range seen[1:] {
		if p.id != seen[0].id || p.body != seen[0].body {
			t.Errorf("the message changed from %+v to %+v", seen[0], p)
		}
		if p.stamp == seen[0].stamp {
			t.Errorf("the second push has the time of the first: %+v", p)
		}
		if waited := p.at.Sub(seen[0].at); waited < wait || waited > wait*5/4+2500*time.Millisecond {
			t.Errorf("the second push came after %s, want about %s", waited, wait)
		}
	}
}

// first lets all pushes through but the first, which the fault takes.
func first(f fault) fault {
	return func(l *link, r *http.Request, n int) (*http.Response, error) {
		if n > 1 {
			return l.through(r)
		}
		return f(l, r, n)
	}
}

func gets(l *link, r *http.Request, _ int) (*http.Response, error) { return l.through(r) }

func status(code int, header ...string) fault {
	return func(*link, *http.Request, int) (*http.Response, error) { return answers(code, header...), nil }
}

func fails(err error) fault {
	return func(*link, *http.Request, int) (*http.Response, error) { return nil, err }
}

func hangs(_ *link, r *http.Request, _ int) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// loses has the work done, and cuts the connection before the answer.
func loses(l *link, r *http.Request, _ int) (*http.Response, error) {
	if response, err := l.through(r); err != nil || response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the receiver: %v, %w", response, err)
	}
	return nil, io.ErrUnexpectedEOF
}

// A job that is refused for good, or too often, is dead, and its run has failed.
func TestPushDead(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		status, pushes int
		cause          string
	}{
		"Malformed": {http.StatusBadRequest, 1, "the receiver of pushed jobs answered 400 Bad Request"},
		"Gone":      {http.StatusGone, 1, "the receiver of pushed jobs answered 410 Gone"},
		"TooLarge": {
			http.StatusRequestEntityTooLarge, 1, "the receiver of pushed jobs answered 413 Request Entity Too Large",
		},
		"Unprocessable": {http.StatusUnprocessableEntity, 1, "the receiver of pushed jobs answered 422 Unprocessable Entity"},
		"Error":         {http.StatusBadGateway, 3, "the receiver of pushed jobs answered 502 Bad Gateway"},
		"NotThere":      {http.StatusNotFound, 3, "the receiver of pushed jobs answered 404 Not Found"},
		"NoWords":       {599, 3, "the receiver of pushed jobs answered 599"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := setup(t, status(c.status))
				b.push(t, relay.Config{}, engine.WorkOptions{MaxDeliveries: 3})
				b.start(t, thread)
				pass(time.Minute)

				want := fmt.Sprintf("dropped by the queue after %d attempts: %s", c.pushes, c.cause)
				if r := b.run(t); r.State != wire.Failed || r.Error != want {
					t.Errorf("the run is %s: %s, want %s", r.State, r.Error, want)
				}
				dead, err := b.backend.Store.Jobs(t.Context(), wire.JobQuery{Tenant: "a", State: wire.JobDead})
				if err != nil || len(dead) != 1 || dead[0].RunID != "run-t1" || dead[0].Cause != c.cause ||
					dead[0].Attempts != c.pushes {
					t.Errorf("dead: %+v, %v", dead, err)
				}
				if got := len(b.link.seen()); got != c.pushes {
					t.Errorf("%d pushes, want %d", got, c.pushes)
				}
			})
		})
	}
}

// A receiver that asks for time gets it, however often: that kills no run.
func TestPushBusyForLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, func(l *link, r *http.Request, n int) (*http.Response, error) {
			if n <= 50 {
				return answers(http.StatusServiceUnavailable, "Retry-After", "1"), nil
			}
			return l.through(r)
		})
		b.push(t, relay.Config{}, engine.WorkOptions{MaxDeliveries: 3})
		b.start(t, thread)
		pass(2 * time.Minute)
		b.completed(t)
		b.repeatsAll(t, 51)
	})
}

func (b *bundle) repeatsAll(t *testing.T, pushes int) {
	t.Helper()

	seen := b.link.seen()
	other := slices.IndexFunc(seen, func(p sent) bool { return p.id != seen[0].id })
	if len(seen) != pushes || other >= 0 {
		t.Errorf("%d pushes, want %d of one id: %+v", len(seen), pushes, seen)
	}
}

// A shutdown cuts a push off, and the next process makes it as if it had not been.
func TestPushShutdown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, first(hangs))
		stop := b.push(t, relay.Config{}, engine.WorkOptions{MaxDeliveries: 1})
		b.start(t, thread)
		pass(time.Second)
		if s := b.stats(t); s.InFlight != 1 {
			t.Fatalf("before the shutdown: %+v", s)
		}
		began := time.Now()
		stop()
		if took := time.Since(began); took > 0 {
			t.Errorf("the shutdown took %s", took)
		}
		if s := b.stats(t); s.Ready != 1 || s.InFlight != 0 {
			t.Errorf("after the shutdown: %+v", s)
		}

		// Its only delivery is still to be had.
		b.push(t, relay.Config{}, engine.WorkOptions{MaxDeliveries: 1})
		pass(time.Minute)
		b.completed(t)
		// A sweep between the receiver's yes and its claim finds the run without a job, and adds a
		// ticket that does nothing.
		swept := 0
		b.link.forget(func(p sent) bool {
			reclaim := strings.Contains(p.body, `"kind":"reclaim"`)
			if reclaim {
				swept++
			}
			return reclaim && swept == 1
		})
		b.repeatsAll(t, 2)
	})
}

// A push that takes longer than the lease is not made twice.
func TestPushSlowly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, func(l *link, r *http.Request, _ int) (*http.Response, error) {
			<-time.After(5 * time.Minute)
			return l.through(r)
		})
		b.push(t, relay.Config{Timeout: 10 * time.Minute}, engine.WorkOptions{})
		b.start(t, thread)
		pass(time.Hour)
		b.completed(t)
		b.repeatsAll(t, 1)
	})
}

func TestPushConcurrency(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int32
		b := setup(t, func(*link, *http.Request, int) (*http.Response, error) {
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			defer now.Add(-1)
			<-time.After(time.Second)
			return answers(http.StatusAccepted), nil
		})
		b.push(t, relay.Config{}, engine.WorkOptions{Concurrency: 3})
		for i := range 12 {
			tenant := spool.Tenant(fmt.Sprint("tenant", i%3)) // the last slot is for one that has none
			b.start(t, spool.ThreadKey{Tenant: tenant, ID: spool.ThreadID(fmt.Sprintf("t%d", i))})
		}
		pass(time.Minute)
		if got := len(b.link.seen()); got != 12 || most.Load() != 3 {
			t.Errorf("%d pushes, %d at once; want 12, 3 at once", got, most.Load())
		}
	})
}

// What the receiver has taken and lost is pushed again, as another message, and nothing of
// it is executed by the one that pushes.
func TestPushLostByReceiver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, first(status(http.StatusAccepted)))
		b.push(t, relay.Config{}, engine.WorkOptions{})
		b.start(t, thread)
		pass(time.Minute)
		if r := b.run(t); r.State != wire.Queued || b.idle.Asked() != 0 {
			t.Errorf("the run is %s, the model was asked %d times", r.State, b.idle.Asked())
		}
		pass(sweepEvery)
		b.completed(t)
		seen := b.link.seen()
		if len(seen) != 2 || seen[0].id == seen[1].id || !strings.Contains(seen[1].body, `"kind":"reclaim"`) {
			t.Errorf("pushes: %+v", seen)
		}
	})
}
