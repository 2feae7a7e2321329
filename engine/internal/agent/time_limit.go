package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// defaultWallTime is the wall time limit of a run if the configuration has none.
const defaultWallTime = time.Hour

// errTimeLimit ends a run that reaches the wall time limit of all runs. Only the stop reason
// distinguishes it from an exhausted time budget.
var errTimeLimit = fmt.Errorf("%w: workers execute no run for longer", errOutOfTime)

// wallTimeLimit returns the wall time limit of the agent's runs. Agent is nil if this process lacks the
// agent. Zero: no limit.
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

// limitTime ends the segment's work when the run's time is up, by its own budget or by the limit of all
// runs.
func (s *segment) limitTime(cancel context.CancelCauseFunc) (stop func() bool) {
	left, by := timeLeft(s.main.run, s.runner.wallTimeLimit(s.main.agent))
	end := func() {
		s.overTime.Store(errors.Is(by, errTimeLimit))
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

// timeLeft returns how long a run may still execute, and the error that ends it then. Limit is that of all runs. The error
// is nil if nothing bounds the run.
func timeLeft(run store.RunRow, limit time.Duration) (left time.Duration, by error) {
	if a := run.Allowance; a != nil && a.Budget.WallTime > 0 {
		left, by = a.Budget.WallTime-a.Spent.WallTime, errOutOfTime
	}
	if limit > 0 && (by == nil || limit-run.WallTime < left) {
		left, by = limit-run.WallTime, errTimeLimit
	}
	return left, by
}

// timeReason returns the stop reason of a run whose time is up.
func (s *segment) timeReason() wire.StopReason {
	if s.overTime.Load() {
		return wire.StopTimeLimit
	}
	return wire.StopTimeBudget
}
