package history

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/store"
)

// Messages keeps the messages of a loop's agent, and builds prompts from them. Each step only adds
// messages. Earlier steps are not read, converted or weighed again, so a step's cost does not grow with
// the thread. Only one goroutine may use it.
type Messages struct {
	// All are the messages that a prompt may need, in order.
	All []spool.Message
	// Unread is the number of older messages that were not read because a summary replaces them.
	Unread int
	// calls has the ids of the tool calls in All.
	calls map[spool.ToolCallID]struct{}

	// Recall is the recall of All, with notes about calls that repeat, and without the results that were cleared.
	// Adding a summary replaces it.
	Recall  Recall
	repeats repeats
	polling func(tool string) bool
	cleared spool.MessageID
	// fixed is the prompt form of the first done messages of Recall.live. No later message can change
	// it. fixedWeight is the weight of fixed.
	fixed       []spool.Message
	fixedWeight Weight
	done        int
	lent        lentPrompt
	// preface is the last preface, and prefaceWeight its weight.
	preface       spool.Content
	prefaceWeight Weight
}

// New returns a history. Polling reports whether the calls of a tool may repeat. Nil: none may.
func New(messages []spool.Message, unread int, polling func(tool string) bool) *Messages {
	if polling == nil {
		polling = func(string) bool { return false }
	}
	h := &Messages{Unread: unread, polling: polling, calls: make(map[spool.ToolCallID]struct{})}
	h.Add(messages...)
	return h
}

// Add appends saved messages.
func (h *Messages) Add(messages ...spool.Message) {
	fresh := h.All == nil
	h.All = append(h.All, messages...)
	for _, m := range messages {
		for _, p := range m.ToolCalls() {
			h.calls[p.ToolCallID] = struct{}{}
		}
		if _, summary := m.Content.Summary(); summary {
			fresh, h.cleared = true, "" // the summary covers what was cleared
		} else if !fresh {
			h.Recall.live = append(h.Recall.live, h.repeats.add(m, h.polling))
		}
	}
	if fresh {
		h.rebuild()
	}
}

// rebuild makes the recall anew.
func (h *Messages) rebuild() {
	h.Recall, h.repeats = RecallOf(h.All), repeats{}
	last := -1
	if h.cleared != "" {
		last = indexOf(h.Recall.live, h.cleared)
	}
	for i, m := range h.Recall.live {
		if m = h.repeats.add(m, h.polling); i <= last && m.Role == spool.RoleTool {
			m = withoutResults(m)
		}
		h.Recall.live[i] = m
	}
	h.fixed, h.fixedWeight, h.done, h.lent = nil, Weight{}, 0, lentPrompt{}
}

// Len returns the number of the agent's messages, including unread ones.
func (h *Messages) Len() int { return h.Unread + len(h.All) }

// Repeats returns how many steps at the end of the history have the same calls of a run, with the same results.
func (h *Messages) Repeats(run spool.RunID) int {
	if h.repeats.run != run || len(h.repeats.done) < len(h.repeats.calls) {
		return 0
	}
	return h.repeats.count
}

// Last returns the newest message, or false if there is none.
func (h *Messages) Last() (spool.Message, bool) {
	if len(h.All) == 0 {
		return spool.Message{}, false
	}
	return h.All[len(h.All)-1], true
}

// Prompt returns a prompt that every provider accepts, and its weight. Until the next call of Prompt,
// the caller may keep the slice and change its messages, but not the values that they refer to.
func (h *Messages) Prompt() ([]spool.Message, Weight) {
	// Everything before the last message that is not a tool result is fixed: a later result can only
	// belong to that message.
	border := len(h.Recall.live) - 1
	for border >= 0 && h.Recall.live[border].Role == spool.RoleTool {
		border--
	}
	if border > h.done {
		grown := prompt(h.Recall.live[h.done:border])
		h.fixed, h.done = append(h.fixed, grown...), border
		h.fixedWeight.Add(weighMessages(grown))
	}
	tail := prompt(h.Recall.live[h.done:])
	preface := h.Recall.preface()
	var messages []spool.Message
	if len(preface) == 0 {
		messages = h.lent.extend(h.fixed, tail)
	} else {
		messages = make([]spool.Message, 0, 1+len(h.fixed)+len(tail))
		messages = withPreface(preface, append(append(messages, h.fixed...), tail...))
	}
	total := h.fixedWeight
	total.Add(weighMessages(tail))
	total.Add(h.weighPreface(preface))
	if len(messages) == len(h.fixed)+len(tail) { // the preface has become part of the first message
		total.Bytes -= messageBytes
	}
	return messages, total
}

