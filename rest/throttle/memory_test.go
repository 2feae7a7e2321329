package throttle_test

import (
	"fmt"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool/rest/throttle"
	"github.com/spoolhq/spool/rest/throttle/throttletest"
)

// pass lets fake time go by.
func pass(d time.Duration) {
	if d > 0 {
		<-time.After(d)
	}
}

func TestMemory(t *testing.T) {
	t.Parallel()

	for _, keys := range []int{8, 100_000} {
		t.Run(fmt.Sprint(keys, " keys"), func(t *testing.T) {
			t.Parallel()
			throttletest.TestCounter(t, func(t *testing.T, body func(*testing.T, throttle.Counter, func(time.Duration))) {
				t.Helper()
				synctest.Test(t, func(t *testing.T) {
					body(t, throttle.Memory(keys), pass)
				})
			})
		})
	}
}

func TestMemoryForgets(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		m := throttle.Memory(100_000)
		rate := throttle.MustParse("2/min")
		for i := range 10_000 {
			take(t, m, strconv.Itoa(i), rate)
		}
		if got := m.Len(); got != 10_000 {
			t.Fatalf("%d keys, want 10000", got)
		}
		pass(2 * time.Minute)
		for i := range 10_000 {
			take(t, m, fmt.Sprint("later", i), rate)
		}
		// Each new key makes up for two old ones, so only the new ones are left.
		if got := m.Len(); got > 10_500 {
			t.Errorf("%d keys after the window has passed, want about 10000", got)
		}
	})
}

// Requests that are taken at once count together or not at all.
func TestTakeMany(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		m := throttle.Memory(0)
		rate := throttle.MustParse("5/min")
		if got := m.TakeMany("a", rate, 3); !got.Allowed || got.Remaining != 2 {
			t.Errorf("3 of 5: %+v", got)
		}
		pass(10 * time.Second)
		if got := m.TakeMany("a", rate, 3); got.Allowed || got.RetryAfter != 50*time.Second {
			t.Errorf("3 more: %+v", got)
		}
		if got := m.TakeMany("a", rate, 2); !got.Allowed || got.Remaining != 0 {
			t.Errorf("a refused request was counted: %+v", got)
		}
		if got := m.TakeMany("a", rate, 9); got.Allowed || got.RetryAfter != time.Minute {
			t.Errorf("more than the limit: %+v", got)
		}
		pass(time.Minute)
		if got := m.TakeMany("a", rate, 9); !got.Allowed || got.Remaining != 0 {
			t.Errorf("more than the limit, alone: %+v", got)
		}
	})
}

func TestMemoryKeepsWhoIsBusy(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		m := throttle.Memory(100)
		rate := throttle.MustParse("1/hour")
		twice := throttle.MustParse("2/hour")
		take(t, m, "busy", twice)
		pass(time.Minute)
		take(t, m, "first", rate)
		pass(time.Minute)
		for i := range 98 {
			take(t, m, strconv.Itoa(i), rate)
		}
		pass(time.Minute)
		take(t, m, "busy", twice)
		if got := m.Len(); got != 100 {
			t.Fatalf("%d keys, want 100", got)
		}

		// There is room for no more: the one that ends first goes, and nobody else.
		take(t, m, "one more", rate)
		if got := m.Len(); got != 100 {
			t.Errorf("%d keys, want 100", got)
		}
		if take(t, m, "busy", twice).Allowed {
			t.Error("a key that came again was forgotten")
		}
		if take(t, m, "50", rate).Allowed {
			t.Error("a key that ends later was forgotten")
		}
		if !take(t, m, "first", rate).Allowed {
			t.Error("the key that ends first was kept")
		}
	})
}

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		const room = 2048
		m := throttle.Memory(room)
		rate := throttle.MustParse("5/day")
		for i := range 10 * room {
			take(t, m, strconv.Itoa(i), rate)
			if i%7 == 0 { // some come again, so that what the queue knows is old
				take(t, m, strconv.Itoa(i/2), rate)
			}
			pass(time.Millisecond)
		}
		if got := m.Len(); got > room {
			t.Errorf("%d keys, want at most %d", got, room)
		}
	})
}

func TestMemoryAllocatesNothingForKnownKeys(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts what others allocate too
	m := throttle.Memory(10)
	rate := throttle.MustParse("5/hour")
	for range 6 {
		take(t, m, "a", rate)
	}
	if got := testing.AllocsPerRun(100, func() { take(t, m, "a", rate) }); got != 0 {
		t.Errorf("%v allocations, want none", got)
	}
}

func take(t *testing.T, c throttle.Counter, key string, rate throttle.Rate) throttle.State {
	t.Helper()
	state, err := c.Take(t.Context(), key, rate)
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func BenchmarkMemory(b *testing.B) {
	m := throttle.Memory(0)
	rate := throttle.MustParse("1000/min")
	keys := make([]string, 1000)
	for i := range keys {
		keys[i] = fmt.Sprint("user:", i)
	}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			if _, err := m.Take(b.Context(), keys[i%len(keys)], rate); err != nil {
				b.Error(err)
			}
		}
	})
}
