// Package loop executes a run step by step: it asks a model, lets package calls make the calls of the answer, and hands
// over, parks or ends the run. A nested run has a loop of its own. Package active draws the rooms above and below.
package loop

import (
	"context"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/active"
	"github.com/spoolhq/spool/engine/internal/attach"
	"github.com/spoolhq/spool/engine/internal/calls"
	"github.com/spoolhq/spool/engine/internal/chat"
	"github.com/spoolhq/spool/engine/internal/compact"
	"github.com/spoolhq/spool/engine/internal/history"
	"github.com/spoolhq/spool/internal/chanlock"
)

// Models is what a loop needs to ask models.
type Models struct {
	Chat        *chat.Client
	Compactor   *compact.Compactor
	Attachments *attach.Files
}

// Segment is what the loop of a dispatched run asks of the segment that executes it.
type Segment interface {
	// Settle calls the settle hook of a run that has ended, if it needs it, and writes the end state.
	Settle(ctx context.Context) error
	// YieldSlot hands the run back if another tenant is entitled to its slot, and reports whether it did.
	YieldSlot(ctx context.Context) (bool, error)
}

// Loop executes one run with its agent: it asks the model, makes the calls of tools in the model's answer,
// saves the step, and asks again. A segment has one loop for the dispatched run and one, in a
// goroutine of its own, for each active nested run.
type Loop struct {
	run     *active.Run
	calls   *calls.Calls
	asker   asker
	segment Segment
	tree    *tree
	// nested are the loops of nested runs in this segment, by the calls of the current step.
	nested map[*calls.Call]*Loop
	// stepped is true once this segment has saved a step.
	stepped bool
}

// asker asks the models of a run.
type asker struct {
	run    *active.Run
	models Models

	model  spool.Model
	images attach.Fetched
	// dropped are the files that the record has as not given to a model by this run. Nil: nobody has read it yet.
	dropped map[droppedKey]bool
	around  history.Around
	failed  int64 // the prompt's tokens when a summary last failed; 0 if none failed
	final   bool  // the run has had all its steps, and is asked for an answer
	// known are the messages of the thread, if the start of the run has created it. Nil: they have to be read.
	known []spool.Message
}

// New returns the loop of a dispatched run.
func New(m Models, segment Segment, run *active.Run) *Loop {
	model := run.Host().Registry.Model(run.Row().ModelInUse(), run.Agent())
	return newLoop(m, segment, &tree{begins: chanlock.New()}, run, model)
}

func newLoop(m Models, segment Segment, t *tree, run *active.Run, model spool.Model) *Loop {
	return &Loop{
		run: run, calls: calls.New(run), segment: segment, tree: t, nested: make(map[*calls.Call]*Loop),
		asker: asker{run: run, models: m, model: model, images: make(attach.Fetched)},
	}
}

// UseMessages gives the loop the messages of the thread, so that it does not read them.
func (l *Loop) UseMessages(messages []spool.Message) { l.asker.known = messages }

// Run returns the run of the loop.
func (l *Loop) Run() *active.Run { return l.run }

// Advance executes the run step by step. It begins at the last saved state: the results of answered
// parks, an interrupted step, or the next question to the model. It returns nil once the run has ended
// or parked.
func (l *Loop) Advance(ctx context.Context) (err error) {
	ctx, span := l.run.Host().Telemetry.Agent(ctx, l.run.Row().Run)
	defer func() { span.Done(ctx, l.run.Row().Run, errors.Is(context.Cause(ctx), active.ErrStopped), err) }()
	past, err := l.asker.history(ctx)
	if err != nil {
		return err
	}
	done, err := first(ctx, past, l.afterBudgetAnswer, l.offerTools, l.resumeCalls(l.calls.PlanWaited),
		l.resumeCalls(l.calls.PlanDraft))
	for !done && err == nil {
		done, err = first(ctx, past, l.handOver, l.finishIfDone, l.finishIfStorageFull, l.yieldSlot, l.readSteers, l.step)
	}
	if err != nil {
		return err
	}
	return l.settle(ctx)
}

// phase is a part of a run's way. It adds the messages that it saves to those of the past, and reports whether the run
// has ended or parked, or goes on in another segment.
type phase func(ctx context.Context, past *history.Messages) (done bool, err error)

// first executes the phases in turn, until one of them is done or fails.
func first(ctx context.Context, past *history.Messages, phases ...phase) (done bool, err error) {
	for _, execute := range phases {
		if done, err = execute(ctx, past); done || err != nil {
			return done, err
		}
	}
	return false, nil
}

// settle settles a dispatched run that has ended.
func (l *Loop) settle(ctx context.Context) error {
	if l.run.Nested() {
		return nil
	}
	return l.segment.Settle(ctx)
}

// yieldSlot gives the worker's slot to another tenant that is entitled to it. A segment first saves at least one step.
// A nested run keeps the slot, because the dispatched run is inside a step.
func (l *Loop) yieldSlot(ctx context.Context, _ *history.Messages) (bool, error) {
	if !l.stepped || l.run.Nested() {
		return false, nil
	}
	return l.segment.YieldSlot(ctx)
}

// offerTools gives the agent the tools that depend on the state of the thread.
func (l *Loop) offerTools(context.Context, *history.Messages) (bool, error) {
	l.calls.OfferArtifacts()
	l.offerTransfer()
	return false, nil
}

// resumeCalls returns the phase that makes the calls of an earlier segment, if there are any. Plan plans the calls, and
// reports whether there are any.
func (l *Loop) resumeCalls(plan func(context.Context) (bool, error)) phase {
	return func(ctx context.Context, past *history.Messages) (bool, error) {
		planned, err := plan(ctx)
		switch {
		case err != nil:
			return false, err
		case planned:
			return l.act(ctx, past)
		case l.calls.Open() && l.run.Row().Draft == nil:
			return true, l.calls.ParkAgain(ctx)
		}
		return false, nil
	}
}

// act makes the planned calls and saves the step.
func (l *Loop) act(ctx context.Context, past *history.Messages) (done bool, err error) {
	clear(l.nested)
	saved, done, err := l.calls.Act(ctx, l.delegate)
	if !done && err == nil {
		past.Add(saved...)
		l.stepped = true
	}
	return done, err
}
