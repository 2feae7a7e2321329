package agui

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/spoolhq/spool"
)

// finished ends the run for the viewer, and closes everything that is open in it.
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

// finishedWith ends a completed run that has a JSON value, or nil.
func (t *Translator) finishedWith(output json.RawMessage, state ThreadState, usage *spool.TokenCount) []Event {
	events := t.finished(state, Outcome{Type: OutcomeSuccess}, usage)
	if end, ok := events[len(events)-1].(RunFinished); ok && end.Result != nil {
		end.Result.Output = output
	}
	return events
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

// counts returns the usage as a list with one element, or an empty list if nothing was counted.
func counts(usage *spool.TokenCount) []spool.TokenCount {
	if usage == nil || *usage == (spool.TokenCount{}) {
		return nil
	}
	return []spool.TokenCount{*usage}
}

// ended ends the run as its record says, if the run is over for the viewer and the client has seen all of it.
func (t *Translator) ended(r spool.Run) []Event {
	switch {
	case !r.State.Terminal() || r.Segments > t.segment:
		return nil
	case t.o.Connect && !t.began: // the run was over before; its state says how it ended
		return t.finished(threadState(r), Outcome{Type: OutcomeSuccess}, &r.TokenCount)
	case r.State == spool.Failed:
		return t.failed(threadState(r), &r.TokenCount)
	case r.State == spool.Cancelled:
		return t.finished(threadState(r), Outcome{Type: OutcomeCancelled}, &r.TokenCount)
	default:
		return t.finished(threadState(r), Outcome{Type: OutcomeSuccess}, &r.TokenCount)
	}
}

// parked ends the run with the interrupts that it waits for. A run without interrupts continues.
func (t *Translator) parked() []Event {
	if len(t.parks) == 0 {
		return nil
	}
	state, outcome := ThreadState{State: spool.WaitingForInput, RunID: t.run}, Outcome{Type: OutcomeInterrupt, Interrupts: t.parks.interrupts()}
	if len(outcome.Interrupts) == 0 { // only calls of the client's tools wait
		outcome = Outcome{Type: OutcomeSuccess}
	}
	events := append(t.step.abort(), t.parks.nestedCalls()...)
	events = append(events, t.finished(state, outcome, nil)...)
	t.asked = true
	return events
}

// finishClientTool is the finish reason of a run that waits for the client to execute its tools.
const finishClientTool spool.StopReason = spool.ParkClientTool

// endsUnrecorded reports whether the run may have ended without an entry in the record: a run that is stopped
// or fails between two segments has none.
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

// CodeServerGone is the code of the error that ends a stream because the server shuts down. The run
// continues.
const CodeServerGone = "server_shutdown"

// Codes of errors that end a stream while its run continues: see [Cut].
const (
	CodeCredentialsGone = "credentials_over"
	CodeThreadGone      = "not_found"
	CodeStreamBroken    = "internal"
)

// Cut returns the last event of a stream that err ends before its run has ended. Without that event, a client
// would take the stream for complete. It may be the first event too.
func Cut(err error) Event {
	switch {
	case spool.CodeOf(err) == spool.NotFound: // the thread was deleted, or now belongs to another caller
		return RunError{Message: "Thread not found", Code: CodeThreadGone}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return RunError{Message: "The credentials of this request are over. The run goes on: connect again with new ones to see the rest.", Code: CodeCredentialsGone}
	default:
		return RunError{Message: "The stream has failed. The run goes on: connect again to see the rest.", Code: CodeStreamBroken}
	}
}

// Left returns the event that ends the stream of a run because the server shuts down while the run continues.
// Without it, a client would take the stream for complete. The translator is done after it.
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
