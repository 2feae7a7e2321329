package loop

import (
	"cmp"
	"context"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/active"
	"github.com/spoolhq/spool/engine/internal/history"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// schemaOf returns the schema of the run's answer. Nil: any text.
func schemaOf(run *active.Run) *spool.OutputSchema { return run.Agent().OutputOf(run.Row()) }

// rejected reports whether the answer of the run's last step did not fit the schema, so that the model has to
// answer again. An empty answer is no message: the run's last message can be an earlier part of the answer.
func (l *Loop) rejected() bool {
	o := l.run.Row().Output
	return o != nil && o.Problem != "" && o.RejectedStep == l.run.Row().Steps && schemaOf(l.run) != nil
}

// checkOutput checks the run's final answer in the transaction that saves it, and stores the value. It
// returns how the run ends. An ending without a state means that the model is asked once more. The attempt
// is stored, so that a worker that takes the run over does not repeat it.
func (l *Loop) checkOutput(tx *thread.Tx, ending store.Ending, answer []spool.Message) (store.Ending, error) {
	if l.run.Agent().OutputOf(tx.Run) == nil {
		return ending, nil
	}
	text, id := "", spool.MessageID("")
	if len(answer) > 0 {
		text, id = answer[0].Text(), answer[0].ID
	}
	var o store.RunOutput
	if tx.Run.Output != nil {
		o = *tx.Run.Output
	}
	tx.Run.Output = &o
	value, err := l.run.Agent().CheckOutput(tx.Run, text)
	switch {
	case err == nil:
		o.Value = value
		if ending.Reason == wire.StopEmpty || ending.Reason == wire.StopUnknown { // the value is whole
			ending.Reason = wire.StopCompleted
		}
		return ending, nil
	// a budget is used up
	case !slices.Contains([]wire.StopReason{wire.StopCompleted, wire.StopEmpty, wire.StopUnknown, wire.StopMaxSteps},
		ending.Reason):
		return ending, nil
	case o.Problem == "" && tx.Run.Steps < l.run.MaxSteps():
		o.Problem, o.Rejected, o.RejectedStep = spool.MessageOf(err), id, tx.Run.Steps
		return store.Ending{}, l.noteRejected(tx, o.Problem, true)
	default:
		ending = store.Ending{
			State: wire.Failed, Reason: wire.StopOutput, Error: "the answer does not fit its schema: " + spool.MessageOf(err),
		}
		return ending, l.noteRejected(tx, spool.MessageOf(err), false)
	}
}

// noteRejected adds the entry about an answer that does not fit.
func (l *Loop) noteRejected(tx *thread.Tx, problem string, again bool) error {
	return tx.Append(wire.NewEntry(wire.EntryOutputRejected, tx.Root().Run.ID, wire.OutputRejected{
		AgentID: record.AgentOf(tx.Run), Step: tx.Run.Steps, Problem: problem, Repair: again,
	}))
}

// finishAnswered ends a run whose last answer is saved. It returns false if the model is asked once more.
func (l *Loop) finishAnswered(ctx context.Context, last spool.Message) (bool, error) {
	completed := store.Ending{State: wire.Completed, Reason: wire.StopCompleted}
	if schemaOf(l.run) == nil {
		return true, l.finish(ctx, completed)
	}
	if err := l.run.Revive(ctx); err != nil {
		return true, err
	}
	again := false
	err := l.run.Commit(ctx, func(tx *thread.Tx) error {
		again = false
		if tx.Stopping() {
			return l.run.Finish(tx, thread.Cancelled)
		}
		ending, err := l.checkOutput(tx, completed, []spool.Message{last})
		if again = ending.State == ""; again || err != nil {
			return cmp.Or(err, tx.Put())
		}
		return l.run.Finish(tx, ending)
	})
	return !again, err
}

// withRepair returns the messages with the prompt of a repair behind the answer that did not fit and the results of
// its calls. No client sees this prompt as a message.
func (a *asker) withRepair(messages []spool.Message) ([]spool.Message, history.Weight) {
	o := a.run.Row().Output
	if o == nil || o.Problem == "" || schemaOf(a.run) == nil {
		return messages, history.Weight{}
	}
	repair := spool.Message{Role: spool.RoleUser, Content: spool.TextContent(
		"Your answer is not a JSON value that fits the schema \"" + schemaOf(a.run).Name + "\": " + o.Problem +
			". Answer again, with the corrected value alone.",
	)}
	at := 1 + slices.IndexFunc(messages, func(m spool.Message) bool { return m.ID != "" && m.ID == o.Rejected })
	if at == 0 {
		at = len(messages)
	}
	for at < len(messages) && messages[at].Role == spool.RoleTool {
		at++
	}
	return slices.Insert(slices.Clip(messages), at, repair),
		history.Weigh(spool.ModelRequest{Messages: []spool.Message{repair}})
}
