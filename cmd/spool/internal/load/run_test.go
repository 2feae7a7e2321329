package load

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/wire"
)

// A server that executes 10 runs at a time, each for a second, ends 10 runs per second, and the ladder ends
// at the first rate above that.
func TestLadderEndsAtSaturation(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		f := newFake(10, time.Second)
		c := f.config(2, 9, 15, 100)
		c.Stops, c.Resumes, c.Watchers = 0.1, 0.5, 2
		r := measured(t, t.Context(), c)

		if len(r.Rungs) != 3 || r.HeldPerSecond != 9 ||
			!strings.Contains(r.Saturation, "of 15 runs per second ended") || r.Cut != "" {
			t.Fatalf("%d rungs, held %v, saturation %q, cut %q", len(r.Rungs), r.HeldPerSecond, r.Saturation, r.Cut)
		}
		held := r.Rungs[1]
		if held.Arrivals != 90 || held.Accepted != 90 || held.Ended != 90 || held.Unfinished != 0 || held.Stopped != 9 ||
			held.StopToEnd.Count != 9 {
			t.Errorf("arrivals %d, accepted %d, ended %d, unfinished %d, stopped %d", held.Arrivals, held.Accepted, held.Ended,
				held.Unfinished, held.Stopped)
		}
		if held.WholeRun.Count != 81 || held.WholeRun.P50 < 999 || held.WholeRun.P50 > 1001 || held.FirstToken.Count != 90 ||
			held.FirstToken.P99 > 1 {
			t.Errorf("whole run %+v, first token %+v", held.WholeRun, held.FirstToken)
		}
		if w := held.Watchers; w.Gaps+w.Repeats+w.TextsWrong != 0 || w.TextsChecked != 8 || w.Resumed != 90 || w.Most < 16 ||
			w.Frames < 1500 {
			t.Errorf("watchers %+v", w)
		}
		// Of 15 a second, 10 can end, and a tenth of them end at once.
		if over := r.Rungs[2]; over.AchievedPerSecond < 10 || over.AchievedPerSecond > 12 || over.FirstToken.P99 < 2000 {
			t.Errorf("achieved %v, first token p99 %v", over.AchievedPerSecond, over.FirstToken.P99)
		}
		if r.Threads.Made != 260 || r.Threads.Deleted != 260 || r.Threads.Left != 0 || len(f.runs) != 0 {
			t.Errorf("threads %+v, the server has %d", r.Threads, len(f.runs))
		}
	})
}

// A server that stalls for two seconds makes all runs wait that were due meanwhile, each from the time at
// which it was due.
func TestLatencyCountsFromTheDueTime(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		f := newFake(1000, 10*time.Millisecond)
		f.answers = func(at time.Duration) time.Duration { return max(0, 2*time.Second-at) }
		r := measured(t, t.Context(), f.config(10))

		start := r.Rungs[0].Start
		// 20 of 100 runs were due in the stall: they waited 2.0, 1.9, ... 0.1 s.
		if start.Count != 100 || start.Max < 1990 || start.P90 < 900 || start.P90 > 1100 || start.P50 > 1 {
			t.Errorf("start %+v", start)
		}
	})
}

// An arrival that has no place in progress is not sent, and the others are not delayed.
func TestInFlightIsBounded(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		f := newFake(1000, 950*time.Millisecond)
		c := f.config(10)
		c.InFlight = 5
		r := measured(t, t.Context(), c)

		g := r.Rungs[0]
		if g.Arrivals != 100 || g.Accepted != 50 || g.Errors[notSent] != 50 || g.Start.Max > 1 {
			t.Errorf("arrivals %d, accepted %d, errors %v, start %+v", g.Arrivals, g.Accepted, g.Errors, g.Start)
		}
		if !strings.Contains(r.hint(), "--in-flight") {
			t.Errorf("the hint is %q", r.hint())
		}
	})
}

