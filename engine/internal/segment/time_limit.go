package segment

import (
	"context"
	"time"

	"github.com/spoolhq/spool/engine/internal/active"
	"github.com/spoolhq/spool/store"
)

// limitTime ends the segment's work when the run's time is up, by its own budget or by the limit of all
// runs.
func (s *segment) limitTime(cancel context.CancelCauseFunc) (stop func() bool) {
	left, by := timeLeft(s.run.Row(), s.runner.WallTimeLimit(s.run.Agent()))
	end := func() {
		s.EndTime(by)
		cancel(by)
	}
	switch {
	case by == nil:
		return func() bool { return false }
	case left <= 0: // an earlier worker died at the limit
		end()
		return func() bool { return false }
	}
	return time.AfterFunc(left, end).Stop
}

// timeLeft returns how long a run may still execute, and the error that ends it then. Limit is that of all runs. The
// error is nil if nothing bounds the run.
func timeLeft(run store.RunRow, limit time.Duration) (left time.Duration, by error) {
	if a := run.Allowance; a != nil && a.Budget.WallTime > 0 {
		left, by = a.Budget.WallTime-a.Spent.WallTime, active.ErrOutOfTime
	}
	if limit > 0 && (by == nil || limit-run.WallTime < left) {
		left, by = limit-run.WallTime, active.ErrTimeLimit
	}
	return left, by
}
