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
	"github.com/spoolhq/spool/internal/citation"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Turn is one answer of the model, possibly incomplete.
type Turn struct {
	Message spool.Message
	Reason  spool.FinishReason
	Usage   spool.Usage
	modelID string
	receipt *spool.Cost // the cost that the provider reported
	// Capped is the budget that limited the answer, or empty.
	Capped wire.StopReason
	// final is true for the answer behind the last step of a run.
	final bool

	row wire.UsageRow // the ledger row without its outcome

	past     *history.Messages
	messages int             // the number of messages when the model was asked
	newest   spool.MessageID // the newest of these messages
	weight   history.Weight  // the prompt's size
	run      store.RunRow
	ids      map[spool.ToolCallID]*openCall // by the provider's ids
	calls    int                            // the number of calls so far
	files    int                            // the number of files so far
	gathered history.Gathered               // the content so far
	sources  citation.List
	random   random.Source
	bound    bound
	// resumable is true if the answer has a resume point.
	resumable bool
}

// uniqueID returns an id for a call that is unique in its thread and valid on the wire. It is needed
// because some providers count from zero in each answer, or send no ids.
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

// beginCall returns the open call with the given id. If no such call is open, it begins one.
func (t *Turn) beginCall(id spool.ToolCallID, name string) *openCall {
	c := t.ids[id]
	if c == nil {
		c = &openCall{id: t.uniqueID(id), name: name, nth: t.calls}
		t.ids[id] = c
		t.calls++
	}
	return c
}

// CountPrompt stores the provider's token count of the prompt in the run, or the estimate if the count cannot be true.
func (t *Turn) CountPrompt(tx *thread.Tx) {
	if t.Usage.Input == nil || *t.Usage.Input <= 0 {
		return
	}
	counts := t.Usage.Count()
	tokens := counts.InputTokens
	if t.weight.Denies(tokens) { // the next prompts would be too long
		tokens = history.NewMeter(nil).Of(t.weight)
	}
	tx.Run.Context = &store.ContextCount{
		Tokens: tokens, Answer: counts.OutputTokens, Bytes: t.weight.Bytes, Images: t.weight.Images,
		Messages: t.messages, LastMessageID: t.newest,
	}
}

// CutOffError is the error of an incomplete answer. Turn has the part that arrived.
type CutOffError struct {
	Turn Turn
	Err  error
}

func (c *CutOffError) Error() string { return c.Err.Error() }
func (c *CutOffError) Unwrap() error { return c.Err }

// Empty reports whether the model finished an answer without text and without calls. A paused answer is
// empty if it has nothing for the provider to continue from.
func (t *Turn) Empty() bool {
	if t.Reason == spool.FinishLength || t.Reason == spool.FinishFilter { // the reason explains the empty answer
		return false
	}
	return !slices.ContainsFunc(t.Message.Content, func(p spool.Part) bool {
		switch p.Type {
		case spool.PartText:
			return strings.TrimSpace(p.Text) != "" || t.paused() && p.Provider != nil
		case spool.PartSource:
			return false
		case spool.PartReasoning, spool.PartProvider:
			return t.paused() && p.Provider != nil
		default:
			return true
		}
	})
}

// Paused reports whether the provider interrupted the answer and goes on with it when it gets it back. The
// calls of a paused answer run first.
func (t *Turn) Paused() bool {
	return !t.final && t.paused() && len(t.Message.ToolCalls()) == 0 && !t.Empty()
}

func (t *Turn) paused() bool { return t.Reason == spool.FinishPause }

// Calls reports whether the run continues with the answer's calls.
func (t *Turn) Calls() bool {
	return !t.final && (t.Reason == spool.FinishToolCalls || t.paused()) && len(t.Message.ToolCalls()) > 0
}

// Completion returns how the run ends with this last answer. An answer behind the last step does not change why the run
// ends.
func (t *Turn) Completion() store.Ending {
	ending := store.Ending{State: wire.Completed, Reason: wire.StopCompleted}
	switch {
	case t.final:
		ending.Reason = wire.StopMaxSteps
	case t.Reason == spool.FinishLength:
		ending.Reason = wire.StopLength
	case t.Reason == spool.FinishFilter:
		ending.Reason = wire.StopFilter
	case t.Empty():
		ending.Reason = wire.StopEmpty
	case t.Reason != spool.FinishStop && t.Reason != spool.FinishToolCalls && !t.paused():
		ending.Reason = wire.StopUnknown
	}
	return ending
}

