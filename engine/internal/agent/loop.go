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
	s      *segment
	parent *loop // whose call the nested run is. Nil: the run is the dispatched one
	agent  *registry.Agent
	model  spool.Model
	run    spool.Run      // as it was last saved
	self   spool.Run      // as it was at first: ids, names and depth, which others may read meanwhile
	plan   []*plannedCall // the tool calls in hand
	open   int            // parks of the last step that are not answered yet
	said   string         // the last answer, as far as it is saved
	events stream.Emitter
	images attach.Fetched
	unsaid int64 // tokens of the prompt for which the last summary failed, 0 for none
	// resultRoom is how many bytes the results that the plan lacks may have.
	resultRoom int
	late       bool // the run has had its time, and its calls are to be cancelled
}

func (r *Runner) newLoop(s *segment, run spool.Run) *loop {
	agent := r.Registry.OfDispatched(run) // nil where a process settles a run that it cannot carry
	return &loop{s: s, agent: agent, model: r.Registry.Model(run.Model, agent), run: run, self: run, events: s.Writer.Emitter(run.AgentID()), images: make(attach.Fetched)}
}

// update runs a transition of the loop's run under the segment's lease, whatever has
// become of ctx, and keeps the run as it then is. fn finds the dispatched run at tx.Root().
//
// An update that has failed may have been carried out nevertheless. One that finds so fails too,
// as it would save the same step again: whoever takes the run over goes on from what is saved.
func (l *loop) update(ctx context.Context, fn func(tx *thread.Tx) error) error {
	return l.transact(ctx, l.s.update, fn)
}

// commit is update for a transition that adds to the stream, or places entries in it.
func (l *loop) commit(ctx context.Context, fn func(tx *thread.Tx) error) error {
	l.events.EndBlock(ctx)
	return l.transact(ctx, l.s.commit, fn)
}

func (l *loop) transact(ctx context.Context, by func(context.Context, func(*thread.Tx) error) error, fn func(tx *thread.Tx) error) error {
	var run spool.Run
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
func (l *loop) isAt(run spool.Run) bool {
	return run.Steps == l.run.Steps && run.Saved == l.run.Saved && (run.Draft == nil) == (l.run.Draft == nil)
}
