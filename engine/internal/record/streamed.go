package record

import (
	"bytes"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// Streamed summarises the items of an ended stream: how much content each agent has streamed, how much
// of the content was saved, and which calls have a result.
type Streamed struct {
	// content is the offset of each agent's last content item, and saved the offset of its last
	// STEP_FINISHED. The main agent is "".
	content, saved map[spool.AgentID]wire.Offset
	results        map[agentCall]bool
	// holed is true if an item is missing from the stream. The item may have been content.
	holed bool
	// unmade is true if a step was saved without a call that the stream has begun: the model was
	// stopped while it wrote the arguments.
	unmade bool
}

// agentCall is a call of an agent. Two agents may have calls with the same id.
type agentCall struct {
	agent spool.AgentID
	call  spool.ToolCallID
}

// StepStopped is the finish reason of a step whose answer was cut off. Its message has the text that
// arrived, and no calls.
const StepStopped = "stopped"

// ReadItems reads all items of a stream.
func ReadItems(items []wire.Item) Streamed {
	s := Streamed{
		content: make(map[spool.AgentID]wire.Offset), saved: make(map[spool.AgentID]wire.Offset),
		results: make(map[agentCall]bool), holed: Whole(wire.Offset{}, items) < len(items),
	}
	begun := make(map[spool.AgentID]bool) // agents with a call in their open step
	for _, item := range items {
		if item.Type == wire.ItemStepFinished {
			var f wire.StepFinished
			_ = item.Decode(&f) // the engine wrote this item
			agent := agentOf(f.AgentID)
			s.unmade = s.unmade || f.FinishReason == StepStopped && begun[agent]
			s.saved[agent] = item.Offset
			delete(begun, agent)
			continue
		}
		if !item.Type.Content() {
			continue
		}
		agent, inner := contentOf(item)
		s.content[agent] = item.Offset
		switch inner.Type {
		case wire.ItemToolStart:
			begun[agent] = true
		case wire.ItemToolResult:
			var r wire.ToolResulted
			_ = inner.Decode(&r)
			s.results[agentCall{agent, r.ToolCallID}] = true
		default:
		}
	}
	return s
}

// Unsaved reports whether clients of the stream may show something that no message contains: content
// that was not saved, or a text with a gap.
func (s Streamed) Unsaved() bool {
	for agent, offset := range s.content {
		if offset.Compare(s.saved[agent]) > 0 {
			return true
		}
	}
	return s.unmade || s.holed
}

// Lost reports whether an item of the stream is content that no step has saved.
func (s Streamed) Lost(item wire.Item) bool {
	if !item.Type.Content() {
		return false
	}
	agent, _ := contentOf(item)
	return item.Offset.Compare(s.saved[agent]) > 0
}

// MissesResult reports whether the messages have a result that is missing from the stream.
func (s Streamed) MissesResult(messages []spool.Message) bool {
	for _, m := range messages {
		for _, p := range m.ToolResults() {
			if !s.results[agentCall{m.AgentID, p.ToolCallID}] {
				return true
			}
		}
	}
	return false
}

// contentOf returns the agent of a content item, and the item without its wrapping, with fields only if it is a result.
func contentOf(item wire.Item) (spool.AgentID, wire.Item) {
	if item.Type != wire.ItemSubagentEvent {
		return "", item
	}
	if agent, kind, ok := headOf(item); ok && kind != wire.ItemToolResult { // only the fields of results are looked at
		return agent, wire.Item{Type: kind}
	}
	var e wire.SubagentEvent
	if item.Decode(&e) != nil {
		return "", item
	}
	var inner wire.Item
	if inner.UnmarshalJSON(e.Event) != nil {
		inner = wire.Item{}
	}
	return e.SubagentID, inner
}

var (
	agentField = []byte(`{"type":"SUBAGENT_EVENT","subagentId":"`)
	kindField  = []byte(`","event":{"type":"`)
	endOfText  = []byte(`"`)
)

// headOf returns the nested run that wrote an item, and the type of the item. It looks only at the beginning, because
// nested runs say as many words as others. It returns false for an item that [wire.NewItem] has not written.
func headOf(item wire.Item) (spool.AgentID, wire.ItemType, bool) {
	rest, wrapped := bytes.CutPrefix(item.Data, agentField)
	agent, rest, named := bytes.Cut(rest, kindField)
	kind, _, typed := bytes.Cut(rest, endOfText)
	plain := wrapped && named && typed && bytes.IndexByte(agent, '\\') < 0
	return spool.AgentID(agent), wire.ItemType(kind), plain
}

func agentOf(id *spool.AgentID) spool.AgentID {
	if id == nil {
		return ""
	}
	return *id
}