// weighPreface returns the weight of a preface, which is mostly that of the last prompt.
func (h *Messages) weighPreface(preface spool.Content) Weight {
	same := func(a, b spool.Part) bool { return a.Text == b.Text }
	if h.prefaceWeight == (Weight{}) || !slices.EqualFunc(h.preface, preface, same) {
		h.preface, h.prefaceWeight = preface, weighMessage(spool.Message{Content: preface})
	}
	return h.prefaceWeight
}

// Has reports whether a message in All has a tool call with the id.
func (h *Messages) Has(id spool.ToolCallID) bool {
	_, found := h.calls[id]
	return found
}

// Unlike derives an id from a provider's call id. No unread message can have the derived id. The check
// is needed because providers may count from zero in each answer.
func (h *Messages) Unlike(id spool.ToolCallID, run store.RunRow) spool.ToolCallID {
	if h.Unread == 0 {
		return id
	}
	sum := sha256.Sum256([]byte(string(run.ID) + " " + strconv.Itoa(run.Steps) + " " + string(id)))
	return id + "-" + spool.ToolCallID(hex.EncodeToString(sum[:4]))
}

// Read reads the messages of a run's agent.
func Read(v store.View, run store.RunRow, polling func(tool string) bool) (*Messages, error) {
	if h, err := afterSummary(v, run, polling); h != nil || err != nil {
		return h, err
	}
	agent := run.AgentID()
	messages, err := v.Messages(store.MessageQuery{Agent: &agent})
	return Of(run, messages, polling), err
}

// Of returns the messages of a run's agent, which are all that it has. It may change the slice.
func Of(run store.RunRow, messages []spool.Message, polling func(tool string) bool) *Messages {
	return of(run, messages, 0, polling)
}

func of(run store.RunRow, messages []spool.Message, unread int, polling func(tool string) bool) *Messages {
	h := New(withClientContext(run, messages), unread, polling)
	if run.Cleared != "" {
		h.Clear(run.Cleared)
	}
	return h
}

// afterSummary reads only the messages that a prompt needs if the history has a summary: the turn in
// whose run the summary was made, the last message that the summary covers, and all later messages. It
// returns nil if the whole history has to be read: if no summary is valid, if the number of messages is
// unknown, or if the run's last answer may be among the older messages.
func afterSummary(v store.View, run store.RunRow, polling func(tool string) bool) (*Messages, error) {
	agent := run.AgentID()
	if run.Context == nil {
		return nil, nil //nolint:nilnil // nil is: read everything
	}
	newest, err := v.Messages(store.MessageQuery{Agent: &agent, Role: spool.RoleSystem, Limit: 1})
	if err != nil || len(newest) == 0 {
		return nil, err
	}
	summary, ok := newest[0].Content.Summary()
	if !ok {
		return nil, nil //nolint:nilnil // as above
	}
	through, err := store.FindMessage(v, summary.ThroughMessageID)
	switch {
	case record.Missing(err):
		return nil, nil //nolint:nilnil // as above
	case err != nil:
		return nil, err
	}
	messages, err := v.Messages(store.MessageQuery{Agent: &agent, After: through.ID})
	if err != nil {
		return nil, err
	}
	counted := indexOf(messages, run.Context.LastMessageID)
	if counted < 0 || LastAnswer(messages) == "" {
		return nil, nil //nolint:nilnil // as above
	}
	older := run.Context.Messages - (counted + 1)
	known := []spool.Message{through}
	if newest[0].RunID != "" {
		turns, err := v.Messages(store.MessageQuery{
			Agent: &agent, Role: spool.RoleUser, Run: newest[0].RunID, Before: through.ID,
		})
		if err != nil {
			return nil, err
		}
		known = slices.Concat(turns[:min(1, len(turns))], known) // the later ones are of steers
	}
	return of(run, slices.Concat(known, messages), older-len(known), polling), nil
}
