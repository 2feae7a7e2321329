package active

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/budget"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// dispatched returns the run of the tree that was dispatched.
func (r *Run) dispatched() *Run {
	for r.parent != nil {
		r = r.parent
	}
	return r
}

// Dispatched returns the dispatched run of the tree when the work on it began.
func (r *Run) Dispatched() store.RunRow { return r.dispatched().atStart }

// Frames returns the calls that wait for this run, the innermost first.
func (r *Run) Frames() []wire.ParkFrame {
	var frames []wire.ParkFrame
	for ; r.parent != nil; r = r.parent {
		frames = append(frames, wire.ParkFrame{AgentID: record.AgentOf(r.parent.atStart), ToolCallID: r.atStart.CallID})
	}
	return frames
}

// DistinctApprover reports whether the subject that started the run may not approve its calls. An agent's requirement
// also applies to the runs that it spawns.
func (r *Run) DistinctApprover() bool {
	for ; r != nil; r = r.parent {
		if r.agent.DistinctApprover {
			return true
		}
	}
	return false
}

// DistinctBudgetApprover reports whether the subject that started the run may not raise its budget.
func (r *Run) DistinctBudgetApprover() bool { return r.dispatched().agent.DistinctApprover }

// SpawnLimits returns the tree's limits for nested runs, or the defaults if the configuration no longer has
// them.
func (r *Run) SpawnLimits() spool.Spawn {
	if a := r.dispatched().agent; a != nil && a.Spawn != nil {
		return *a.Spawn
	}
	return spool.Spawn{
		MaxDepth: registry.DefaultMaxDepth, MaxConcurrent: registry.DefaultMaxConcurrent,
		ResultCap: registry.DefaultResultCap,
	}
}

// MaxSteps returns how many steps the run may have.
func (r *Run) MaxSteps() int {
	if r.row.MaxSteps > 0 && r.row.MaxSteps < r.agent.MaxSteps {
		return r.row.MaxSteps
	}
	return r.agent.MaxSteps
}

// ParksForBudget reports whether the run waits for a larger budget instead of ending. A run that
// already has the largest allowed budget ends.
func (r *Run) ParksForBudget(reason wire.StopReason) bool {
	if reason == wire.StopStorageLimit || r.segment.overTime.Load() { // nobody can raise these limits
		return false
	}
	agent := r.dispatched().agent
	return agent != nil && agent.OnBudget == spool.BudgetPark && !r.atMaxBudget(reason)
}

// atMaxBudget reports whether the run already has the largest budget that any run may have.
func (r *Run) atMaxBudget(reason wire.StopReason) bool {
	a := r.dispatched().atStart.Allowance // no answer raises it while a worker executes the run
	most := budget.Bound(r.Host().Budget.Max, reason)
	return a != nil && most > 0 && budget.Bound(a.Budget, reason) >= most
}

// NoteExhausted adds the entry about an exhausted budget or limit. Unpriced is the model without a price that has
// exhausted a budget of money, or "".
func (r *Run) NoteExhausted(tx *thread.Tx, reason wire.StopReason, unpriced string) error {
	return thread.NoteExhausted(tx, reason, budget.Limits{
		WallTimeMS:  r.Host().WallTimeLimit(r.dispatched().agent).Milliseconds(),
		TenantBytes: r.Host().Limits.TenantBytes, Unpriced: unpriced,
	})
}
