package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/slots"
	"github.com/spoolhq/spool/internal/inprocess"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// start starts a worker with a configuration of its own, and returns a function that ends it.
func (b *bench) start(c Config, o slots.Options) (stop func()) {
	b.t.Helper()
	ctx, cancel := context.WithCancel(b.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, c, o) }()
	synctest.Wait()
	return func() {
		b.t.Helper()
		cancel()
		if err := <-ended; err != nil {
			b.t.Error(err)
		}
	}
}

// only returns options of a worker of events whose handler is fn.
func only(fn func(ctx context.Context, d store.Delivery) error, queues ...string) slots.Options {
	return slots.Options{EventsOnly: true, Events: handlers(fn, queues...)}
}

// countedStore counts the claims.
type countedStore struct {
	store.Store

	claims atomic.Int64
}

func (s *countedStore) Claim(ctx context.Context, q store.ClaimQuery) ([]store.Delivery, time.Time, error) {
	s.claims.Add(1)
	return s.Store.Claim(ctx, q)
}

// A handler that says what becomes of its event is obeyed: after exactly the time that it says, with or without a
// count, and also at the last delivery that may be. An acknowledgement that ends no delivery is an error like any
// other.
func TestHandlersDecide(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.put(event("counted", "q"), event("refunded", "q"), event("dead", "q"), event("done", "q"), event("extended", "q"))
		began := time.Now()
		stop := b.work(slots.Options{MaxDeliveries: 2, Events: handlers(func(_ context.Context, d store.Delivery) error {
			at := time.Since(began)
			b.note(d.Key + " " + strconv.Itoa(d.Attempt) + " " + at.String())
			again := store.Ack{Kind: store.AckRelease, After: 90 * time.Second, Refund: d.Key == "refunded"}
			switch {
			case d.Key == "dead":
				return &store.AckError{Ack: store.Ack{Kind: store.AckDead, Cause: "status 410"}}
			case d.Key == "done":
				return fmt.Errorf("wrapped: %w", &store.AckError{Ack: store.Ack{Kind: store.AckDone}})
			case d.Key == "extended":
				return &store.AckError{Ack: store.Ack{Kind: store.AckExtend, After: time.Hour}}
			case at < 4*time.Minute:
				return &store.AckError{Ack: again}
			}
			return nil
		}, "q")})
		pass(30 * time.Minute)
		stop()
		got := slices.DeleteFunc(b.noted(), func(line string) bool { return strings.HasPrefix(line, "extended 2") })
		slices.Sort(got)
		same(t, "the deliveries", got, []string{
			"counted 1 0s", "counted 2 1m30s", "counted 2 3m0s", "counted 2 4m30s", "dead 1 0s", "done 1 0s",
			"extended 1 0s",
			"refunded 1 0s", "refunded 1 1m30s", "refunded 1 3m0s", "refunded 1 4m30s",
		})
		dead := b.jobs(wire.JobDead)
		slices.Sort(dead)
		same(t, "the dead jobs", dead, []string{"dead: status 410", "extended: Internal error"})
		same(t, "the other jobs", b.jobs(""), []string{})
	})
}

// A handler has decided also if its worker ends meanwhile.
func TestHandlersDecideAtTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.put(event("e1", "q"))
		stop := b.work(slots.Options{Events: handlers(func(ctx context.Context, _ store.Delivery) error {
			<-ctx.Done()
			return &store.AckError{Ack: store.Ack{Kind: store.AckDead, Cause: "status 410"}}
		}, "q")})
		pass(time.Second)
		stop()
		same(t, "the dead jobs", b.jobs(wire.JobDead), []string{"e1: status 410"})
	})
}

// Without a bound of deliveries, an event that always fails is never dead.
func TestDeliveriesWithoutABound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.put(event("e1", "q"))
		var last atomic.Int64
		o := only(func(_ context.Context, d store.Delivery) error {
			last.Store(int64(d.Attempt))
			return errors.New("no")
		}, "q")
		o.MaxDeliveries = -1
		stop := b.work(o)
		pass(5 * time.Hour)
		stop()
		if last.Load() < 200 {
			t.Errorf("%d deliveries", last.Load())
		}
		same(t, "the dead jobs", b.jobs(wire.JobDead), []string{})
	})
}

// A worker of events takes no ticket, sweeps nothing, warns about no agent, is no worker for the health of the process,
// and no start reserves a place in it. It may have the engine's own queues.
func TestEventsOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.put(ticket("r1", "a", ""), ticket("r2", "a", "spool.ticks"), ticket("r3", "gone", "spool.ticks"),
			event("e1", "spool.ticks"), event("e2", "other"))
		c := b.config()
		c.OwnQueues = true
		c.Sweep = func(context.Context) { b.note("sweep") }
		stop := b.start(c, only(func(_ context.Context, d store.Delivery) error {
			b.note("handle " + d.Key)
			return nil
		}, "spool.ticks"))
		pass(10 * time.Minute)
		if err := c.Health.Check(c.Poll); spool.MessageOf(err) != "no worker runs" {
			t.Errorf("with a worker of events, the health is %v", err)
		}
		if place := c.Workers.Reserve(ticket("r4", "a", "spool.ticks")); place != nil {
			t.Error("a start has a place in a worker of events")
			place.Release()
		}
		same(t, "what was done", b.noted(), []string{"handle e1"})
		same(t, "the jobs that are left", b.jobs(wire.JobReady), []string{"r1", "r2", "r3", "e2"})

		// A worker of runs beside it has places and a health as if it were alone.
		c.Sweep, c.Agents = func(context.Context) {}, []string{"a"}
		stopRuns := b.start(c, slots.Options{Concurrency: 1})
		pass(time.Minute)
		if err := c.Health.Check(c.Poll); err != nil {
			t.Error(err)
		}
		if place := c.Workers.Reserve(ticket("r5", "a", "")); place == nil {
			t.Error("no start has a place")
		} else {
			place.Release()
		}
		stopRuns()
		if err := c.Health.Check(c.Poll); spool.MessageOf(err) != "no worker runs" {
			t.Errorf("behind the worker of runs, the health is %v", err)
		}
		stop()
		same(t, "what was done beside it", b.noted(), []string{"run r1"})
		if b.log.Len() > 0 {
			t.Errorf("the log has %s", &b.log)
		}
	})
}

