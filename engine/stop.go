package engine

import (
	"context"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
)

// StopResult is the answer to a stop. A refusal is not an error.
type StopResult struct {
	Accepted bool `json:"accepted"`
	// Reason is one of the constants named Reason, empty for an accepted stop.
	Reason string `json:"reason,omitempty"`
	Error  string `json:"error,omitempty"`
}

// Stop stops the thread: its run, and all those that wait for it. An accepted stop is
// durable: the run ends as CANCELLED even if its last step is being saved at the moment,
// and no tool is called any more. A run that no worker holds is over when Stop returns,
// unless its worker died while tools ran: the next worker then saves what they did, and
// ends it. A worker that holds the run is told, and cancels its model and tool calls.
// Stopping a run that is being stopped is accepted again.
func (e *Engine) Stop(ctx context.Context, key spool.ThreadKey) (StopResult, error) {
	return e.stop(ctx, key, "")
}

// StopRun stops one run of the thread: the one that has it, as [Engine.Stop] does, after
// which the next one goes on; or one that waits, which then never begins.
func (e *Engine) StopRun(ctx context.Context, key spool.ThreadKey, run spool.RunID) (StopResult, error) {
	if err := spool.CheckID("runId", string(run)); err != nil {
		return StopResult{}, err
	}
	return e.stop(ctx, key, run)
}

func (e *Engine) stop(ctx context.Context, key spool.ThreadKey, only spool.RunID) (StopResult, error) {
	var state spool.State
	var after halted
	err := e.change(ctx, key, func(h *held) (err error) {
		state, after = h.thread.State, halted{}
		if only != "" && only != h.run.ID {
			state, err = e.stopWaiting(h, only)
			return err
		}
		stopped, left := h.run, 0
		if only == "" {
			if left, err = e.stopAllWaiting(h); err != nil {
				return err
			}
		}
		if h.run.Ending != nil && h.run.Ending.State != spool.Cancelled { // its end is decided
			state = h.run.Ending.State
		}
		after, err = e.halt(h)
		switch {
		case err == nil:
			h.noteStop(stopped, "")
		case left > 0 && errors.Is(err, errUnchanged): // only those that wait were stopped
			return nil
		}
		return err
	})
	switch {
	case errors.Is(err, errUnchanged), missing(err):
		if state == "" {
			state = "unknown"
		}
		what := "thread"
		if only != "" {
			what = "run"
		}
		return StopResult{Reason: ReasonNotActive, Error: "Cannot stop " + what + " in state " + string(state)}, nil
	case err != nil:
		return StopResult{}, err
	}
	if !after.told {
		e.bus.Wake(spool.JobsTopic, spool.WakeJobs)
	}
	if err := e.halted(ctx, key, after); err != nil {
		return StopResult{}, err
	}
	return StopResult{Accepted: true}, nil
}

// stopWaiting ends one run that waits. It returns the state of one that does not.
func (e *Engine) stopWaiting(h *held, id spool.RunID) (spool.State, error) {
	run, err := h.Run(id)
	switch {
	case err != nil:
		return "", err
	case run.Place == 0:
		return run.State, errUnchanged
	}
	return run.State, e.stopOneWaiting(h, run)
}

// stopAllWaiting ends all runs that wait, and returns how many those were.
func (e *Engine) stopAllWaiting(h *held) (int, error) {
	line, err := h.Waiting()
	if err != nil {
		return 0, err
	}
	for _, run := range line {
		if err := e.stopOneWaiting(h, run); err != nil {
			return 0, err
		}
	}
	return len(line), nil
}

func (e *Engine) stopOneWaiting(h *held, run spool.Run) error {
	h.noteStop(run, "")
	return e.leave(h, run, spool.Ending{State: spool.Cancelled, Reason: spool.StopCancelled})
}

// halted is what has to follow the transaction of a [Engine.halt].
type halted struct {
	// told is true where a worker holds the run, and has to be woken.
	told bool
	// rest is the segment that has still to settle. Nil: none.
	rest *segment
	// lost is the stream that a dead worker has left open. Nil: none.
	lost *lostStream
}

