// Package throttletest tests the contract of [throttle.Counter]. Each implementation runs
// [TestCounter].
package throttletest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest/throttle"
)

// Harness opens an empty counter for one case and calls body with it. The counter's clock
// moves only when body calls pass. A harness may run body in another goroutine if it waits for
// it.
type Harness func(t *testing.T, body func(t *testing.T, counter throttle.Counter, pass func(time.Duration)))

// TestCounter checks that a counter keeps the contract of [throttle.Counter].
func TestCounter(t *testing.T, open Harness) { //nolint:tparallel // the test that calls it says so
	t.Helper()

	for name, body := range map[string]func(*testing.T, *bench){
		"CountsDown":             countsDown,
		"RefusesAndWaits":        refusesAndWaits,
		"RefusedIsNotCounted":    refusedIsNotCounted,
		"Slides":                 slides,
		"ForgetsAfterTheWindow":  forgetsAfterTheWindow,
		"KeysAreApart":           keysAreApart,
		"KeysMayHoldAnything":    keysMayHoldAnything,
		"NeverMoreThanTheLimit":  neverMoreThanTheLimit,
		"HighLimitIsKept":        highLimitIsKept,
		"HighLimitComesBack":     highLimitComesBack,
		"AtOnceExactlyTheLimit":  atOnceExactlyTheLimit,
		"EndedContextIsNoHazard": endedContext,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open(t, func(t *testing.T, counter throttle.Counter, pass func(time.Duration)) {
				t.Helper()
				body(t, &bench{counter: counter, pass: pass})
			})
		})
	}
}

type bench struct {
	counter throttle.Counter
	pass    func(time.Duration)
}

func (b *bench) take(t *testing.T, key string, rate throttle.Rate) throttle.State {
	t.Helper()
	state, err := b.counter.Take(t.Context(), key, rate)
	if err != nil {
		t.Fatalf("take %s: %v", key, err)
	}
	return state
}

func (b *bench) want(t *testing.T, key string, rate throttle.Rate, want throttle.State) {
	t.Helper()
	if diff := cmp.Diff(want, b.take(t, key, rate)); diff != "" {
		t.Fatalf("state of %s at %s (-want +got):\n%s", key, rate, diff)
	}
}

// fill takes from the key "a" until a request is refused, and returns how many were allowed.
func (b *bench) fill(t *testing.T, rate throttle.Rate) int {
	t.Helper()
	for n := range rate.Limit + 1 {
		if !b.take(t, "a", rate).Allowed {
			return n
		}
	}
	t.Fatalf("%d requests were allowed at %s", rate.Limit+1, rate)
	return 0
}

var threePerTen = throttle.Rate{Limit: 3, Window: 10 * time.Second}

func countsDown(t *testing.T, b *bench) {
	t.Helper()
	b.want(t, "a", threePerTen, throttle.State{Allowed: true, Remaining: 2, Reset: 10 * time.Second})
	b.pass(4 * time.Second)
	b.want(t, "a", threePerTen, throttle.State{Allowed: true, Remaining: 1, Reset: 10 * time.Second})
	b.want(t, "a", threePerTen, throttle.State{Allowed: true, Remaining: 0, Reset: 10 * time.Second})
}

func refusesAndWaits(t *testing.T, b *bench) {
	t.Helper()
	b.take(t, "a", threePerTen)
	b.pass(4 * time.Second)
	b.take(t, "a", threePerTen)
	b.take(t, "a", threePerTen)
	b.pass(time.Second)
	b.want(t, "a", threePerTen, throttle.State{RetryAfter: 5 * time.Second, Reset: 9 * time.Second})
	b.pass(5*time.Second - time.Millisecond)
	b.want(t, "a", threePerTen, throttle.State{RetryAfter: time.Millisecond, Reset: 4*time.Second + time.Millisecond})
	b.pass(time.Millisecond)
	b.want(t, "a", threePerTen, throttle.State{Allowed: true, Remaining: 0, Reset: 10 * time.Second})
}

func refusedIsNotCounted(t *testing.T, b *bench) {
	t.Helper()
	b.fill(t, threePerTen)
	for range 9 {
		b.pass(time.Second)
		if state := b.take(t, "a", threePerTen); state.Allowed {
			t.Fatalf("allowed before the window has passed: %+v", state)
		}
	}
	b.pass(time.Second)
	if got := b.fill(t, threePerTen); got != 3 {
		t.Errorf("%d requests were allowed after the wait, want 3", got)
	}
}

// slides checks a caller whose requests are close to the boundary of a fixed window.
func slides(t *testing.T, b *bench) {
	t.Helper()
	b.pass(9 * time.Second)
	if got := b.fill(t, threePerTen); got != 3 {
		t.Fatalf("%d requests were allowed, want 3", got)
	}
	b.pass(2 * time.Second)
	if got := b.fill(t, threePerTen); got != 0 {
		t.Errorf("%d requests were allowed 2s later, want none", got)
	}
}

