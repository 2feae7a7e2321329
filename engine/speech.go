package engine

import "github.com/spoolhq/spool"

// speech is what the items of a stream that has ended come to: how far each agent has
// spoken, how much of that was saved, and which calls have got a result.
type speech struct {
	// spoken is the offset of each agent's last content, saved that of its last
	// STEP_FINISHED. The main agent is "".
	spoken, saved map[spool.AgentID]spool.Offset
	results       map[agentCall]bool
	// unmade is true when a step was saved without a call that the stream has begun: the
	// model was stopped while it wrote the arguments.
	unmade bool
}

// agentCall is a call of an agent. Two agents may have calls of the same id.
type agentCall struct {
	agent spool.AgentID
	call  spool.ToolCallID
}

// stepStopped is the finish reason of a step whose answer was cut off. Its message has the
// text that came, and no calls.
const stepStopped = "stopped"

// hearOut reads all items of a stream.
func hearOut(items []spool.Item) speech {
	s := speech{
		spoken: make(map[spool.AgentID]spool.Offset), saved: make(map[spool.AgentID]spool.Offset), results: make(map[agentCall]bool),
	}
	begun := make(map[spool.AgentID]bool) // agents with a call in their open step
	for _, item := range items {
		if item.Type == spool.ItemStepFinished {
			var f spool.StepFinished
			_ = item.Decode(&f) // the engine's own
			who := agentOf(f.AgentID)
			s.unmade = s.unmade || f.FinishReason == stepStopped && begun[who]
			s.saved[who] = item.Offset
			delete(begun, who)
			continue
		}
		if !item.Type.Content() {
			continue
		}
		who, said := spokenBy(item)
		s.spoken[who] = item.Offset
		switch said.Type {
		case spool.ItemToolStart:
			begun[who] = true
		case spool.ItemToolResult:
			var r spool.ToolResulted
			_ = said.Decode(&r)
			s.results[agentCall{who, r.ToolCallID}] = true
		default:
		}
	}
	return s
}

// unsaved reports whether something was said that no message has.
func (s speech) unsaved() bool {
	for who, offset := range s.spoken {
		if offset.Compare(s.saved[who]) > 0 {
			return true
		}
	}
	return s.unmade
}

// lost reports whether an item of the stream is content that no step has saved.
func (s speech) lost(item spool.Item) bool {
	if !item.Type.Content() {
		return false
	}
	who, _ := spokenBy(item)
	return item.Offset.Compare(s.saved[who]) > 0
}

// untold reports whether the messages have a result which the stream does not.
func (s speech) untold(messages []spool.Message) bool {
	for _, m := range messages {
		for _, p := range m.ToolResults() {
			if !s.results[agentCall{m.AgentID, p.ToolCallID}] {
				return true
			}
		}
	}
	return false
}

// spokenBy returns who has said an item of content, and the item without its wrapping.
func spokenBy(item spool.Item) (spool.AgentID, spool.Item) {
	if item.Type != spool.ItemSubagentEvent {
		return "", item
	}
	var e spool.SubagentEvent
	if item.Decode(&e) != nil {
		return "", item
	}
	var inner spool.Item
	if inner.UnmarshalJSON(e.Event) != nil {
		inner = spool.Item{}
	}
	return e.SubagentID, inner
}

func agentOf(id *spool.AgentID) spool.AgentID {
	if id == nil {
		return ""
	}
	return *id
}
