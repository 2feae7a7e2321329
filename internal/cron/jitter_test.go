package cron_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/spoolhq/spool/internal/cron"
)

func TestJitter(t *testing.T) {
	t.Parallel()

	due := at(t, "2026-12-01T02:00:00Z")
	// Another version of the program must find the same delay: a tick may be made by one node and judged by another.
	for _, same := range []time.Time{due, due.In(time.FixedZone("", 3600))} {
		if got, want := cron.Jitter("nightly", same, time.Hour), 1_739_039*time.Millisecond; got != want {
			t.Errorf("the delay is %s, want %s", got, want)
		}
	}
	for _, bound := range []time.Duration{-time.Hour, 0, time.Millisecond - 1, time.Millisecond} {
		if got := cron.Jitter("nightly", due, bound); got != 0 {
			t.Errorf("below %s, the delay is %s", bound, got)
		}
	}
	// A thousand schedules spread over each tenth of the bound.
	const bound = 10 * time.Second
	var tenths [10]int
	for i := range 1000 {
		got := cron.Jitter(strconv.Itoa(i), due, bound)
		if got < 0 || got >= bound {
			t.Fatalf("the delay %s is not below %s", got, bound)
		}
		tenths[got/time.Second]++
	}
	for i, n := range tenths {
		if n < 60 {
			t.Errorf("%d of 1000 schedules are in tenth %d", n, i)
		}
	}
}