// halt is the transition of a stop, for the run that has the thread. It returns
// errUnchanged where there is none, or where its end is decided otherwise.
func (e *Engine) halt(h *held) (after halted, err error) {
	state := h.thread.State
	inHand, err := h.inHand()
	switch {
	case err != nil:
		return after, err
	case !state.Active(), h.run.Ending != nil && h.run.Ending.State != spool.Cancelled:
		return after, errUnchanged
	case h.thread.Leased(h.now):
		after.told = true
		if h.run.StopAt.IsZero() {
			h.run.StopAt = h.now
		}
		return after, h.UpdateRun(h.run)
	case h.run.Ending != nil: // whoever stopped it has died before it was settled
		after.rest, err = e.settleUnheld(h)
		return after, err
	case state == spool.Running && inHand: // what its tools have done is worth a segment
		h.run.StopAt = h.now
		if err := h.Enqueue(h.ticket(spool.JobReclaim, 0)); err != nil {
			return after, err
		}
		return after, h.save()
	case state == spool.Running:
		if after.lost, err = h.loseSegment(workerDied); err != nil {
			return after, err
		}
	}
	h.run.StopAt = h.now
	after.rest, err = e.endUnheld(h, spool.Ending{State: spool.Cancelled, Reason: spool.StopCancelled})
	return after, err
}

// halted tells the worker of a run that was stopped, or does what is left of its end.
func (e *Engine) halted(ctx context.Context, key spool.ThreadKey, after halted) error {
	if after.told {
		e.bus.Wake(key, spool.WakeStop)
	}
	e.closeLost(ctx, key, after.lost)
	if after.rest == nil {
		return nil
	}
	err := after.rest.settle(ctx)
	if spool.CodeOf(err) == spool.Fenced { // then somebody else settles it
		return nil
	}
	return err
}

// endUnheld ends a run that no worker holds, as stopped if that was asked for. With a
// settle hook it takes the lease instead, and returns the segment that has still to settle.
func (e *Engine) endUnheld(h *held, ending spool.Ending) (*segment, error) {
	if !h.run.StopAt.IsZero() {
		ending = spool.Ending{State: spool.Cancelled, Reason: spool.StopCancelled}
	}
	if e.config.OnSettle == nil {
		return nil, e.end(h, ending)
	}
	h.forgetStep()
	ending.Closed = true
	h.run.Ending = &ending
	if err := h.Enqueue(h.ticket(spool.JobReclaim, e.config.Lease)); err != nil {
		return nil, err
	}
	return e.settleUnheld(h)
}

// settleUnheld takes the lease of a run that has ended but for its settle hook, and
// returns the segment that has still to settle.
func (e *Engine) settleUnheld(h *held) (*segment, error) {
	saved, err := record.SavedOf(h, h.run)
	if err != nil {
		return nil, err
	}
	h.lease(e.config.Lease)
	s := e.newSegment(h)
	s.writer.Inherit(saved.Last())
	return s, h.save()
}

// stopped ends a run whose stop was noticed. What the model had said, and what the tools had
// answered, is kept.
func (l *loop) stopped(ctx context.Context, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	l.events.EndBlock(ctx)
	if l.plan == nil { // what a worker before this one had in hand
		resume := l.planLanding
		if l.run.Draft != nil {
			resume = l.planDraft
		}
		if _, err := resume(ctx); err != nil {
			return err
		}
	}
	if l.plan != nil {
		if err := l.stopNested(ctx); err != nil {
			return err
		}
		_, _, err := l.saveCalls(ctx) // those that have not answered are cancelled
		return err
	}
	ending := spool.Ending{State: spool.Cancelled, Reason: spool.StopCancelled}
	var cut *cutOffError
	if !errors.As(cause, &cut) {
		return l.conclude(ctx, ending)
	}
	err := l.commit(ctx, func(h *held) error {
		if err := cut.turn.charge(h, spool.OutcomeAborted); err != nil {
			return err
		}
		if _, err := h.saveCut(cut.turn); err != nil {
			return err
		}
		return l.conclusion(h, ending)
	})
	if err != nil {
		return err
	}
	return l.concluded(ctx)
}

// saveCut saves what came of an answer that was cut off, as far as it can stand as a message.
func (h *held) saveCut(t turn) (saved bool, err error) {
	if t.message.Content = spoken(t.message.Content); len(t.message.Content) == 0 {
		h.add(t.usage.Count())
		return false, nil
	}
	_, err = h.saveStep(t.message, nil, t.usage.Count(), record.StepStopped)
	return true, err
}

// spoken returns what of a cut answer can stand as a message: its text and reasoning, if
// there is any text.
func spoken(content spool.Content) spool.Content {
	var out spool.Content
	text := false
	for _, p := range content {
		if p.Type == spool.PartText || p.Type == spool.PartReasoning {
			out = append(out, p)
			text = text || p.Type == spool.PartText
		}
	}
	if !text {
		return nil
	}
	return out
}
