package thread

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// SaveStep saves a whole step: the assistant's turn and the results of its tools. From then on, the
// messages contain everything up to this point of the stream, and STEP_FINISHED tells clients so.
// SaveStep returns the messages.
func SaveStep(tx *Tx, content, results spool.Content, usage spool.TokenCount, reason string) ([]spool.Message, error) {
	tx.Run.Steps++
	return SaveAnswer(tx, content, results, usage, reason)
}

// SaveAnswer does the same as SaveStep for an answer that is no step of its own: the one behind the last step.
func SaveAnswer(
	tx *Tx, content, results spool.Content, usage spool.TokenCount, reason string,
) ([]spool.Message, error) {
	messages := make([]*spool.Message, 0, 2)
	if len(content) > 0 {
		messages = append(messages, tx.Message(spool.RoleAssistant, content))
	}
	if len(results) > 0 {
		messages = append(messages, tx.Message(spool.RoleTool, results))
	}
	if err := tx.Write(store.Changes{Messages: messages}); err != nil {
		return nil, err
	}
	tx.Run.Draft, tx.Run.Paused = nil, reason == string(spool.FinishPause)
	stepFinished(tx, reason, usage)
	if a := tx.Run.Allowance; tx.root != nil {
		tx.Run.Allowance = nil
	} else if a != nil {
		a.Cut = false
	}
	tx.Add(usage)
	saved := make([]spool.Message, len(messages))
	for i, m := range messages {
		saved[i] = *m
	}
	return saved, nil
}

// SaveResults adds the results of calls that have waited. They belong to the step that made the calls.
func SaveResults(tx *Tx, results spool.Content) ([]spool.Message, error) {
	stepFinished(tx, string(spool.FinishToolCalls), spool.TokenCount{})
	if len(results) == 0 {
		return nil, nil
	}
	m := tx.Message(spool.RoleTool, results)
	err := tx.Write(store.Changes{Messages: []*spool.Message{m}})
	return []spool.Message{*m}, err
}

// stepFinished notes that the messages contain everything up to this point of the stream.
func stepFinished(tx *Tx, reason string, usage spool.TokenCount) {
	tx.Run.Saved = tx.list.Last()
	tx.Item(wire.ItemStepFinished, wire.StepFinished{
		AgentID: record.AgentOf(tx.Run), Step: tx.Run.Steps, FinishReason: reason, Usage: usage,
	})
	progressed(tx)
}

// progressed notes that a run has saved something. If the run is nested, the dispatched run has
// progressed too.
func progressed(tx *Tx) {
	tx.Run.Attempts, tx.Run.Deaths = 0, 0
	if f := tx.Run.Fallback; f != nil { // the run stays with the model that has answered
		if tx.Run.Fallback = nil; f.Model != "" {
			tx.Run.Fallback = &store.RunFallback{Model: f.Model}
		}
	}
	root := tx.Root()
	root.Run.Isolated, root.Run.IsolatedDeaths = false, 0
	if tx.root != nil {
		tx.root.Run.Deaths, tx.Run.Segments = 0, tx.root.Run.Segments
	}
}

// NoteCut notes that a limit cut off the last answer, so that this answer does not end the run. A
// nested run has no budget of its own and keeps only the flag. A dispatched run without a budget was
// cut off by the time limit. It needs no flag, because the next worker checks that limit anyway.
func NoteCut(tx *Tx) {
	if tx.Run.Allowance == nil {
		if tx.root == nil {
			return
		}
		tx.Run.Allowance = &wire.Allowance{}
	}
	tx.Run.Allowance.Cut = true
}

// dropDraft drops the draft of a step. Its usage stays counted.
func (tx *Tx) dropDraft() {
	if d := tx.Run.Draft; d != nil {
		tx.Add(d.Usage)
		tx.Run.Draft = nil
	}
}
