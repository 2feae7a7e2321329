package load

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
)

// A server that dies in a rung is not one that is saturated.
func TestServerDies(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		f := newFake(1000, 10*time.Millisecond)
		f.dies = 15 * time.Second // in the second rung
		c := f.config(10, 20, 30)
		r := measured(t, t.Context(), c)

		if len(r.Rungs) != 2 || !r.Rungs[1].Cut || r.HeldPerSecond != 10 || r.Saturation != "" || !r.Lost {
			t.Errorf("%d rungs, held %v, saturation %q, lost %v", len(r.Rungs), r.HeldPerSecond, r.Saturation, r.Lost)
		}
		r.Command.Server = "http://server"
		var b strings.Builder
		if err := r.WriteText(&b); err != nil {
			t.Error(err)
		}
		for _, want := range []string{
			"The load ended early: the server does not answer any more: the server cannot be reached.",
			fmt.Sprintf("%d are left, with the label spool-load=s. To delete them: spool load --remove s http://server\n",
				r.Threads.Left),
		} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("the report lacks %q:\n%s", want, &b)
			}
		}
		if r.Threads.Left < 150 || r.Threads.Deleted != 0 || len(f.runs) != r.Threads.Left {
			t.Errorf("threads %+v, and the server has %d", r.Threads, len(f.runs))
		}

		f.dies = 0
		if threads, err := Remove(t.Context(), f, "s", nil); err != nil || threads.Left != 0 ||
			threads.Deleted != r.Threads.Left || len(f.runs) != 0 {
			t.Errorf("%+v, %v, and the server has %d", threads, err, len(f.runs))
		}
	})
}

// A server that dies in the warm-up was not measured, and the command does not wait for it.
func TestServerDiesEarly(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		f := newFake(1000, 10*time.Millisecond)
		f.dies = time.Millisecond
		f.answers = func(time.Duration) time.Duration { return f.dies }
		c := f.config(10)
		c.WarmUp, c.Drain = time.Second, time.Second
		r, err := Run(t.Context(), c)
		if took := time.Since(f.began); err == nil || !r.Lost ||
			!strings.Contains(err.Error(), "no run of the warm-up succeeded") || took > 15*time.Second {
			t.Errorf("%v, %+v, after %s", err, r.Threads, took)
		}
	})
}

// A server that restarts has failed for a while, and is measured.
func TestServerRestarts(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		f := newFake(1000, 10*time.Millisecond)
		f.dies, f.back = 15*time.Second, 25*time.Second
		r := measured(t, t.Context(), f.config(10, 20, 30))
		if r.Lost || r.Cut != "" || len(r.Rungs) != 2 || !strings.Contains(r.Saturation, "failed") || r.Threads.Left != 0 ||
			len(f.runs) != 0 {
			t.Errorf("lost %v, %d rungs, saturation %q, threads %+v", r.Lost, len(r.Rungs), r.Saturation, r.Threads)
		}
	})
}

// The deletion goes on until all threads are deleted, and says how far it is.
func TestCleanTakesLong(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		f := newFake(1000, 10*time.Millisecond)
		f.deletes = 10 * time.Second
		var last Status
		c := f.config(10)
		c.Progress = func(s Status) {
			if s.Phase == PhaseClean && s.Ended < last.Ended {
				t.Errorf("%d are deleted after %d", s.Ended, last.Ended)
			}
			last = s
		}
		r := measured(t, t.Context(), c)
		if took := time.Since(f.began); r.Threads.Deleted != 100 || r.Threads.Left != 0 || took < 70*time.Second {
			t.Errorf("threads %+v after %s", r.Threads, took)
		}
		if last.Phase != PhaseClean || last.Sent != 100 || last.Ended < 80 {
			t.Errorf("the last progress is %+v", last)
		}
	})
}

// The second interrupt ends the deletion, and so does one during the deletion.
func TestCleanIsInterrupted(t *testing.T) {
	t.Parallel()

	for name, stop := range map[string]func(interrupt context.CancelFunc, leave chan struct{}){
		"Second": func(interrupt context.CancelFunc, leave chan struct{}) {
			time.AfterFunc(5*time.Second, interrupt)
			time.AfterFunc(40*time.Second, func() { close(leave) })
		},
		"Both": func(interrupt context.CancelFunc, leave chan struct{}) {
			time.AfterFunc(5*time.Second, func() { interrupt(); close(leave) })
		},
		"During": func(interrupt context.CancelFunc, _ chan struct{}) { time.AfterFunc(40*time.Second, interrupt) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			synctest.Test(t, func(t *testing.T) {
				f := newFake(1000, 10*time.Millisecond)
				f.deletes = 11 * time.Second
				ctx, cancel := context.WithCancel(t.Context())
				leave := make(chan struct{})
				c := f.config(10)
				c.Leave = leave
				stop(cancel, leave)
				r := measured(t, ctx, c)
				if took := time.Since(f.began); took > 41*time.Second || r.Threads.Left == 0 || r.Threads.Left != len(f.runs) ||
					(name != "Both") != (r.Threads.Deleted > 0) {
					t.Errorf("threads %+v of %d after %s", r.Threads, len(f.runs), took)
				}
				cancel()
			})
		})
	}
}

// A deletion that cannot succeed ends.
func TestCleanStalls(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		f := newFake(1000, 10*time.Millisecond)
		c := f.config(1)
		f.takes, f.endless = time.Hour, true
		r := measured(t, t.Context(), c)
		if took := time.Since(f.began); r.Threads.Left != 10 || took < cleanStall || took > cleanStall+30*time.Second {
			t.Errorf("threads %+v after %s", r.Threads, took)
		}
		f.mu.Lock()
		f.endless = false
		f.mu.Unlock()
		if threads, err := Remove(t.Context(), f, "s", nil); err != nil || threads != (Threads{Made: 10, Deleted: 10}) {
			t.Errorf("%+v, %v", threads, err)
		}
	})
}

var _ Remover = (*fake)(nil)

// Threads that are found and gone before their deletion are not left.
func TestRemoveGone(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		f := newFake(1, time.Second)
		f.runs[spool.ThreadID("gone")] = nil
		if threads, err := Remove(t.Context(), f, "s", nil); err != nil || threads != (Threads{Made: 1}) {
			t.Errorf("%+v, %v", threads, err)
		}
	})
}
