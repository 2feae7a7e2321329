package agent

import (
	"context"
	"fmt"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/registry"
)

// defaultWallTime is how long workers carry a run where the configuration does not say.
const defaultWallTime = time.Hour

// errTimeLimit ends a run that has been carried for as long as any run may. Only the stop
// reason tells it from a run whose own budget of time is used up.
var errTimeLimit = fmt.Errorf("%w: workers carry no run for longer", errOutOfTime)

// wallTimeLimit returns how long workers may carry a run of the agent, which is nil where this
// process lacks it. Zero: there is no limit.
func (r *Runner) wallTimeLimit(agent *registry.Agent) time.Duration {
	if r.Limits.WallTime != 0 {
		return max(r.Limits.WallTime, 0)
	}
	limit := max(defaultWallTime, r.Budget.Default.WallTime, r.Budget.Max.WallTime)
	if agent != nil {
		limit = max(limit, agent.Budget.WallTime)
	}
	return limit
}

// limitTime ends the segment's work when its run has had its time: that of its budget, or the
// time that any run has.
func (s *segment) limitTime(cancel context.CancelCauseFunc) (stop func() bool) {
	run := s.main.run
	left, bounded := time.Duration(0), false
	if a := run.Allowance; a != nil && a.Budget.WallTime > 0 {
		left, bounded = a.Budget.WallTime-a.Spent.WallTime, true
	}
	end := func() { cancel(errOutOfTime) }
	if limit := s.runner.wallTimeLimit(s.main.agent); limit > 0 && (!bounded || limit-run.WallTime < left) {
		left, bounded = limit-run.WallTime, true
		end = func() {
			s.overTime.Store(true)
			cancel(errTimeLimit)
		}
	}
	switch {
	case !bounded:
		return func() bool { return false }
	case left <= 0: // a worker has died over it
		end()
		return func() bool { return false }
	}
	return time.AfterFunc(left, end).Stop
}

// timeReason is the stop reason of a run that has had its time.
func (s *segment) timeReason() spool.StopReason {
	if s.overTime.Load() {
		return spool.StopTimeLimit
	}
	return spool.StopTimeBudget
}
