package loop

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/active"
	"github.com/spoolhq/spool/engine/internal/calls"
	"github.com/spoolhq/spool/engine/internal/chat"
	"github.com/spoolhq/spool/engine/internal/history"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// modelFailure is a question that its model did not answer.
type modelFailure struct {
	turn  chat.Turn
	err   error // nil: the model refused to answer
	cause spool.FallbackCause
	text  string // for clients
}

// failureOf returns the failure of a model, or nil for an answer and for an error that another model does not mend.
func failureOf(ctx context.Context, t chat.Turn, err error) *modelFailure {
	switch {
	case err == nil && t.Reason == spool.FinishFilter:
		return &modelFailure{turn: t, cause: spool.FallbackRefused, text: "model: it refused to answer"}
	case err == nil, ctx.Err() != nil, active.IsStoreError(err):
		return nil
	}
	f := &modelFailure{turn: t, err: err, cause: spool.FallbackCauseOf(err), text: failureText(err)}
	if cut, ok := errors.AsType[*chat.CutOffError](err); ok {
		f.turn = cut.Turn
		return f
	}
	if _, refused := errors.AsType[*spool.ModelError](err); refused { // the ledger already has the attempt
		return f
	}
	return nil
}

// movesOn reports whether the run goes on with another model after a failure, if it has one.
func (a *asker) movesOn(run store.RunRow, f *modelFailure) bool {
	if f == nil || !slices.Contains(a.run.Agent().FallbackOn, f.cause) {
		return false
	}
	attempts := a.run.Agent().FallbackAfter
	if run.Resume != nil {
		attempts = max(attempts, 2) // the same answer can be asked for again, and is not paid for twice
	}
	return f.cause == spool.FallbackRefused || failedAttempts(run)+1 >= attempts
}

// failedAttempts returns how often in a row the model in use has failed.
func failedAttempts(run store.RunRow) int {
	if run.Fallback == nil {
		return 0
	}
	return run.Fallback.Attempts
}

// askModels asks the run's model for the next turn. If the model fails, askModels asks the next one of the agent.
// If clients have seen a part of the failed answer, the segment ends in between: clients drop what the messages do
// not have when a segment ends. Done then reports that this segment has nothing left to do.
func (a *asker) askModels(ctx context.Context, past *history.Messages) (t chat.Turn, done bool, err error) {
	for {
		t, err = a.askSpeaking(ctx, past)
		f := failureOf(ctx, t, err)
		if !a.movesOn(a.run.Row(), f) {
			return t, false, err
		}
		name, model := a.run.Host().Registry.After(a.run.Agent(), a.run.Row())
		if model == nil {
			return t, false, err
		}
		shown := f.turn.Seen()
		switch moved := a.moveOn(ctx, f, name, shown); {
		case errors.Is(moved, active.ErrStopped): // the stop came between two polls
			return t, false, err
		case moved != nil:
			return chat.Turn{}, false, moved
		}
		a.model = model
		switch {
		case shown && a.run.Nested():
			return chat.Turn{}, false, &calls.AttemptError{
				Err: &spool.ModelError{Message: strings.TrimPrefix(f.text, "model: ")},
			}
		case shown:
			return chat.Turn{}, true, nil
		}
	}
}

// moveOn makes the move to another model durable. With reset, it ends the segment of a dispatched run.
func (a *asker) moveOn(ctx context.Context, f *modelFailure, to string, reset bool) error {
	moved := wire.ModelFallback{
		AgentID: record.AgentOf(a.run.Row()), Step: a.run.Row().Steps + 1, From: a.run.Row().ModelInUse(), To: to,
		Cause: f.cause, Error: f.text,
	}
	a.run.Log().WarnContext(ctx, "the model failed, the run goes on with another one",
		"step", moved.Step, "model", moved.From, "fallback", to, "cause", string(f.cause), "error", f.err)
	a.run.Host().Telemetry.Fallback(ctx, moved)
	return a.run.Commit(ctx, func(tx *thread.Tx) error {
		if tx.Stopping() {
			return active.ErrStopped
		}
		if err := f.charge(tx); err != nil {
			return err
		}
		tx.Run.Fallback = &store.RunFallback{Model: to, Failed: failedModels(tx.Run, f.text, f.final())}
		if err := tx.Append(wire.NewEntry(wire.EntryModelFallback, tx.Root().Run.ID, moved)); err != nil {
			return err
		}
		if reset && !a.run.Nested() {
			return thread.RetryLater(tx, 0, f.text)
		}
		return tx.Put()
	})
}

// charge writes what the failed answer used to the ledger.
func (f *modelFailure) charge(tx *thread.Tx) error {
	if f.err != nil {
		return chargeCutOff(tx, f.err, wire.OutcomeError, false)
	}
	tx.Add(f.turn.Usage.Count())
	return f.turn.Charge(tx, wire.OutcomeError)
}

// final reports whether the same request to the model would fail again.
func (f *modelFailure) final() bool { return f.err == nil || permanent(f.err) }

// failedModels returns the models that have failed in the step, the present one included.
func failedModels(run store.RunRow, text string, final bool) []store.ModelFailure {
	var before []store.ModelFailure
	if run.Fallback != nil {
		before = run.Fallback.Failed
	}
	return append(slices.Clip(before), store.ModelFailure{Model: run.ModelInUse(), Error: text, Final: final})
}

// attempt is what follows from a failed attempt of a step.
type attempt struct {
	// again is true if the run has another attempt. Else it fails.
	again bool
	// atOnce is true if the attempt does not wait.
	atOnce bool
	// counted is how many attempts the run has had then, and number how many count for the delay.
	counted, number int
	reason          string // for clients
	fallback        *store.RunFallback
}

// failedAttempt returns what follows from a failed attempt. A run whose models have all failed begins with its own
// model again, unless all have failed for good.
func (l *Loop) failedAttempt(ctx context.Context, run store.RunRow, cause error) attempt {
	most, f := l.run.Host().Rules.Retry.Attempts, failureOf(ctx, chat.Turn{}, cause)
	a := attempt{counted: run.Attempts + 1, reason: failureText(cause), fallback: run.Fallback}
	if nested, ok := errors.AsType[*calls.AttemptError](cause); ok { // the nested run has counted the attempt
		a.again, a.atOnce, a.counted, a.number = true, nested.Attempts == 0, run.Attempts, nested.Attempts
		return a
	}
	a.number = a.counted
	if f == nil || l.run.Agent() == nil || len(l.run.Agent().Fallbacks) == 0 {
		a.again = !permanent(cause) && a.counted < most
		return a
	}
	if _, next := l.run.Host().Registry.After(l.run.Agent(), run); next != nil &&
		slices.Contains(l.run.Agent().FallbackOn, f.cause) {
		same := store.RunFallback{}
		if run.Fallback != nil {
			same = *run.Fallback
		}
		same.Attempts++
		return attempt{again: true, counted: run.Attempts, number: same.Attempts, reason: a.reason, fallback: &same}
	}
	failed := failedModels(run, a.reason, f.final())
	a.again = a.counted < most && slices.ContainsFunc(failed, func(m store.ModelFailure) bool { return !m.Final })
	if a.again {
		a.fallback = nil
	}
	if len(failed) > 1 {
		a.reason = "all models failed: " + describeFailures(failed)
	}
	return a
}

func describeFailures(failed []store.ModelFailure) string {
	texts := make([]string, 0, len(failed))
	for _, m := range failed {
		texts = append(texts, m.Model+": "+strings.TrimPrefix(m.Error, "model: "))
	}
	return strings.Join(texts, "; ")
}
