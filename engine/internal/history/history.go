package history

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
)

// Messages is what a loop knows of the messages of its agent, and the prompt that follows
// from them. A step adds to it: what earlier steps have put into the prompt is neither read,
// converted nor weighed again, so that a step does not cost more with the length of the
// thread. Only the loop's goroutine uses it.
type Messages struct {
	// All are the messages that a prompt may need, in order.
	All []spool.Message
	// Unread counts older messages that a summary stands for, and that were not read.
	Unread int
	// calls are the ids of the tool calls in messages.
	calls map[spool.ToolCallID]struct{}

	// Recall is that of messages. It is made anew when a summary is added.
	Recall Recall
	// fixed is the prompt form of the first done messages of recall.live, which no later
	// message can change, and fixedWeight its weight.
	fixed       []spool.Message
	fixedWeight Weight
	done        int
	lent        lentPrompt
}

func New(messages []spool.Message, unread int) *Messages {
	h := &Messages{Unread: unread, calls: make(map[spool.ToolCallID]struct{})}
	h.Add(messages...)
	return h
}

// Add appends messages that were saved.
func (h *Messages) Add(messages ...spool.Message) {
	fresh := h.All == nil
	h.All = append(h.All, messages...)
	for _, m := range messages {
		for _, p := range m.ToolCalls() {
			h.calls[p.ToolCallID] = struct{}{}
		}
		if _, summary := m.Content.Summary(); summary {
			fresh = true
		} else if !fresh {
			h.Recall.live = append(h.Recall.live, m)
		}
	}
	if fresh {
		h.Recall = RecallOf(h.All)
		h.fixed, h.fixedWeight, h.done, h.lent = nil, Weight{}, 0, lentPrompt{}
	}
}

// Len returns how many messages the agent has, the unread ones included.
func (h *Messages) Len() int { return h.Unread + len(h.All) }

// Last returns the newest message, or false where there is none.
func (h *Messages) Last() (spool.Message, bool) {
	if len(h.All) == 0 {
		return spool.Message{}, false
	}
	return h.All[len(h.All)-1], true
}

// Prompt returns what a model is asked with, as every provider accepts it, and its weight.
// The caller may keep the slice and change its messages until the next prompt is asked for,
// but not what they refer to.
func (h *Messages) Prompt() ([]spool.Message, Weight) {
	// The messages before the newest one that is no result are fixed: a result that is still
	// to come belongs to that one.
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
	total.Add(weighMessage(spool.Message{Content: preface}))
	if len(messages) == len(h.fixed)+len(tail) { // the preface is no message of its own
		total.Bytes -= messageBytes
	}
	return messages, total
}

// Has reports whether the id of a tool call is taken. Where messages are unread, every id
// may be.
func (h *Messages) Has(id spool.ToolCallID) bool {
	_, taken := h.calls[id]
	return taken
}

// Unlike returns an id like one that a provider gave to a call, which no unread message can
// have: ids of providers may count from zero in each answer.
func (h *Messages) Unlike(id spool.ToolCallID, run spool.RunRow) spool.ToolCallID {
	if h.Unread == 0 {
		return id
	}
	sum := sha256.Sum256([]byte(string(run.ID) + " " + strconv.Itoa(run.Steps) + " " + string(id)))
	return id + "-" + spool.ToolCallID(hex.EncodeToString(sum[:4]))
}

// Read reads what a run's agent is asked with.
func Read(v spool.View, run spool.RunRow) (*Messages, error) {
	if h, err := behindSummary(v, run); h != nil || err != nil {
		return h, err
	}
	agent := run.AgentID()
	messages, err := v.Messages(spool.MessageQuery{Agent: &agent})
	return New(withClientContext(run, messages), 0), err
}

// behindSummary reads what a prompt needs of a run's history that has a summary: the turn in
// whose run the summary was made, the last message that it speaks of, and all behind that.
// It returns nil where the whole history has to be read: where there is no summary that
// counts, where the number of messages is not known, and where the run's last answer
// may stand among the older ones.
func behindSummary(v spool.View, run spool.RunRow) (*Messages, error) {
	agent := run.AgentID()
	if run.Context == nil {
		return nil, nil //nolint:nilnil // nil is: read everything
	}
	newest, err := v.Messages(spool.MessageQuery{Agent: &agent, Role: spool.RoleSystem, Limit: 1})
	if err != nil || len(newest) == 0 {
		return nil, err
	}
	summary, ok := newest[0].Content.Summary()
	if !ok {
		return nil, nil //nolint:nilnil // as above
	}
	through, err := v.Message(summary.ThroughMessageID)
	switch {
	case record.Missing(err):
		return nil, nil //nolint:nilnil // as above
	case err != nil:
		return nil, err
	}
	messages, err := v.Messages(spool.MessageQuery{Agent: &agent, After: through.ID})
	if err != nil {
		return nil, err
	}
	counted := indexOf(messages, run.Context.LastMessageID)
	if counted < 0 || LastAnswer(messages) == "" {
		return nil, nil //nolint:nilnil // as above
	}
	older := run.Context.Messages - (counted + 1)
	known := []spool.Message{through}
	if newest[0].RunID != "" && (through.Role != spool.RoleUser || through.RunID != newest[0].RunID) {
		turns, err := v.Messages(spool.MessageQuery{
			Agent: &agent, Role: spool.RoleUser, Run: newest[0].RunID, Before: through.ID, Limit: 1,
		})
		if err != nil {
			return nil, err
		}
		known = slices.Concat(turns, known)
	}
	return New(withClientContext(run, slices.Concat(known, messages)), older-len(known)), nil
}
