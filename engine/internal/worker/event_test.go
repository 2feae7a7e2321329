package worker

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine/internal/slots"
	"github.com/spoolhq/spool/internal/inprocess"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

const acme spool.Tenant = "acme"

// bench is a store with a log, and notes what its workers were asked to do.
type bench struct {
	t  *testing.T
	db store.Store

	mu   sync.Mutex
	log  bytes.Buffer
	done []string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	return &bench{t: t, db: memory.New(nil).Store}
}

func (b *bench) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.log.Write(line)
}

func (b *bench) note(what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done = append(b.done, what)
}

// noted returns what was noted since the last call.
func (b *bench) noted() []string {
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	done := b.done
	b.done = nil
	return done
}

// put adds jobs of acme, with their names as keys.
func (b *bench) put(jobs ...wire.Job) {
	b.t.Helper()
	err := b.db.Update(b.t.Context(), spool.ThreadKey{Tenant: acme}, 0, func(tx store.Tx) error {
		return tx.Write(store.Changes{Jobs: jobs})
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

func event(key, queue string) wire.Job {
	return wire.Job{Key: key, Queue: queue, Payload: []byte(`{"of":"` + key + `"}`)}
}

func ticket(key, agent, queue string) wire.Job {
	return wire.Job{Key: key, Queue: queue, ThreadID: "t", RunID: spool.RunID(key), Agent: agent}
}

// work starts a worker that has the agent "a", and returns a function that ends it.
func (b *bench) work(o slots.Options) (stop func()) {
	b.t.Helper()
	ctx, cancel := context.WithCancel(b.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, b.config(), o) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			b.t.Error(err)
		}
	}
}

func (b *bench) config() Config {
	return Config{
		Store: b.db, Live: inprocess.NewLive(0), Log: slog.New(slog.NewTextHandler(b, nil)), Agents: []string{"a"},
		Lease: 30 * time.Second, Poll: time.Second, SweepEvery: 5 * time.Second,
		Handle: func(_ context.Context, j wire.Job, _ *slots.Slot) (wire.JobResult, error) {
			b.note("run " + j.Key)
			return wire.JobResult{Accepted: true}, nil
		},
		ClaimTicket: func(context.Context, wire.Job) (store.Delivery, Handle, error) { return store.Delivery{}, nil, nil },
		Dead: func(_ context.Context, j wire.Job, _ int, _ string) error {
			b.note("fail " + j.Key)
			return nil
		},
		Sweep: func(context.Context) {}, Claimed: func(context.Context, store.Delivery) {}, Workers: &Workers{},
		Health: &Health{},
	}
}

// jobs returns the keys of the jobs in a state, or of all that are not dead.
func (b *bench) jobs(state wire.JobState) []string {
	b.t.Helper()
	jobs, err := b.db.Jobs(b.t.Context(), wire.JobQuery{Tenant: acme, State: state})
	if err != nil {
		b.t.Fatal(err)
	}
	keys := make([]string, len(jobs))
	for i, j := range jobs {
		keys[i] = j.Key
		if j.Cause != "" {
			keys[i] += ": " + j.Cause
		}
	}
	return keys
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// handlers returns handlers that call fn.
func handlers(
	fn func(ctx context.Context, d store.Delivery) error, queues ...string,
) map[string]func(context.Context, store.Delivery) error {
	all := make(map[string]func(context.Context, store.Delivery) error)
	for _, q := range queues {
		all[q] = fn
	}
	return all
}

// An event goes to the handler of its queue, once if that succeeds. A worker takes no event of a queue for
// which it has no handler, and still executes runs.
func TestEventsGoToTheirHandlers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.put(event("e1", "mail"), event("e2", "hooks"), event("e3", "other"), ticket("r1", "a", ""))
		stop := b.work(slots.Options{Events: handlers(func(_ context.Context, d store.Delivery) error {
			b.note(d.Queue + " " + d.Key + " " + string(d.Payload))
			return nil
		}, "mail", "hooks")})
		pass(time.Minute)
		stop()
		got := b.noted()
		slices.Sort(got)
		same(t, "what was done", got, []string{`hooks e2 {"of":"e2"}`, `mail e1 {"of":"e1"}`, "run r1"})
		same(t, "the jobs that are left", b.jobs(""), []string{"e3"})
	})
}

