package agui

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/spoolhq/spool"
)

// finished ends the run for its viewer, with all that is open in it.
func (t *Translator) finished(state ThreadState, outcome Outcome, usage *spool.TokenCount) []Event {
	events := append(t.step.abort(), t.states.change(state)...)
	end := RunFinished{ThreadID: t.thread, RunID: t.runID(), Outcome: outcome, Usage: counts(usage)}
	switch {
	case outcome.Type != OutcomeSuccess:
	case state.State == spool.WaitingForInput:
		end.Result = &Result{FinishReason: finishClientTool}
	case state.StopReason != "":
		end.Result = &Result{FinishReason: state.StopReason}
	}
	t.close()
	return append(events, end)
}

// failed ends the run with an error.
func (t *Translator) failed(state ThreadState, usage *spool.TokenCount) []Event {
	events := append(t.step.abort(), t.states.change(state)...)
	t.close()
	return append(events, RunError{
		Message: cmp.Or(state.Error, "the run failed"), Code: string(state.StopReason), Usage: counts(usage),
	})
}

func (t *Translator) close() {
	t.open, t.inSegment, t.asked, t.end = false, false, false, nil
	t.done = t.o.RunID != ""
}

// counts returns the usage of one model. Nothing was used where nothing was counted.
func counts(usage *spool.TokenCount) []spool.TokenCount {
	if usage == nil || *usage == (spool.TokenCount{}) {
		return nil
	}
	return []spool.TokenCount{*usage}
}

// ended ends the run as its record says, if it is over for its viewer and the client has
// seen all of it.
func (t *Translator) ended(r spool.Run) []Event {
	switch {
	case !r.State.Terminal() || r.Segments > t.segment:
		return nil
	case t.o.Connect && !t.began: // it was over before, and its state says how
		return t.finished(threadState(r), Outcome{Type: OutcomeSuccess}, &r.TokenCount)
	case r.State == spool.Failed:
		return t.failed(threadState(r), &r.TokenCount)
	case r.State == spool.Cancelled:
		return t.finished(threadState(r), Outcome{Type: OutcomeCancelled}, &r.TokenCount)
	default:
		return t.finished(threadState(r), Outcome{Type: OutcomeSuccess}, &r.TokenCount)
	}
}

// parked ends the run with what it waits for. One that waits for nothing goes on.
func (t *Translator) parked() []Event {
	if len(t.parks) == 0 {
		return nil
	}
	state, outcome := ThreadState{State: spool.WaitingForInput, RunID: t.run}, Outcome{Type: OutcomeInterrupt, Interrupts: t.parks.interrupts()}
	if len(outcome.Interrupts) == 0 { // the client is to run what waits
		outcome = Outcome{Type: OutcomeSuccess}
	}
	events := append(t.step.abort(), t.parks.nestedCalls()...)
	events = append(events, t.finished(state, outcome, nil)...)
	t.asked = true
	return events
}

// finishClientTool is why a run ends for its viewer that waits for the client to run its tools.
const finishClientTool spool.StopReason = spool.ParkClientTool

// endsUnrecorded reports whether a run has an end that may have no entry in the record. A run
// that is stopped, or fails, between two segments has none.
func endsUnrecorded(s *spool.Snapshot, id spool.RunID) bool {
	r, ok := runOf(s, id)
	return ok && (r.State == spool.Cancelled || r.State == spool.Failed)
}

// runOf returns the record of a run.
func runOf(s *spool.Snapshot, id spool.RunID) (spool.Run, bool) {
	at := slices.IndexFunc(s.Runs, func(r spool.Run) bool { return r.ID == id })
	if at < 0 {
		return spool.Run{}, false
	}
	return s.Runs[at], true
}

// CodeServerGone is the code of the error that ends what a client sees of a run when the server
// goes, while the run goes on.
const CodeServerGone = "server_shutdown"

// Codes of the errors that end what a client sees of a run that goes on: see [Cut].
const (
	CodeCredentialsGone = "credentials_over"
	CodeThreadGone      = "not_found"
	CodeStreamBroken    = "internal"
)

// Cut returns the last event of a stream that err ends before its run: a stream that ended without
// one would pass for the whole. It may be the first event too.
func Cut(err error) Event {
	switch {
	case spool.CodeOf(err) == spool.NotFound: // it was deleted, or is not the caller's any more
		return RunError{Message: "Thread not found", Code: CodeThreadGone}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return RunError{Message: "The credentials of this request are over. The run goes on: connect again with new ones to see the rest.", Code: CodeCredentialsGone}
	default:
		return RunError{Message: "The stream has failed. The run goes on: connect again to see the rest.", Code: CodeStreamBroken}
	}
}

// Left ends what the client sees of a run that goes on without it, as the server goes: a stream
// that ended in the middle would pass for the whole. The translator is then done.
func (t *Translator) Left() []Event {
	if !t.open {
		return nil
	}
	events := t.step.abort()
	t.close()
	return append(events, RunError{
		Message: "The server is shutting down. The run goes on: connect again to see the rest.", Code: CodeServerGone,
	})
}
