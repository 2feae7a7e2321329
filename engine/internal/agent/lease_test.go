package agent

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
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
		"at once":                   {called: true},
		"shortly before":            {pause: 40*time.Second - 1, called: true},
		"nobody else has it":        {pause: 40 * time.Second, called: true, asked: true},
		"long after it":             {pause: time.Hour, called: true, asked: true},
		"another worker has it":     {pause: 40 * time.Second, change: func(s *scene) { s.rows.Rows.Thread.Fence++ }, cause: errLost},
		"the run has ended":         {pause: 40 * time.Second, change: func(s *scene) { s.rows.Rows.Thread.State = spool.Failed }, cause: errLost},
		"the thread is gone":        {pause: 40 * time.Second, change: func(s *scene) { s.rows.Rows.Thread = nil }, cause: errLost},
		"the thread is another":     {pause: 40 * time.Second, change: func(s *scene) { s.rows.Rows.Thread.CreatedAt = noon.Add(1) }, cause: errLost},
		"the run was stopped":       {pause: 40 * time.Second, change: func(s *scene) { s.rows.Rows.Runs[0].StopAt = noon }, cause: errStopped, asked: true},
		"stopped, but in time":      {change: func(s *scene) { s.rows.Rows.Runs[0].StopAt = noon }, called: true},
		"the store is away":         {pause: 40 * time.Second, change: func(s *scene) { s.s.runner.Store = away{s.s.runner.Store} }, cause: errLapsed},
		"a look, soon":              {change: func(s *scene) { s.s.end = nil }, called: true},
		"a look, after a pause":     {pause: 40 * time.Second, change: func(s *scene) { s.s.end = nil }},
		"the call has been ended":   {pause: 40 * time.Second, ended: true},
		"it has been ended in time": {ended: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := desk(t, spool.RunRow{})
				s.rows.Rows.Thread.LeaseUntil = noon.Add(time.Second)
				var ended error
				s.s.end = func(cause error) { ended = cause }
				if c.change != nil {
					c.change(s)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.ended {
					cancel()
				}
				<-time.After(c.pause)
				called := false
				p := s.planned("look", func(p *plannedCall) {
					p.tool.Call = func(context.Context, spool.ToolCall) (json.RawMessage, error) {
						called = true
						return nil, nil
					}
				})
				_, err := run(ctx, p)
				thread := s.rows.Rows.Thread
				asked := thread != nil && !thread.LeaseUntil.Equal(noon.Add(time.Second))
				if called != c.called || (err == nil) != c.called || !errors.Is(ended, c.cause) || (ended == nil) != (c.cause == nil) || asked != c.asked {
					t.Errorf("called %t, renewed %t, the segment ends with %v: %v", called, asked, ended, err)
				}
				if p.call.Fence != 1 {
					t.Errorf("the fence is %d", p.call.Fence)
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
		s := desk(t, spool.RunRow{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var ended error
		s.s.end = func(cause error) { ended = cause }
		s.s.lease.confirm(time.Now().Add(-time.Hour))
		s.rows.Rows.Runs[0].StopAt = noon
		s.s.beat(ctx, s.s.end)
		if !errors.Is(ended, errStopped) || s.s.lease.holds(s.s.runner.Rules.Lease) {
			t.Errorf("the segment ends with %v, and the lease is trusted: %t", ended, s.s.lease.holds(s.s.runner.Rules.Lease))
		}
	})
}

// away is a store that cannot be reached.
type away struct{ spool.Store }

func (away) Update(context.Context, spool.ThreadKey, int64, func(spool.Tx) error) error {
	return errDial
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

// A cancelled call that has begun, here or at a worker that is gone, has an unknown outcome.
func TestGiveUp(t *testing.T) {
	t.Parallel()
	const plain, unknown = `{"cancelled":true,"reason":"stopped"}`, `{"cancelled":true,"reason":"stopped","outcome":"unknown"}`
	unrun := func(p *plannedCall) { p.state = callNew }
	parked := func(park spool.Park) func(p *plannedCall) {
		return func(p *plannedCall) { p.ask(&park) }
	}
	for name, c := range map[string]struct {
		change func(p *plannedCall)
		want   string
	}{
		"runs":                         {func(*plannedCall) {}, unknown},
		"has not run":                  {unrun, plain},
		"ran at a worker that is gone": {func(p *plannedCall) { p.repeat() }, unknown},
		"asks whether it ran":          {parked(spool.Park{State: spool.ParkOpen, Reason: spool.ParkOutcomeUnknown}), unknown},
		"waits for an approval":        {parked(spool.Park{State: spool.ParkOpen, Reason: spool.ParkApproval}), plain},
		"has asked":                    {parked(spool.Park{State: spool.ParkOpen, Reason: "input"}), plain},
		"its work goes on":             {parked(spool.Park{State: spool.ParkPending}), unknown},
		"its work asks": {func(p *plannedCall) {
			p.ask(&spool.Park{State: spool.ParkOpen})
			p.call.Pending = json.RawMessage("1")
		}, unknown},
		"is looked at": {func(p *plannedCall) { p.state, p.call.Pending = callNew, json.RawMessage("1") }, unknown},
		"a nested run": {func(p *plannedCall) { p.spawns = true }, plain},
	} {
		p := desk(t, spool.RunRow{}).planned("look", c.change)
		p.giveUp("stopped")
		if got := string(p.result); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
