package enginetest

import (
	"context"
	"errors"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
)

// testRedriveNotFailed has a dead job whose run another process has completed.
func testRedriveNotFailed(s redriveTest) {
	e := s.engine(s.config(spooltest.NewModel(spooltest.Say("hi"), spooltest.Say("never"))))
	s.start(e, "r1", "go")
	if r, err := e.HandleJob(context.Background(), ticket("r1")); err != nil || !r.Accepted {
		s.Fatal(r, err)
	}
	s.ended(spool.Completed)
	s.movedOn(e, s.die(e))
}

// movedOn reports an error unless a redrive is refused because nothing is left to do, and changes
// nothing.
func (s redriveTest) movedOn(e *engine.Engine, job int64) {
	s.Helper()
	before, dead := s.all(chat, "r1"), len(s.deadJobs())
	if r := s.redrive(e, job); r.Accepted || r.Reason != engine.ReasonMovedOn || r.RunID != "" {
		s.Errorf("redrive: %+v", r)
	}
	s.same("the thread", s.all(chat, "r1"), before)
	if dead == 0 || len(s.deadJobs()) != dead {
		s.Errorf("%d dead jobs, and %d after the redrive", dead, len(s.deadJobs()))
	}
}

// testRedriveSettled has a dead settlement whose run was settled in the meantime.
func testRedriveSettled(s redriveTest) {
	c := s.config(spooltest.NewModel(spooltest.Say("hi")))
	c.OnSettle = func(context.Context, engine.Settlement) error { return errors.New("the ledger is closed") }
	e := s.engine(c)
	stop := s.work(e)
	s.start(e, "r1", "go")
	s.ended(spool.Failed)
	stop()
	job := s.die(e)
	settleTest(s).change(func(r *spool.RunRow, now time.Time) { r.SettledAt = now })
	s.movedOn(e, job)
}