// A wake-up on the topic of events makes workers with handlers look at once, and no others. Events take no place from
// starts, also while a handler hangs.
func TestEventsWakeTheirWorkers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		live := inprocess.NewLive(0)
		config := func() (Config, *countedStore) {
			c := b.config()
			counted := &countedStore{Store: b.db}
			c.Live, c.Poll, c.SweepEvery, c.Store = live, 100*time.Hour, 100*time.Hour, counted
			return c, counted
		}
		hang := make(chan struct{})
		handler := func(_ context.Context, d store.Delivery) error {
			b.note("handle " + d.Key)
			if strings.HasPrefix(d.Key, "hang") {
				<-hang
			}
			return nil
		}
		runs, runClaims := config()
		stopRuns := b.start(runs, slots.Options{Concurrency: 1})
		events, eventClaims := config()
		events.Workers = runs.Workers
		o := only(handler, "mail")
		o.Concurrency = 1
		stopEvents := b.start(events, o)
		both, _ := config()
		stopBoth := b.start(both, slots.Options{Events: handlers(handler, "both")})
		before := runClaims.claims.Load()

		b.put(event("e1", "mail"), event("e2", "both"))
		pass(time.Minute)
		same(t, "without a wake-up", b.noted(), nil)
		live.Wake(store.JobTopic(event("e1", "mail")), store.WakeJobs, nil)
		got := b.noted()
		slices.Sort(got)
		same(t, "after a wake-up", got, []string{"handle e1", "handle e2"})
		// One at the start, one that finds the event, one that finds no other, and perhaps one behind the handler.
		if n := eventClaims.claims.Load(); n > 4 {
			t.Errorf("%d claims for one event", n)
		}

		b.put(event("hang", "mail"))
		live.Wake(store.EventsTopic, store.WakeJobs, nil)
		same(t, "one that hangs", b.noted(), []string{"handle hang"})
		place := runs.Workers.Reserve(ticket("r1", "a", ""))
		if place == nil {
			t.Fatal("no start has a place beside a handler that hangs")
		}
		if other := runs.Workers.Reserve(ticket("r2", "a", "")); other != nil {
			t.Error("a second start has a place")
			other.Release()
		}
		if n := runClaims.claims.Load(); n != before {
			t.Errorf("the worker of runs has claimed %d times because of events", n-before)
		}
		place.Release()
		close(hang)
		synctest.Wait()

		n := eventClaims.claims.Load()
		b.put(ticket("r3", "a", ""), event("e3", "both"))
		live.Wake(store.JobTopic(ticket("r3", "a", "")), store.WakeJobs, nil)
		got = b.noted()
		slices.Sort(got)
		same(t, "after a wake-up for tickets", got, []string{"handle e3", "run r3"})
		if now := eventClaims.claims.Load(); now != n {
			t.Errorf("the worker of events has claimed %d times because of tickets", now-n)
		}
		stopRuns()
		stopEvents()
		stopBoth()
	})
}

// Without any wake-up, an event that is due later is handled at its time, also while the handler of another one hangs.
// The worker does not poll for that.
func TestEventsComeAtTheirTime(t *testing.T) {
	t.Parallel()
	for name, hangs := range map[string]bool{"alone": false, "beside one that hangs": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				began := time.Now()
				due := func(key string, after time.Duration) wire.Job {
					j := event(key, "ticks")
					j.DueAt = began.Add(after)
					return j
				}
				b.put(event("e0", "ticks"), due("e1", 30*time.Minute), due("e2", 30*time.Minute+300*time.Millisecond),
					due("e3", 90*time.Minute))
				c := b.config()
				counted := &countedStore{Store: b.db}
				c.Store, c.Poll = counted, time.Hour
				stop := b.start(c, only(func(ctx context.Context, d store.Delivery) error {
					b.note(d.Key + " " + time.Since(began).String())
					if d.Key == "e0" && hangs {
						<-ctx.Done()
					}
					return nil
				}, "ticks"))
				pass(2 * time.Hour)
				same(t, "the deliveries", b.noted(), []string{"e0 0s", "e1 30m0s", "e2 30m0.3s", "e3 1h30m0s"})
				// For each event one claim that takes it, one that finds no other, and perhaps one behind its handler. A
				// worker also looks when a lease lapses.
				if n := counted.claims.Load(); n > 12 && !hangs {
					t.Errorf("%d claims", n)
				}
				stop()
			})
		})
	}
}

// A handler that wants its event again before the next poll gets it then.
func TestEventsComeAgainBeforeThePoll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.put(event("e1", "q"))
		began := time.Now()
		c := b.config()
		c.Poll = time.Hour
		stop := b.start(c, only(func(_ context.Context, d store.Delivery) error {
			b.note(strconv.Itoa(d.Attempt) + " " + time.Since(began).String())
			if d.Attempt == 3 {
				return nil
			}
			return &store.AckError{Ack: store.Ack{Kind: store.AckRelease, After: 5 * time.Second}}
		}, "q"))
		pass(time.Minute)
		stop()
		same(t, "the deliveries", b.noted(), []string{"1 0s", "2 5s", "3 10s"})
	})
}