func forgetsAfterTheWindow(t *testing.T, b *bench) {
	t.Helper()
	b.fill(t, threePerTen)
	b.pass(time.Hour)
	b.want(t, "a", threePerTen, throttle.State{Allowed: true, Remaining: 2, Reset: 10 * time.Second})
}

func keysAreApart(t *testing.T, b *bench) {
	t.Helper()
	b.fill(t, threePerTen)
	b.want(t, "b", threePerTen, throttle.State{Allowed: true, Remaining: 2, Reset: 10 * time.Second})
}

func keysMayHoldAnything(t *testing.T, b *bench) {
	t.Helper()
	for _, key := range []string{
		"", " ", "{a}", "a*", "a\r\nb", "a\x00", "ü", "a:b", "a", "{a}b", fmt.Sprintf("%01000d", 1),
	} {
		b.want(t, key, threePerTen, throttle.State{Allowed: true, Remaining: 2, Reset: 10 * time.Second})
	}
}

// neverMoreThanTheLimit checks every period of one window in a long and uneven history.
func neverMoreThanTheLimit(t *testing.T, b *bench) {
	t.Helper()
	for _, limit := range []int{1, 5, 64, 65, 200} {
		rate := throttle.Rate{Limit: limit, Window: 10 * time.Second}
		b.pass(time.Minute)
		checkStretches(t, rate, b.history(t, rate))
	}
}

func (b *bench) history(t *testing.T, rate throttle.Rate) []time.Duration {
	t.Helper()
	var (
		now     time.Duration
		allowed []time.Duration
	)
	key := rate.String()
	for i := range 100 + 8*rate.Limit { // four times as many as are allowed
		step := time.Duration((i*i*7919)%211) * rate.Window / time.Duration(rate.Limit*400)
		step = step.Truncate(time.Microsecond)
		b.pass(step)
		now += step
		if b.take(t, key, rate).Allowed {
			allowed = append(allowed, now)
		}
	}
	return allowed
}

func checkStretches(t *testing.T, rate throttle.Rate, allowed []time.Duration) {
	t.Helper()
	if len(allowed) < rate.Limit {
		t.Errorf("%s: only %d requests were allowed in all", rate, len(allowed))
	}
	for i := rate.Limit; i < len(allowed); i++ {
		if stretch := allowed[i] - allowed[i-rate.Limit]; stretch < rate.Window {
			t.Fatalf("%s: %d requests were allowed within %s", rate, rate.Limit+1, stretch)
		}
	}
}

var thousandPerMinute = throttle.Rate{Limit: 1000, Window: time.Minute}

func highLimitIsKept(t *testing.T, b *bench) {
	t.Helper()
	if got := b.fill(t, thousandPerMinute); got != 1000 {
		t.Errorf("%d requests were allowed at once, want 1000", got)
	}
	b.want(t, "a", thousandPerMinute, throttle.State{RetryAfter: time.Minute, Reset: time.Minute})
}

// highLimitComesBack checks requests that share entries: they expire together, at most 1/64 of
// the window late and never early.
func highLimitComesBack(t *testing.T, b *bench) {
	t.Helper()
	for range 1000 {
		if !b.take(t, "a", thousandPerMinute).Allowed {
			t.Fatal("refused below the limit")
		}
		b.pass(10 * time.Millisecond)
	}
	state := b.take(t, "a", thousandPerMinute)
	late := state.RetryAfter - 50*time.Second
	if state.Allowed || late < 0 || late > time.Minute/64 {
		t.Fatalf("after 10s of a minute the state is %+v", state)
	}
	b.pass(state.RetryAfter)
	if got := b.fill(t, thousandPerMinute); got < 1 || got > 1000/8 {
		t.Errorf("%d requests came back at once, want about a 64th of a minute's", got)
	}
}

func atOnceExactlyTheLimit(t *testing.T, b *bench) {
	t.Helper()
	const callers, each = 8, 50
	rate := throttle.Rate{Limit: 100, Window: time.Hour}
	var (
		allowed atomic.Int64
		group   sync.WaitGroup
	)
	for range callers {
		group.Go(func() {
			for range each {
				state, err := b.counter.Take(t.Context(), "a", rate)
				if err != nil {
					t.Error(err)
					return
				}
				if state.Allowed {
					allowed.Add(1)
				}
			}
		})
	}
	group.Wait()
	if got := allowed.Load(); got != 100 {
		t.Errorf("%d of %d requests were allowed, want 100", got, callers*each)
	}
}

func endedContext(t *testing.T, b *bench) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range threePerTen.Limit + 1 {
		// A counter may count the request or return an error.
		_, _ = b.counter.Take(ctx, "a", threePerTen)
	}
	b.pass(10 * time.Second)
	b.want(t, "a", threePerTen, throttle.State{Allowed: true, Remaining: 2, Reset: 10 * time.Second})
}
