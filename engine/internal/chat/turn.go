package chat

import (
	"errors"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/history"
	"github.com/spoolhq/spool/engine/internal/random"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/engine/internal/toolresult"
)

// Turn is one answer of the model, or the part of it that came.
type Turn struct {
	Message spool.Message
	Reason  spool.FinishReason
	Usage   spool.Usage
	modelID string
	receipt *spool.Cost // what the provider says that it cost
	// Capped is the budget that made the answer shorter than it could be. Empty: none.
	Capped spool.StopReason

	row spool.UsageRow // of the ledger, but for its outcome

	past     *history.Messages
	messages int             // how many there were when the model was asked
	newest   spool.MessageID // of them
	weight   history.Weight  // of the prompt
	run      spool.RunRow
	ids      map[spool.ToolCallID]*openCall // by the provider's ids
	calls    int                            // how many have begun
	gathered history.Gathered               // until the message has it
	random   random.Source
	bound    bound
}

// id returns the id of a call that the provider has named: one that is unique in its thread
// and fit for the wire, as some providers count from zero in each answer, or do not count.
func (t *Turn) uniqueID(id spool.ToolCallID) spool.ToolCallID {
	fit := t.past.Unlike(id, t.run)
	if spool.CheckID("toolCallId", string(fit)) != nil || len(fit) > spool.MaxIDLen-8 {
		fit = spool.ToolCallID(t.random.ID("call"))
	}
	fit += spool.ToolCallID(callSuffix(t.run))
	here := func(p spool.Part) bool { return p.ToolCallID == fit }
	if t.past.Has(fit) || slices.ContainsFunc(t.gathered.Parts, here) {
		fit = spool.ToolCallID(t.random.ID("call"))
	}
	return fit
}

// begin returns a call that begins, or that has begun before.
func (t *Turn) beginCall(id spool.ToolCallID, name string) *openCall {
	c := t.ids[id]
	if c == nil {
		c = &openCall{id: t.uniqueID(id), name: name, nth: t.calls}
		t.ids[id] = c
		t.calls++
	}
	return c
}

// Counted keeps in the run what its provider has counted of the prompt.
func (t *Turn) CountPrompt(tx *thread.Tx) {
	if t.Usage.Input == nil || *t.Usage.Input <= 0 {
		return
	}
	counts := t.Usage.Count()
	tx.Run.Context = &spool.ContextCount{
		Tokens: counts.InputTokens, Answer: counts.OutputTokens, Bytes: t.weight.Bytes, Images: t.weight.Images,
		Messages: t.messages, LastMessageID: t.newest,
	}
}

// CutOffError is the error of an answer that did not come to its end. It keeps what came.
type CutOffError struct {
	Turn Turn
	Err  error
}

func (c *CutOffError) Error() string { return c.Err.Error() }
func (c *CutOffError) Unwrap() error { return c.Err }

// Empty reports whether the model has come to the end of its answer without a word and without
// a call.
func (t *Turn) Empty() bool {
	if t.Reason == spool.FinishLength || t.Reason == spool.FinishFilter { // which say why
		return false
	}
	return !slices.ContainsFunc(t.Message.Content, func(p spool.Part) bool {
		return p.Type != spool.PartReasoning && (p.Type != spool.PartText || strings.TrimSpace(p.Text) != "")
	})
}

// Completion is how a run ends whose model has given its last answer.
func (t *Turn) Completion() spool.Ending {
	ending := spool.Ending{State: spool.Completed, Reason: spool.StopCompleted}
	switch {
	case t.Reason == spool.FinishLength:
		ending.Reason = spool.StopLength
	case t.Reason == spool.FinishFilter:
		ending.Reason = spool.StopFilter
	case t.Empty():
		ending.Reason = spool.StopEmpty
	}
	return ending
}

// Unrun returns the results of the turn's calls, none of which will run.
func (t *Turn) CancelledCalls() spool.Content {
	var results spool.Content
	for _, p := range t.Message.ToolCalls() {
		results = append(results, toolresult.Part(p.ToolCallID, p.ToolName, toolresult.Cancelled("the answer ended before its calls could run")))
	}
	return results
}

// Charge writes the turn's row, and counts it.
func (t *Turn) Charge(tx *thread.Tx, outcome spool.Outcome) error {
	row := t.row
	row.Outcome = outcome
	return tx.Charge(row)
}

// SaveCut saves what came of an answer that was cut off, as far as it can stand as a message.
func (t *Turn) SaveCut(tx *thread.Tx) (saved bool, err error) {
	content := Storable(t.Message.Content)
	if len(content) == 0 {
		tx.Add(t.Usage.Count())
		return false, nil
	}
	_, err = thread.SaveStep(tx, content, nil, t.Usage.Count(), record.StepStopped)
	return true, err
}

// Storable returns what of a cut answer can stand as a message: its text and reasoning, if
// there is any text.
func Storable(content spool.Content) spool.Content {
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

// callSuffix ends the ids of a nested run's calls, so that they differ from those of every
// other run of the tree: a person's answer names nothing but the call.
func callSuffix(run spool.RunRow) string {
	if run.RootID == "" {
		return ""
	}
	return "-" + string(run.ID[len(run.ID)-6:])
}

// Overflowed reports whether the provider has refused the prompt as a context overflow, before anybody
// has seen anything of an answer.
func (t *Turn) Overflowed(err error) bool {
	no, ok := errors.AsType[*spool.ModelError](err)
	return ok && no.ContextOverflow && len(t.Message.Content) == 0 && len(t.ids) == 0
}

// Exceeded reports whether the answer was cut because it was too long.
func (t *Turn) Exceeded() bool { return t.bound.exceeded }