// Missing, repeated and lost frames are found, whatever the server says.
func TestFaultsAreFound(t *testing.T) {
	t.Parallel()

	without := func(unwanted func(i int, f wire.Frame) bool) func([]wire.Frame) []wire.Frame {
		return func(all []wire.Frame) (kept []wire.Frame) {
			for i, f := range all {
				if !unwanted(i, f) {
					kept = append(kept, f)
				}
			}
			return kept
		}
	}
	twice := func(n int) func([]wire.Frame) []wire.Frame {
		return func(all []wire.Frame) []wire.Frame {
			if len(all) <= n {
				return all
			}
			return append(append(append([]wire.Frame(nil), all[:n+1]...), all[n]), all[n+1:]...)
		}
	}
	for name, each := range map[string]struct {
		damage               func([]wire.Frame) []wire.Frame
		gaps, repeats, wrong int
	}{
		"nothing":              {nil, 0, 0, 0},
		"a missing entry":      {without(func(i int, _ wire.Frame) bool { return i == 0 }), 1, 0, 0},
		"a missing first item": {without(func(i int, _ wire.Frame) bool { return i == 1 }), 1, 0, 0},
		"a missing last item": {
			without(func(_ int, f wire.Frame) bool { return f.Item != nil && f.Item.Type.End() }), 1, 0, 0,
		},
		"a missing piece":        {without(func(i int, _ wire.Frame) bool { return i == 4 }), 0, 0, 1},
		"an entry comes twice":   {twice(0), 0, 1, 0},
		"an item comes twice":    {twice(2), 0, 1, 0},
		"the last item is twice": {twice(10), 0, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			synctest.Test(t, func(t *testing.T) {
				f := newFake(1000, 100*time.Millisecond)
				f.damage = each.damage
				r := measured(t, t.Context(), f.config(1))

				w := r.Rungs[0].Watchers
				// 10 runs, of which one is compared.
				if w.Gaps != 10*each.gaps || w.Repeats != 10*each.repeats || w.TextsChecked != 1 || w.TextsWrong != each.wrong {
					t.Errorf("watchers %+v", w)
				}
				if (r.Faults() > 0) != (each.damage != nil) {
					t.Errorf("%d faults", r.Faults())
				}
				var b strings.Builder
				if err := r.WriteText(&b); err != nil || strings.Contains(b.String(), "Please report") != (each.damage != nil) {
					t.Errorf("%v: %s", err, &b)
				}
			})
		})
	}
}

// Errors are counted by what failed and its code, and end the ladder.
func TestErrorsAreCounted(t *testing.T) {
	t.Parallel()

	answered := func(status int, code spool.Code) error {
		return &spool.Error{Code: code, Message: "no", Err: &client.ResponseError{Status: status}}
	}
	synctest.Test(t, func(t *testing.T) {
		f := newFake(1000, 10*time.Millisecond)
		f.refuses = func(n int) error {
			switch n % 10 {
			case 0:
				return answered(503, spool.Unavailable)
			case 1, 2:
				return answered(429, spool.Limit)
			}
			return nil
		}
		r := measured(t, t.Context(), f.config(10, 20))

		g := r.Rungs[0]
		if g.Errors["start: 429 limit"] != 20 || g.Errors["start: 503 unavailable"] != 10 || len(g.Errors) != 2 ||
			g.Accepted != 70 || g.Ended != 70 {
			t.Errorf("accepted %d, ended %d, errors %v", g.Accepted, g.Ended, g.Errors)
		}
		if len(r.Rungs) != 1 || !strings.Contains(r.Saturation, "30 of 100 runs failed") ||
			!strings.Contains(r.hint(), "limits.starts_per_minute") {
			t.Errorf("%d rungs, saturation %q, hint %q", len(r.Rungs), r.Saturation, r.hint())
		}
		if r.Threads.Made != 70 || r.Threads.Deleted != 70 {
			t.Errorf("threads %+v", r.Threads)
		}
	})
}

// A server that has just been started has ten seconds to be ready.
func TestReady(t *testing.T) {
	t.Parallel()

	for after, want := range map[time.Duration]spool.Code{3 * time.Second: "", 11 * time.Second: spool.Unavailable} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake(1000, 10*time.Millisecond)
			f.readyAfter = after
			_, err := Run(t.Context(), f.config(1))
			if spool.CodeOf(err) != want || (len(f.runs)+f.deleted > 0) != (want == "") {
				t.Errorf("ready after %s: %v, and %d runs", after, err, len(f.runs)+f.deleted)
			}
		})
	}
}

