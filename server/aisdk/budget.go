package aisdk

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/projection"
	"github.com/spoolhq/spool/wire"
)

// Questions reads what a run has asked, the oldest question first: see [engine.Watcher.Parks]. It returns a
// [spool.NotFound] error if the thread was deleted.
type Questions func(run spool.RunID) ([]wire.ParkDetail, error)

// budget is a question about the budget of a run that does not wait any more. It belongs to no call, so no message
// has it.
type budget struct {
	wire.ParkDetail

	// after is the step after which the client sees the question.
	after int
}

// allSteps is behind every step.
const allSteps = math.MaxInt

// budgetsOf returns what the run of a snapshot has asked about its budget, without the question for which it waits.
func budgetsOf(s *wire.Snapshot, run spool.RunID, asked Questions) ([]budget, error) {
	r, ok := projection.RunOf(s, run)
	if !ok || asked == nil || !askedBudget(r) {
		return nil, nil
	}
	parks, err := asked(run)
	if err != nil && spool.CodeOf(err) != spool.NotFound {
		return nil, err
	}
	parks = slices.DeleteFunc(parks, func(p wire.ParkDetail) bool { return p.Reason != wire.ParkBudget })
	open := projection.OpenParks(s)
	var out []budget
	for _, p := range parks[:min(len(parks), r.Allowance.Parks)] { // the rest is newer than the snapshot
		waits := slices.ContainsFunc(open, func(in wire.InputRequired) bool { return in.ToolCallID == p.ToolCallID })
		if !waits && p.State != wire.ParkOpen {
			out = append(out, budget{p, p.Step + nestedAt(s.Runs, run, p.CreatedAt)})
		}
	}
	return out, nil
}

// askedBudget reports whether a run has asked about its budget.
func askedBudget(r wire.Run) bool { return r.Allowance != nil && r.Allowance.Parks > 0 }

// nestedAt returns 1 if the run had a nested run at a time: the step that spawned it had begun, and was not finished.
func nestedAt(runs []wire.Run, run spool.RunID, at time.Time) int {
	if slices.ContainsFunc(runs, func(r wire.Run) bool {
		return r.ParentID == run && !r.CreatedAt.After(at) && (r.EndedAt.IsZero() || r.EndedAt.After(at))
	}) {
		return 1
	}
	return 0
}

// sendBudgets sends the questions about budgets up to a step, except for those that the client has. It sends only
// questions asked before a time. Zero: all.
func (e *encoder) sendBudgets(step int, before time.Time) {
	for _, b := range e.budgets {
		_, copied := e.copied[b.ToolCallID]
		if copied || e.calls[b.ToolCallID] != nil || b.after > step || !before.IsZero() && !b.CreatedAt.Before(before) {
			continue
		}
		e.startCall(b.ToolCallID, cmp.Or(b.ToolName, b.Reason), "", e.step)
		if e.cut {
			return
		}
		e.input(b.ToolCallID, b.Asked)
		e.calls[b.ToolCallID].done = true
		e.add(b.outcome())
	}
}

// outcome returns the chunk that says what became of the question.
func (b budget) outcome() Chunk {
	c := Chunk{Type: typeOutput, ToolCallID: b.ToolCallID}
	switch {
	case b.State == wire.ParkAnswered && b.Answer != nil && b.Answer.Approved:
		c.Output = rawJSON(`{"approved":true}`)
	case b.State == wire.ParkAnswered:
		c.Type = typeOutputDenied
	case b.State == wire.ParkExpired:
		c.Output = rawJSON(`{"responded":false,"cancelled":true,"reason":"timeout"}`) // as any other question
	default:
		c.Output = rawJSON(`{"cancelled":true}`)
	}
	return c
}

// endBudget ends a question about a budget in the client's copy. The client may have answered another way than the
// person whose answer counts.
func (e *encoder) endBudget(part Part, id spool.ToolCallID) {
	at := slices.IndexFunc(e.budgets, func(b budget) bool { return b.ToolCallID == id })
	switch {
	case part.over():
	case at >= 0:
		e.add(e.budgets[at].outcome())
	case part.State != stateAnswered || part.Approval == nil:
		return
	case part.Approval.Approved != nil && *part.Approval.Approved:
		e.add(Chunk{Type: typeOutput, ToolCallID: id, Output: rawJSON(`{"approved":true}`)})
	default:
		e.add(Chunk{Type: typeOutputDenied, ToolCallID: id})
	}
	e.calls[id] = &call{name: nameBudget, complete: true, done: true}
}
