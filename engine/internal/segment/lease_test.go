package segment

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/active"
	"github.com/spoolhq/spool/internal/testing/stage"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Before a call, a worker trusts its lease for two thirds, and then asks the store. If it has lost the run, the call is
// not made, and the segment ends.
func TestCheckLease(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pause  time.Duration
		change func(s *scene)
		ended  bool // the context of the call
		cause  error
		called bool
		asked  bool // the lease was renewed
	}{
		"at once":            {called: true},
		"shortly before":     {pause: 40*time.Second - 1, called: true},
		"nobody else has it": {pause: 40 * time.Second, called: true, asked: true},
		"long after it":      {pause: time.Hour, called: true, asked: true},
		"another worker has it": {
			pause: 40 * time.Second, change: func(s *scene) { s.Rows.Rows.Thread.Fence++ }, cause: active.ErrLost,
		},
		"the run has ended": {
			pause: 40 * time.Second, change: func(s *scene) { s.Rows.Rows.Thread.State = wire.Failed }, cause: active.ErrLost,
		},
		"the thread is gone": {
			pause: 40 * time.Second, change: func(s *scene) { s.Rows.Rows.Thread = nil }, cause: active.ErrLost,
		},
		"the thread is another": {
			pause: 40 * time.Second, change: func(s *scene) { s.Rows.Rows.Thread.CreatedAt = stage.Noon.Add(1) },
			cause: active.ErrLost,
		},
		"the run was stopped": {
			pause: 40 * time.Second, change: func(s *scene) { s.Rows.Rows.Runs[0].StopAt = stage.Noon },
			cause: active.ErrStopped, asked: true,
		},
		"stopped, but in time": {change: func(s *scene) { s.Rows.Rows.Runs[0].StopAt = stage.Noon }, called: true},
		"the store is away": {
			pause: 40 * time.Second, change: func(s *scene) { s.segment.runner.Store = away{s.segment.runner.Store} },
			cause: active.ErrLapsed,
		},
		"a look, soon":              {change: func(s *scene) { s.segment.end = nil }, called: true},
		"a look, after a pause":     {pause: 40 * time.Second, change: func(s *scene) { s.segment.end = nil }},
		"the call has been ended":   {pause: 40 * time.Second, ended: true},
		"it has been ended in time": {ended: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := desk(t, store.RunRow{})
				s.Rows.Rows.Thread.LeaseUntil = stage.Noon.Add(time.Second)
				var ended error
				s.segment.end = func(cause error) { ended = cause }
				if c.change != nil {
					c.change(s)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.ended {
					cancel()
				}
				<-time.After(c.pause)
				err := spool.ToolCall{LeaseFunc: s.segment.CheckLease}.CheckLease(ctx)
				called := err == nil
				thread := s.Rows.Rows.Thread
				asked := thread != nil && !thread.LeaseUntil.Equal(stage.Noon.Add(time.Second))
				if called != c.called || !errors.Is(ended, c.cause) || (ended == nil) != (c.cause == nil) || asked != c.asked {
					t.Errorf("called %t, renewed %t, the segment ends with %v: %v", called, asked, ended, err)
				}
			})
		})
	}
}

// A worker that was paused beyond its lease renews it on time again, before it makes its calls. Meanwhile a stop was
// accepted, which did not wait for this worker. The renewal tells of it, so no call is made.
func TestBeatStopped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := desk(t, store.RunRow{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var ended error
		s.segment.end = func(cause error) { ended = cause }
		s.segment.lease.confirm(time.Now().Add(-time.Hour))
		s.Rows.Rows.Runs[0].StopAt = stage.Noon
		s.segment.beat(ctx, s.segment.end)
		if !errors.Is(ended, active.ErrStopped) || s.segment.lease.holds(s.segment.runner.Rules.Lease) {
			t.Errorf("the segment ends with %v, and the lease is trusted: %t", ended,
				s.segment.lease.holds(s.segment.runner.Rules.Lease))
		}
	})
}

// away is a store that cannot be reached.
type away struct{ store.Store }

func (away) Update(context.Context, spool.ThreadKey, int64, func(store.Tx) error) error {
	return stage.ErrDial
}

// The time for which a machine slept counts, though the monotonic clock of some systems stands still meanwhile.
func TestLeaseAfterSleep(t *testing.T) {
	t.Parallel()
	var l lease
	l.confirm(time.Now())
	if !l.holds(time.Hour) {
		t.Error("a new lease does not hold")
	}
	l.confirm(time.Now().Round(0).Add(-time.Hour)) // without the monotonic clock
	if l.holds(time.Hour) {
		t.Error("a lease holds after the machine has slept")
	}
}