// A failed event comes again, with a growing delay. After the last delivery it is dead, and no run fails.
func TestEventsComeAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.put(event("e1", "mail"), event("e2", "mail"))
		began := time.Now()
		var waits []time.Duration
		stop := b.work(slots.Options{MaxDeliveries: 4, Events: handlers(func(_ context.Context, d store.Delivery) error {
			b.note(d.Key + " " + strconv.Itoa(d.Attempt))
			switch {
			case d.Key == "e2" && d.Attempt == 2:
				return nil
			case d.Key == "e1":
				waits = append(waits, time.Since(began))
			}
			return &spool.Error{Code: spool.Unavailable, Message: "the mail server is away", Err: errors.New("secret")}
		}, "mail")})
		pass(5 * time.Minute)
		stop()
		got := b.noted()
		slices.Sort(got)
		same(t, "the deliveries", got, []string{"e1 1", "e1 2", "e1 3", "e1 4", "e2 1", "e2 2"})
		same(t, "the dead jobs", b.jobs(wire.JobDead), []string{"e1: the mail server is away"})
		same(t, "the other jobs", b.jobs(""), []string{})
		for i := 2; i < len(waits); i++ {
			if waits[i]-waits[i-1] <= waits[i-1]-waits[i-2] {
				t.Errorf("the deliveries come after %s", waits)
			}
		}
	})
}

// A handler that cannot succeed, or that panics, does not stop its worker.
func TestEventsThatCannotBeHandled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.put(event("bad", "mail"), event("panic", "mail"))
		stop := b.work(slots.Options{MaxDeliveries: 2, Events: handlers(func(_ context.Context, d store.Delivery) error {
			b.note(d.Key)
			if d.Key == "panic" {
				panic("no")
			}
			return spool.Errorf(spool.Invalid, "it has no address")
		}, "mail")})
		pass(time.Minute)
		stop()
		got := b.noted()
		slices.Sort(got)
		same(t, "the deliveries", got, []string{"bad", "panic", "panic"})
		dead := b.jobs(wire.JobDead)
		slices.Sort(dead)
		same(t, "the dead jobs", dead, []string{"bad: it has no address", "panic: Internal error"})
	})
}

// An event whose handler is interrupted by the end of its worker goes to the next worker, and no attempt
// counts.
func TestEventsOfAWorkerThatEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.put(event("e1", "mail"))
		stop := b.work(slots.Options{Events: handlers(func(ctx context.Context, _ store.Delivery) error {
			<-ctx.Done()
			return ctx.Err()
		}, "mail")})
		pass(2 * time.Minute) // longer than a lease
		stop()
		stop = b.work(slots.Options{Events: handlers(func(_ context.Context, d store.Delivery) error {
			b.note(d.Key + " " + strconv.Itoa(d.Attempt))
			return nil
		}, "mail")})
		pass(time.Second)
		stop()
		same(t, "the deliveries", b.noted(), []string{"e1 1"})
		same(t, "the jobs that are left", b.jobs(""), []string{})
	})
}