// A server whose runs all fail is not measured.
func TestWarmUpFails(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		f := newFake(1000, 10*time.Millisecond)
		f.fails = true
		c := f.config(5)
		c.WarmUp = time.Second
		r, err := Run(t.Context(), c)
		if err == nil || err.Error() != "no run of the warm-up succeeded: run: failed, the model is away" {
			t.Errorf("%v", err)
		}
		if len(r.Rungs) != 0 || len(f.runs) != 0 || f.deleted != 5 {
			t.Errorf("%d rungs, %d threads are left, %d were deleted", len(r.Rungs), len(f.runs), f.deleted)
		}
	})
}

// An interrupt ends the arrivals, stops the runs in progress, and deletes the threads. The report has what was
// measured.
func TestInterrupt(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		f := newFake(1000, 3*time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		c := f.config(10, 20)
		c.WarmUp = time.Second
		time.AfterFunc(1*time.Second+4*time.Second+14050*time.Millisecond, cancel) // in the second rung
		began := time.Now()
		r := measured(t, ctx, c)

		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("it took %s", took)
		}
		if !r.Interrupted() || len(r.Rungs) != 2 || r.HeldPerSecond != 10 || r.Saturation != "" {
			t.Fatalf("cut %q, %d rungs, held %v, saturation %q", r.Cut, len(r.Rungs), r.HeldPerSecond, r.Saturation)
		}
		g := r.Rungs[1]
		if !g.Cut || g.Unfinished == 0 || g.Ended+g.Unfinished != g.Arrivals || f.stops < g.Unfinished {
			t.Errorf("cut %v, arrivals %d, ended %d, unfinished %d, stops %d", g.Cut, g.Arrivals, g.Ended, g.Unfinished, f.stops)
		}
		if len(f.runs) != 0 || r.Threads.Left != 0 || r.Threads.Deleted != r.Threads.Made {
			t.Errorf("threads %+v, the server has %d", r.Threads, len(f.runs))
		}
	})
}

// The load ends when its time is over, and threads stay if they are to be kept.
func TestTimeIsOver(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		f := newFake(1000, 10*time.Millisecond)
		c := f.config(1, 2, 3)
		c.MaxDuration, c.Keep = 15*time.Second, true
		began := time.Now()
		r := measured(t, t.Context(), c)

		if took := time.Since(began); took > 16*time.Second {
			t.Errorf("it took %s", took)
		}
		if r.Cut != cutByTime || len(r.Rungs) != 2 || r.HeldPerSecond != 1 || r.Threads.Left != len(f.runs) ||
			len(f.runs) < 15 {
			t.Errorf("cut %q, %d rungs, held %v, threads %+v of %d", r.Cut, len(r.Rungs), r.HeldPerSecond, r.Threads,
				len(f.runs))
		}
	})
}

// Runs that do not end in time are stopped and counted.
func TestUnfinished(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		f := newFake(1000, time.Hour)
		c := f.config(1)
		r := measured(t, t.Context(), c)

		g := r.Rungs[0]
		if g.Unfinished != 10 || g.Ended != 0 || g.Saturation == "" || f.stops < 10 || len(f.runs) != 0 {
			t.Errorf("unfinished %d, ended %d, saturation %q, stops %d, %d threads are left", g.Unfinished, g.Ended,
				g.Saturation, f.stops, len(f.runs))
		}
	})
}

// A configuration that cannot work is refused before anything is sent.
func TestConfigIsChecked(t *testing.T) {
	t.Parallel()

	for name, change := range map[string]func(c *Config){
		"no ladder":        func(c *Config) { c.Ladder = nil },
		"no watcher":       func(c *Config) { c.Watchers = 0 },
		"too many clients": func(c *Config) { c.Watchers = 1000 },
		"too many runs":    func(c *Config) { c.Ladder = []float64{1e6} },
		"a share above 1":  func(c *Config) { c.Stops = 1.1 },
		"no prompt":        func(c *Config) { c.Prompt = "" },
		"no time":          func(c *Config) { c.MaxDuration = 0 },
	} {
		f := newFake(1, time.Second)
		c := f.config(1)
		change(&c)
		if _, err := Run(t.Context(), c); err == nil || len(f.runs) > 0 {
			t.Errorf("%s: %v, and %d runs", name, err, len(f.runs))
		}
	}
}
