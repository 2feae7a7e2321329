package agent

import (
	"cmp"
	"context"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/history"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// schema returns the schema of the run's answer. Nil: any text.
func (l *runState) schema() *spool.OutputSchema { return l.agent.OutputOf(l.run) }

// rejected reports whether the answer of the run's last step did not fit the schema, so that the model has to
// answer again. An empty answer is no message: the run's last message can be an earlier part of the answer.
func (l *runState) rejected() bool {
	o := l.run.Output
	return o != nil && o.Problem != "" && o.RejectedStep == l.run.Steps && l.schema() != nil
}

// checkOutput checks the run's final answer in the transaction that saves it, and stores the value. It
// returns how the run ends. An ending without a state means that the model is asked once more. The attempt
// is stored, so that a worker that takes the run over does not repeat it.
func (l *runState) checkOutput(tx *thread.Tx, ending store.Ending, answer []spool.Message) (store.Ending, error) {
	if l.agent.OutputOf(tx.Run) == nil {
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
	value, err := l.agent.CheckOutput(tx.Run, text)
	switch {
	case err == nil:
		o.Value = value
		if ending.Reason == wire.StopEmpty || ending.Reason == wire.StopUnknown { // the value is whole
			ending.Reason = wire.StopCompleted
		}
		return ending, nil
	case !slices.Contains([]wire.StopReason{wire.StopCompleted, wire.StopEmpty, wire.StopUnknown, wire.StopMaxSteps}, ending.Reason): // a budget is used up
		return ending, nil
	case o.Problem == "" && tx.Run.Steps < l.maxSteps():
		o.Problem, o.Rejected, o.RejectedStep = spool.MessageOf(err), id, tx.Run.Steps
		return store.Ending{}, l.noteRejected(tx, o.Problem, true)
	default:
		ending = store.Ending{State: wire.Failed, Reason: wire.StopOutput, Error: "the answer does not fit its schema: " + spool.MessageOf(err)}
		return ending, l.noteRejected(tx, spool.MessageOf(err), false)
	}
}

// noteRejected adds the entry about an answer that does not fit.
func (l *runState) noteRejected(tx *thread.Tx, problem string, again bool) error {
	var agent *spool.AgentID
	if id := tx.Run.AgentID(); id != "" {
		agent = &id
	}
	return tx.Append(wire.NewEntry(wire.EntryOutputRejected, tx.Root().Run.ID, wire.OutputRejected{
		AgentID: agent, Step: tx.Run.Steps, Problem: problem, Repair: again,
	}))
}

// finishAnswered ends a run whose last answer is saved. It returns false if the model is asked once more.
func (l *loop) finishAnswered(ctx context.Context, last spool.Message) (bool, error) {
	completed := store.Ending{State: wire.Completed, Reason: wire.StopCompleted}
	if l.schema() == nil {
		return true, l.finish(ctx, completed)
	}
	if err := l.resume(ctx); err != nil {
		return true, err
	}
	again := false
	err := l.commit(ctx, func(tx *thread.Tx) error {
		again = false
		if tx.Stopping() {
			return l.finishIn(tx, store.Ending{State: wire.Cancelled, Reason: wire.StopCancelled})
		}
		ending, err := l.checkOutput(tx, completed, []spool.Message{last})
		if again = ending.State == ""; again || err != nil {
			return cmp.Or(err, tx.Put())
		}
		return l.finishIn(tx, ending)
	})
	if err != nil || again {
		return !again, err
	}
	return true, l.afterFinish(ctx)
}

// withRepair returns the messages with the prompt of a repair behind the answer that did not fit and the results of
// its calls. No client sees this prompt as a message.
func (l *asker) withRepair(messages []spool.Message) ([]spool.Message, history.Weight) {
	o := l.run.Output
	if o == nil || o.Problem == "" || l.schema() == nil {
		return messages, history.Weight{}
	}
	repair := spool.Message{Role: spool.RoleUser, Content: spool.TextContent(
		"Your answer is not a JSON value that fits the schema \"" + l.schema().Name + "\": " + o.Problem + ". Answer again, with the corrected value alone.",
	)}
	at := 1 + slices.IndexFunc(messages, func(m spool.Message) bool { return m.ID != "" && m.ID == o.Rejected })
	if at == 0 {
		at = len(messages)
	}
	for at < len(messages) && messages[at].Role == spool.RoleTool {
		at++
	}
	return slices.Insert(slices.Clip(messages), at, repair), history.Weigh(spool.ModelRequest{Messages: []spool.Message{repair}})
}
