package active

import (
	"context"
	"log/slog"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/engine/internal/stream"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Run is a run that a worker executes: the dispatched run of a segment, or a nested run below it. Only the goroutine of
// the run's loop uses it, except for AtStart and the methods of the segment.
type Run struct {
	segment *Segment
	parent  *Run // the run that spawned this one; nil for the dispatched run
	agent   *registry.Agent
	row     store.RunRow // as last saved
	atStart store.RunRow
	answer  string
	events  stream.Emitter
}

// NewRun returns the dispatched run of a segment. Agent is nil if the process settles a run whose agent it lacks.
func NewRun(s *Segment, agent *registry.Agent, row store.RunRow) *Run {
	return &Run{segment: s, agent: agent, row: row, atStart: row, events: s.Writer.Emitter(row.AgentID())}
}

// Child returns a nested run.
func (r *Run) Child(row store.RunRow) *Run {
	child := NewRun(r.segment, r.agent.Nested(row.Agent).Permitted(row), row)
	child.parent = r
	return child
}

// Segment returns the segment that executes the run.
func (r *Run) Segment() *Segment { return r.segment }

// Host returns what the run uses of its process.
func (r *Run) Host() *Host { return r.segment.Host }

// Key returns the run's thread.
func (r *Run) Key() spool.ThreadKey { return r.segment.Key }

// Row returns the run as last saved.
func (r *Run) Row() store.RunRow { return r.row }

// AtStart returns the run when the work on it began. Other goroutines may read its ids, names and depth.
func (r *Run) AtStart() store.RunRow { return r.atStart }

// Agent returns the run's agent, or nil if the process lacks it.
func (r *Run) Agent() *registry.Agent { return r.agent }

// SetAgent replaces the run's agent, by one with more tools.
func (r *Run) SetAgent(a *registry.Agent) { r.agent = a }

// Nested reports whether another run has spawned the run.
func (r *Run) Nested() bool { return r.parent != nil }

// Events returns the emitter of the run's items.
func (r *Run) Events() *stream.Emitter { return &r.events }

// Answer returns the text of the last saved answer.
func (r *Run) Answer() string { return r.answer }

// SetAnswer notes the text of an answer that was saved.
func (r *Run) SetAnswer(text string) { r.answer = text }

// Log returns a logger whose lines name the run.
func (r *Run) Log() *slog.Logger { return r.Host().Concerning(r.Key(), r.row.ID) }

// View reads the run's thread.
func (r *Run) View(ctx context.Context, fn func(v store.View) error) error {
	return FromStore(r.Host().Store.View(ctx, r.Key(), fn))
}

// Update runs a transition of the run under the segment's lease, even after ctx has ended, and
// keeps the resulting run. fn finds the dispatched run at tx.Root().
//
// If Update returns an error, its transaction may still have been committed. In that case the next
// Update fails too, because it would save the same step again. The next worker continues from the saved
// state.
func (r *Run) Update(ctx context.Context, fn func(tx *thread.Tx) error) error {
	return r.transact(ctx, r.segment.Update, fn)
}

// Commit does the same as Update, for a transition that adds items or entries to the stream. It wakes the workers if
// the dispatched run waits now: for its next segment, or for an answer, so that they learn when the parks expire.
func (r *Run) Commit(ctx context.Context, fn func(tx *thread.Tx) error) error {
	r.events.EndBlock(ctx)
	err := r.transact(ctx, r.segment.Commit, fn)
	if err == nil && !r.Nested() && (r.row.State == wire.Queued || r.row.State == wire.WaitingForInput) {
		r.Host().Live.Wake(store.JobsTopic, store.WakeJobs, nil)
	}
	return err
}

func (r *Run) transact(
	ctx context.Context, by func(context.Context, func(*thread.Tx) error) error, fn func(tx *thread.Tx) error,
) error {
	var run store.RunRow
	err := by(ctx, func(tx *thread.Tx) (err error) {
		if tx, err = tx.ForRun(r.atStart); err != nil {
			return err
		}
		if !r.isAt(tx.Run) {
			return spool.Errorf(spool.Unavailable, "run %s was saved by an update that has failed", tx.Run.ID)
		}
		err = fn(tx)
		run = tx.Run
		return err
	})
	if err == nil {
		r.row = run
		if r.segment.budgeted {
			r.segment.budgetFreed.send()
		}
	}
	return err
}

// isAt reports whether the stored run has the same progress as this copy.
func (r *Run) isAt(run store.RunRow) bool {
	return run.Steps == r.row.Steps && run.Saved == r.row.Saved && (run.Draft == nil) == (r.row.Draft == nil)
}

// Finish ends the run in the transaction of its last step. A run that was stopped ends as stopped.
func (r *Run) Finish(tx *thread.Tx, ending store.Ending) error {
	if tx.Stopping() {
		ending = thread.Cancelled
	}
	if !r.Nested() {
		return thread.Finish(tx, ending)
	}
	return thread.FinishNested(tx, ending, registry.Shorten(r.answer, r.SpawnLimits().ResultCap))
}

// Revive sets a nested run that waits to RUNNING, so that it can end without another step.
func (r *Run) Revive(ctx context.Context) error {
	if !r.Nested() || r.row.State != wire.WaitingForInput {
		return nil
	}
	return r.Update(ctx, thread.ResumeNested)
}
