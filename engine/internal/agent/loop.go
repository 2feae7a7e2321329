package agent

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/attach"
	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/engine/internal/stream"
	"github.com/spoolhq/spool/engine/internal/thread"
)

// loop is an agent at work on a run: it asks its model, runs the tools that the model
// calls, saves the step, and asks again. A segment has one for the run that it carries, and
// one for each nested run at work, in a goroutine of its own.
type loop struct {
	*runState
	asker
	calls
}

// runState is the run that a loop is at work on, and its place in the segment.
type runState struct {
	s      *segment
	parent *runState // whose call the nested run is. Nil: the run is the dispatched one
	agent  *registry.Agent
	run    spool.RunRow // as it was last saved
	self   spool.RunRow // as it was at first: ids, names and depth, which others may read meanwhile
	answer string       // the text of the last answer, as far as it is saved
	late   bool         // the run has had its time, and its calls are to be cancelled
	events stream.Emitter
}

// asker asks the model of a run.
type asker struct {
	*runState

	model  spool.Model
	images attach.Fetched
	failed int64 // tokens of the prompt for which the last summary failed, 0 for none
}

// calls are the tool calls of the step in hand.
type calls struct {
	*runState

	plan []*plannedCall
	open int // parks of the last step that are not answered yet
	// resultRoom is how many bytes the results that the plan lacks may have.
	resultRoom int
}

// newLoop returns the loop of a run. The parent is that of the run whose call has spawned it, nil for
// a dispatched run.
func newLoop(s *segment, parent *runState, agent *registry.Agent, model spool.Model, run spool.RunRow) *loop {
	state := &runState{s: s, parent: parent, agent: agent, run: run, self: run, events: s.Writer.Emitter(run.AgentID())}
	return &loop{
		runState: state, calls: calls{runState: state},
		asker: asker{runState: state, model: model, images: make(attach.Fetched)},
	}
}

// update runs a transition of the loop's run under the segment's lease, whatever has
// become of ctx, and keeps the run as it then is. fn finds the dispatched run at tx.Root().
//
// An update that has failed may have been carried out nevertheless. One that finds so fails too,
// as it would save the same step again: whoever takes the run over goes on from what is saved.
func (l *runState) update(ctx context.Context, fn func(tx *thread.Tx) error) error {
	return l.transact(ctx, l.s.update, fn)
}

// commit is update for a transition that adds to the stream, or places entries in it.
func (l *runState) commit(ctx context.Context, fn func(tx *thread.Tx) error) error {
	l.events.EndBlock(ctx)
	return l.transact(ctx, l.s.commit, fn)
}

func (l *runState) transact(ctx context.Context, by func(context.Context, func(*thread.Tx) error) error, fn func(tx *thread.Tx) error) error {
	var run spool.RunRow
	err := by(ctx, func(tx *thread.Tx) (err error) {
		if tx, err = tx.Of(l.self); err != nil {
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
			l.s.freed.send()
		}
	}
	return err
}

// isAt reports whether a run is as far as the loop has brought it.
func (l *runState) isAt(run spool.RunRow) bool {
	return run.Steps == l.run.Steps && run.Saved == l.run.Saved && (run.Draft == nil) == (l.run.Draft == nil)
}
