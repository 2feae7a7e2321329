package quota_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine/internal/quota"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// broken is a store that fails while it is down.
type broken struct {
	store.Store

	down  atomic.Bool
	after atomic.Bool // it fails after the commit
}

var errDown = spool.Errorf(spool.Unavailable, "down")

func (b *broken) Rows(ctx context.Context, q store.RowQuery) ([]store.Row, error) {
	if b.down.Load() {
		return nil, errDown
	}
	return b.Store.Rows(ctx, q)
}

func (b *broken) Update(ctx context.Context, k spool.ThreadKey, fence int64, fn func(store.Tx) error) error {
	if b.down.Load() {
		return errDown
	}
	err := b.Store.Update(ctx, k, fence, fn)
	if err == nil && b.after.Load() {
		return errDown
	}
	return err
}

// acquire returns the permit of a call that has begun.
func acquire(t *testing.T, l *quota.Limiter, c quota.Call) (*quota.Permit, context.Context) {
	t.Helper()
	c.Model = "m"
	permit, err := l.Acquire(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, ok := permit.Begin(t.Context())
	if !ok {
		t.Fatal("the permit has expired at once")
	}
	return permit, ctx
}

// waited returns how long a call waits.
func waited(t *testing.T, l *quota.Limiter, c quota.Call) (*quota.Permit, time.Duration) {
	t.Helper()
	began := time.Now()
	permit, _ := acquire(t, l, c)
	return permit, time.Since(began)
}

// The slots of an engine that died are free once its lease has lapsed, and not before. Its own calls are
// cancelled by then.
func TestSlotsOfADeadEngine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memory.New(nil).Store
		cut := &broken{Store: store}
		dead, other := limiter(cut, quota.Limit{Concurrent: 2}), limiter(store, quota.Limit{Concurrent: 2})
		_, first := acquire(t, dead, quota.Call{})
		_, second := acquire(t, dead, quota.Call{})
		cut.down.Store(true)
		var cancelled atomic.Bool
		context.AfterFunc(first, func() { cancelled.Store(second.Err() != nil) })
		permit, wait := waited(t, other, quota.Call{})
		if wait < 29*time.Second || wait > 32*time.Second {
			t.Errorf("a slot was free after %s", wait)
		}
		if !cancelled.Load() || spool.CodeOf(context.Cause(first)) != spool.Unavailable {
			t.Errorf("the calls of the dead engine were not cancelled before: %v", context.Cause(first))
		}
		permit.Done(quota.Usage{})
		other.Close()
		cut.down.Store(false)
		<-time.After(time.Minute)
		dead.Close()
	})
}

// An engine renews its lease during a long call, and no other gets the slot.
func TestLongCallKeepsItsSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, p := memory.New(nil).Store, &provider{}
		l := quota.Limit{Concurrent: 1}
		a, b := limiter(store, l), limiter(store, l)
		var all sync.WaitGroup
		var mu sync.Mutex
		var order []int
		for i, l := range []*quota.Limiter{a, b, a, b} {
			all.Go(func() {
				<-time.After(time.Duration(i) * time.Second)
				_ = call(t.Context(), l, quota.Call{}, p, 5*time.Minute, quota.Usage{})
				mu.Lock()
				defer mu.Unlock()
				order = append(order, i)
			})
		}
		all.Wait()
		if !slices.IsSorted(order) {
			t.Errorf("served in the order %v", order)
		}
		if p.most != 1 || len(p.starts) != 4 {
			t.Errorf("%d calls, %d at the same time", len(p.starts), p.most)
		}
		if took := p.starts[3].Sub(p.starts[0]); took > 15*time.Minute+5*time.Second {
			t.Errorf("the slot was free for long: the fourth call began after %s", took)
		}
		a.Close()
		b.Close()
	})
}

// A call reserves its estimate, and what the provider reports takes its place.
func TestTokensAreSettled(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		used   *int64
		err    error
		at     time.Duration // when the second call may begin
		tokens int64
	}{
		"LessThanReserved": {used: new(int64(100)), at: 6 * time.Second, tokens: 900},
		"AsReserved":       {used: new(int64(1000)), at: time.Minute, tokens: 500},
		"NotReported":      {at: time.Minute, tokens: 500},
		"Refused":          {err: &spool.ModelError{Status: 400}, at: 6 * time.Second, tokens: 1000},
		"MoreThanTheLimit": {used: new(int64(10)), at: time.Minute, tokens: 5000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := memory.New(nil).Store
				a, b := limiter(store, quota.Limit{Tokens: 1000}), limiter(store, quota.Limit{Tokens: 1000})
				began := time.Now()
				permit, _ := acquire(t, a, quota.Call{Tokens: 1000})
				<-time.After(3 * time.Second)
				permit.Done(quota.Usage{Tokens: test.used, Err: test.err})
				permit, _ = acquire(t, b, quota.Call{Tokens: test.tokens})
				if at := time.Since(began); at > test.at+3*time.Second || test.at == time.Minute && at < time.Minute {
					t.Errorf("the second call began after %s", at)
				}
				permit.Done(quota.Usage{})
				a.Close()
				b.Close()
			})
		})
	}
}