// Whole reports whether nothing has cut the answer.
func (t *Turn) Whole() bool { return t.Reason != spool.FinishLength && t.Reason != spool.FinishFilter }

// CancelledCalls returns the results for the turn's calls when none of them will run.
func (t *Turn) CancelledCalls() spool.Content {
	var results spool.Content
	for _, p := range t.Message.ToolCalls() {
		results = append(results, toolresult.Part(p.ToolCallID, p.ToolName,
			toolresult.Cancelled("the answer ended before its calls could run", toolresult.NoEffect)))
	}
	return results
}

// Charge writes the turn's ledger row. The run does not ask for the answer again.
func (t *Turn) Charge(tx *thread.Tx, outcome wire.Outcome) error {
	row := t.row
	row.Outcome = outcome
	tx.Run.Resume = nil
	return tx.Charge(row)
}

// SaveCut saves the part of an interrupted answer that [Storable] returns, if any.
func (t *Turn) SaveCut(tx *thread.Tx) (saved bool, err error) {
	content := Storable(t.Message.Content)
	if len(content) == 0 {
		tx.Add(t.Usage.Count())
		return false, nil
	}
	_, err = t.save(tx, content, nil, record.StepStopped)
	return true, err
}

// Save saves the answer as the run's last step, or behind it. Results are the results of its calls.
func (t *Turn) Save(tx *thread.Tx, results spool.Content) ([]spool.Message, error) {
	return t.save(tx, t.Message.Content, results, string(t.Reason))
}

func (t *Turn) save(tx *thread.Tx, content, results spool.Content, reason string) ([]spool.Message, error) {
	if t.final {
		return thread.SaveAnswer(tx, content, results, t.Usage.Count(), reason)
	}
	return thread.SaveStep(tx, content, results, t.Usage.Count(), reason)
}

// Storable returns the part of an interrupted answer that can become a message: its text, reasoning and files,
// or nothing if it has no text and no file. It has no provider data, because what the data signs may be missing.
func Storable(content spool.Content) spool.Content {
	var out spool.Content
	text := false
	for _, p := range content.Shown() {
		switch p.Type { //nolint:exhaustive // the other parts do not stay
		case spool.PartText, spool.PartImage, spool.PartFile:
			text = true
			fallthrough
		case spool.PartReasoning:
			out = append(out, p)
		}
	}
	if !text {
		return nil
	}
	return out
}

// callSuffix returns the end of a nested run's call ids. It makes the ids unique in the tree, because a
// response to a park names only the call.
func callSuffix(run store.RunRow) string {
	if run.RootID == "" {
		return ""
	}
	return "-" + string(run.ID[len(run.ID)-6:])
}

// Seen reports whether clients have seen a part of the answer.
func (t *Turn) Seen() bool { return len(t.Message.Content.Shown()) > 0 || len(t.ids) > 0 }

// Overflowed reports whether the provider refused the prompt as a context overflow before the
// answer began.
func (t *Turn) Overflowed(err error) bool {
	no, ok := errors.AsType[*spool.ModelError](err)
	return ok && no.ContextOverflow && len(t.Message.Content) == 0 && len(t.ids) == 0
}

// Gone reports whether the provider no longer has the answer that the request asked for again, and has sent
// nothing of it.
func (t *Turn) Gone(err error) bool {
	return t.resumable && isGone(err) && len(t.Message.Content) == 0 && len(t.ids) == 0
}

func isGone(err error) bool {
	gone, ok := errors.AsType[*spool.ModelError](err)
	return ok && gone.Gone
}

// Resumable reports whether another request can ask for an answer again that ended with an error.
func (c *CutOffError) Resumable() bool { return c.Turn.resumable && !isGone(c.Err) }

// Exceeded reports whether the answer was cut because it was too long.
func (t *Turn) Exceeded() bool { return t.bound.exceeded }