// A worker claims the jobs of its own agents and queues. A relay claims those of all agents.
func TestWorkersClaimTheirOwn(t *testing.T) {
	t.Parallel()
	all := []wire.Job{ticket("r1", "a", ""), ticket("r2", "b", ""), ticket("r3", "a", "fast"), ticket("r4", "a", "slow")}
	deliver := func(b *bench) func(context.Context, store.Delivery) (wire.JobResult, error) {
		return func(_ context.Context, d store.Delivery) (wire.JobResult, error) {
			b.note("deliver " + d.Key)
			return wire.JobResult{Accepted: true}, nil
		}
	}
	for name, test := range map[string]struct {
		options func(b *bench) slots.Options
		want    []string
	}{
		"by default": {func(*bench) slots.Options { return slots.Options{} }, []string{"run r1"}},
		"a queue":    {func(*bench) slots.Options { return slots.Options{Queues: []string{"fast"}} }, []string{"run r3"}},
		"and another": {
			func(*bench) slots.Options { return slots.Options{Queues: []string{"", "slow"}} },
			[]string{"run r1", "run r4"},
		},
		"a relay": {
			func(b *bench) slots.Options { return slots.Options{Deliver: deliver(b)} },
			[]string{"deliver r1", "deliver r2"},
		},
		"of one queue": {func(b *bench) slots.Options {
			return slots.Options{Deliver: deliver(b), Queues: []string{"slow"}}
		}, []string{"deliver r4"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.put(all...)
				stop := b.work(test.options(b))
				pass(time.Minute)
				stop()
				got := b.noted()
				slices.Sort(got)
				same(t, "what was done", got, test.want)
				if left := b.jobs(wire.JobReady); len(left) != len(all)-len(test.want) {
					t.Errorf("ready are %q", left)
				}
			})
		})
	}
}

// A worker that lacks an agent warns about its jobs once they have waited for a minute, and then once a
// minute. It does not warn about the jobs of queues that it does not claim from.
func TestUnclaimedJobsAreLogged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.put(ticket("r1", "gone", ""), ticket("r2", "gone", ""), ticket("r3", "lost", ""), ticket("r4", "far", "far"))
		stop := b.work(slots.Options{})
		count := func(agent string) int {
			synctest.Wait()
			b.mu.Lock()
			defer b.mu.Unlock()
			return strings.Count(b.log.String(), "no worker takes the jobs of an agent that this worker lacks\" agent="+agent)
		}
		for _, step := range []struct {
			after time.Duration
			times int
		}{{59 * time.Second, 0}, {41 * time.Second, 1}, {30 * time.Second, 1}, {60 * time.Second, 2}} {
			pass(step.after)
			if gone, lost, far := count("gone"), count("lost"), count("far"); gone != step.times ||
				lost != step.times || far != 0 {
				t.Errorf("after %s more: %d, %d and %d warnings, want %d, %[5]d and none", step.after, gone, lost, far, step.times)
			}
		}
		stop()
		same(t, "the jobs stay", b.jobs(wire.JobReady), []string{"r1", "r2", "r3", "r4"})
	})
}

// Run refuses queues that it cannot serve.
func TestBadQueues(t *testing.T) {
	t.Parallel()
	fine := func(context.Context, store.Delivery) error { return nil }
	ended, cancel := context.WithCancel(t.Context())
	cancel() // a worker of queues that are not refused ends at once
	for want, o := range map[string]slots.Options{
		"WorkOptions.Queues may only have letters":                 {Queues: []string{"a b"}},
		"WorkOptions.Events: the name of a queue is required":      {Events: handlers(fine, "")},
		"WorkOptions.Events has no handler for the queue \"mail\"": {Events: handlers(nil, "mail")},
		"WorkOptions.Queues and WorkOptions.Events both have the queue": {
			Queues: []string{"mail"}, Events: handlers(fine, "mail"),
		},
		"WorkOptions.Queues must not begin with \"spool.\"": {Queues: []string{"", "spool.ticks"}},
		"WorkOptions.Events: the name of a queue must not begin with \"spool.\"": {
			Events: handlers(fine, "mail", "spool.ticks"),
		},
		"WorkOptions.EventsOnly needs a handler": {EventsOnly: true},
		"WorkOptions.EventsOnly excludes WorkOptions.Queues": {
			EventsOnly: true, Events: handlers(fine, "mail"), Queues: []string{""},
		},
		"WorkOptions.EventsOnly excludes WorkOptions.Deliver": {
			EventsOnly: true, Events: handlers(fine, "mail"),
			Deliver: func(context.Context, store.Delivery) (wire.JobResult, error) { return wire.JobResult{}, nil },
		},
	} {
		err := Run(ended, newBench(t).config(), o)
		if spool.CodeOf(err) != spool.Invalid || !strings.HasPrefix(spool.MessageOf(err), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
