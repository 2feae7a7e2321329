package agent

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/attach"
	"github.com/spoolhq/spool/engine/internal/history"
	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/engine/internal/stream"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
)

// loop executes one run with its agent: it asks the model, runs the tools that the model calls,
// saves the step, and asks again. A segment has one loop for the dispatched run and one, in a
// goroutine of its own, for each active nested run.
type loop struct {
	*runState
	asker
	calls
}

// runState is the part of a loop that its asker and its calls share: the run and its segment.
type runState struct {
	s      *segment
	parent *runState // the run that spawned this one; nil for the dispatched run
	agent  *registry.Agent
	run    store.RunRow // as last saved
	self   store.RunRow // the run when the loop began: other goroutines may read its ids, names and depth
	answer string       // the text of the last saved answer
	late   bool         // the run's time is up, so its calls are cancelled
	final  bool         // the run has had all its steps, and is asked for an answer
	// unpriced is the model without a price at which the run's budget of money ends the run.
	unpriced string
	events   stream.Emitter
}

type asker struct {
	*runState

	model  spool.Model
	images attach.Fetched
	// dropped are the files that the record has as not given to a model by this run. Nil: nobody has read it yet.
	dropped map[droppedKey]bool
	around  history.Around
	failed  int64 // the prompt's tokens when a summary last failed; 0 if none failed
}

// calls are the tool calls of the current step.
type calls struct {
	*runState

	plan []*plannedCall
	open int // the last step's open parks
	// resultRoom is how many bytes are left for results.
	resultRoom int
}

// newLoop returns the loop of a run. Parent is the run that spawned it, or nil for a dispatched run.
func newLoop(s *segment, parent *runState, agent *registry.Agent, model spool.Model, run store.RunRow) *loop {
	state := &runState{s: s, parent: parent, agent: agent, run: run, self: run, events: s.Writer.Emitter(run.AgentID())}
	return &loop{
		runState: state, calls: calls{runState: state},
		asker: asker{runState: state, model: model, images: make(attach.Fetched)},
	}
}

// update runs a transition of the loop's run under the segment's lease, even after ctx has ended, and
// keeps the resulting run. fn finds the dispatched run at tx.Root().
//
// If update returns an error, its transaction may still have been committed. In that case the next
// update fails too, because it would save the same step again. The next worker continues from the saved
// state.
func (l *runState) update(ctx context.Context, fn func(tx *thread.Tx) error) error {
	return l.transact(ctx, l.s.update, fn)
}

// commit does the same as update, for a transition that adds items or entries to the stream.
func (l *runState) commit(ctx context.Context, fn func(tx *thread.Tx) error) error {
	l.events.EndBlock(ctx)
	return l.transact(ctx, l.s.commit, fn)
}

func (l *runState) transact(ctx context.Context, by func(context.Context, func(*thread.Tx) error) error, fn func(tx *thread.Tx) error) error {
	var run store.RunRow
	err := by(ctx, func(tx *thread.Tx) (err error) {
		if tx, err = tx.ForRun(l.self); err != nil {
			return err
		}
		if !l.isAt(tx.Run) {
			return spool.Errorf(spool.Unavailable, "run %s was saved by an update that has failed", tx.Run.ID)
		}
		err = fn(tx)
		run = tx.Run
		return err
	})
	if err == nil {
		l.run = run
		if l.s.budgeted {
			l.s.budgetFreed.send()
		}
	}
	return err
}

// isAt reports whether the stored run has the same progress as the loop's copy.
func (l *runState) isAt(run store.RunRow) bool {
	return run.Steps == l.run.Steps && run.Saved == l.run.Saved && (run.Draft == nil) == (l.run.Draft == nil)
}