// Tokens beyond the estimate count from when they were reported.
func TestMoreTokensThanReserved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := limiter(memory.New(nil).Store, quota.Limit{Tokens: 1000})
		permit, _ := acquire(t, l, quota.Call{Tokens: 10})
		<-time.After(30 * time.Second)
		permit.Done(quota.Usage{Tokens: new(int64(1000))})
		<-time.After(5 * time.Second)
		permit, wait := waited(t, l, quota.Call{Tokens: 500})
		if wait < 55*time.Second || wait > 65*time.Second {
			t.Errorf("the next call waited for %s", wait)
		}
		permit.Done(quota.Usage{})
		l.Close()
	})
}

// A refusal closes the group for the workers of all engines, for as long as the provider says.
func TestRefusalClosesTheGroup(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		refused *spool.ModelError
		least   time.Duration
		most    time.Duration
	}{
		"RetryAfter":   {&spool.ModelError{Status: 429, After: 20 * time.Second}, 20 * time.Second, 22 * time.Second},
		"NoTime":       {&spool.ModelError{Status: 429}, time.Second, 3 * time.Second},
		"UsedUpQuota":  {&spool.ModelError{Status: 429, NoRetry: true, After: time.Hour}, 0, 2 * time.Second},
		"AnotherError": {&spool.ModelError{Status: 503, After: time.Minute}, 0, 2 * time.Second},
		"TooLong":      {&spool.ModelError{Status: 429, After: 24 * time.Hour}, 15 * time.Minute, 16 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for rate, limit := range map[string]quota.Limit{"rpm": {Requests: 60}, "concurrent": {Concurrent: 9}} {
				synctest.Test(t, func(t *testing.T) {
					store := memory.New(nil).Store
					a, b := limiter(store, limit), limiter(store, limit)
					permit, _ := acquire(t, a, quota.Call{})
					began := time.Now()
					permit.Done(quota.Usage{Err: test.refused})
					<-time.After(500 * time.Millisecond)
					for _, l := range []*quota.Limiter{b, a} {
						permit, _ = acquire(t, l, quota.Call{})
						if at := time.Since(began); at < test.least || at > test.most {
							t.Errorf("%s: the next call began after %s", rate, at)
						}
						permit.Done(quota.Usage{})
					}
					a.Close()
					b.Close()
				})
			}
		})
	}
}

// A provider that refuses again and again, and does not say for how long, is asked less and less often.
func TestRefusalsWithoutATimeBackOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := limiter(memory.New(nil).Store, quota.Limit{Requests: 600})
		last := time.Duration(0)
		for range 8 {
			permit, wait := waited(t, l, quota.Call{})
			if wait < last && last < 25*time.Second {
				t.Errorf("a wait of %s after one of %s", wait, last)
			}
			last = wait
			permit.Done(quota.Usage{Err: &spool.ModelError{Status: 429}})
		}
		if last < 25*time.Second || last > 32*time.Second {
			t.Errorf("the last wait was %s", last)
		}
		permit, _ := acquire(t, l, quota.Call{})
		permit.Done(quota.Usage{})
		<-time.After(3 * time.Second)
		permit, _ = acquire(t, l, quota.Call{})
		permit.Done(quota.Usage{Err: &spool.ModelError{Status: 429}})
		permit, wait := waited(t, l, quota.Call{})
		if wait > 3*time.Second {
			t.Errorf("after an answer, a refusal still closes the group for %s", wait)
		}
		permit.Done(quota.Usage{})
		l.Close()
	})
}

// While the store fails, calls wait: a call never goes without its permit.
func TestStoreFailureDoesNotBypassTheLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &broken{Store: memory.New(nil).Store}
		store.down.Store(true)
		l := limiter(store, quota.Limit{Requests: 60})
		time.AfterFunc(time.Minute, func() { store.down.Store(false) })
		permit, wait := waited(t, l, quota.Call{})
		if wait < time.Minute || wait > time.Minute+6*time.Second {
			t.Errorf("the call waited for %s", wait)
		}
		permit.Done(quota.Usage{})
		l.Close()
	})
}

// Writes with an unknown outcome neither lose a start nor count it twice.
func TestUnknownOutcomesKeepTheRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, p := &broken{Store: memory.New(nil).Store}, &provider{}
		ctx, cancel := context.WithTimeout(t.Context(), 11*time.Minute)
		defer cancel()
		began := time.Now()
		var all sync.WaitGroup
		all.Go(func() {
			for ctx.Err() == nil { // half of all seconds
				<-time.After(time.Second)
				store.after.Store(!store.after.Load())
			}
			store.after.Store(false)
		})
		for range 3 {
			l := limiter(store, quota.Limit{Requests: 30})
			defer l.Close()
			for range 10 {
				all.Go(func() {
					callUntil(ctx, l, p, 2*time.Second)
				})
			}
		}
		all.Wait()
		if p.worst > 30 {
			t.Errorf("a minute has %d requests", p.worst)
		}
		if used := p.between(began.Add(time.Minute), began.Add(11*time.Minute)); used < 240 {
			t.Errorf("only %d of 300 starts are used", used)
		}
	})
}

// A wait ends with its context, and leaves nothing behind.
func TestWaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := limiter(memory.New(nil).Store, quota.Limit{Requests: 1})
		permit, _ := acquire(t, l, quota.Call{})
		permit.Done(quota.Usage{})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		began := time.Now()
		_, err := l.Acquire(ctx, quota.Call{Model: "m"})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 5*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		permit, wait := waited(t, l, quota.Call{})
		if wait > 58*time.Second {
			t.Errorf("the next call waited for %s more: the one that left has used a start", wait)
		}
		permit.Done(quota.Usage{})
		l.Close()
	})
}

// Calls of all engines are served in the order in which they began to wait.
func TestOrderOfAllEngines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memory.New(nil).Store
		var limiters []*quota.Limiter
		for range 4 {
			limiters = append(limiters, limiter(store, quota.Limit{Requests: 1}))
		}
		var mu sync.Mutex
		var order []int
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				<-time.After(time.Duration(i) * 3 * time.Second)
				permit, _ := acquire(t, limiters[i*3%4], quota.Call{})
				mu.Lock()
				order = append(order, i)
				mu.Unlock()
				permit.Done(quota.Usage{})
			})
		}
		all.Wait()
		for i, got := range order {
			if i != got {
				t.Errorf("served in the order %v", order)
				break
			}
		}
		for _, l := range limiters {
			l.Close()
		}
	})
}

// A run that waits has a sentence that says for what, and how many are before it. It tells nothing to others.
func TestExplain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := memory.New(nil).Store
		a, b := limiter(db, quota.Limit{Requests: 1}), limiter(db, quota.Limit{Requests: 1})
		permit, _ := acquire(t, a, quota.Call{})
		permit.Done(quota.Usage{})
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		var told atomic.Int64
		for i, l := range []*quota.Limiter{a, b, a, b} {
			all.Go(func() {
				_, _ = l.Acquire(ctx, quota.Call{
					Model: "m", Tenant: "t", Run: spool.RunID("r" + string(rune('0'+i))), Root: "root",
					OnWait: func(why quota.Reason) {
						if why == quota.Requests {
							told.Add(1)
						}
					},
				})
			})
			<-time.After(100 * time.Millisecond)
		}
		<-time.After(4 * time.Second)
		for run, want := range map[spool.RunID]string{
			"r0":   "waits for the provider's limit of 1 request a minute; it is next",
			"r1":   "waits for the provider's limit of 1 request a minute; 1 run is before it",
			"r3":   "waits for the provider's limit of 1 request a minute; 3 runs are before it",
			"root": "waits for the provider's limit of 1 request a minute; it is next",
			"r9":   "",
		} {
			got, err := quota.Explain(t.Context(), db, wire.Run{Tenant: "t", ID: run})
			if err != nil || got != want {
				t.Errorf("%s: %q, %v", run, got, err)
			}
			if got, err := quota.Explain(t.Context(), db, wire.Run{Tenant: "u", ID: run}); got != "" || err != nil {
				t.Errorf("another tenant's %s: %q, %v", run, got, err)
			}
		}
		if told.Load() != 4 {
			t.Errorf("%d calls were told that they wait", told.Load())
		}
		cancel()
		all.Wait()
		<-time.After(20 * time.Second)
		if got, err := quota.Explain(t.Context(), db, wire.Run{Tenant: "t", ID: "r1"}); got != "" || err != nil {
			t.Errorf("after the wait: %q, %v", got, err)
		}
		rows, err := db.Rows(t.Context(), store.RowQuery{Kind: "provider_limit"})
		if err != nil || len(rows) != 1 || strings.Contains(string(rows[0].Value), "since") {
			t.Errorf("the row still has waiting calls: %v, %v", rows, err)
		}
		a.Close()
		b.Close()
	})
}
