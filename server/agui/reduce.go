package agui

import (
	"slices"

	"github.com/spoolhq/spool"
)

// reduce applies the events of a stream to messages, as a client does.
func reduce(messages []Message, events []Event) []Message {
	for _, event := range events {
		switch e := event.(type) {
		case TextStart:
			messages = startText(messages, e)
		case ReasoningMessageStart:
			messages = append(messages, Message{ID: e.MessageID, Role: roleReasoning, Content: ""})
		case Custom:
			messages = addExtra(messages, e)
		case Delta:
			if m := find(messages, e.MessageID); m != nil {
				text, _ := m.Content.(string) // of an unfinished message
				m.Content = text + e.Delta
			}
		case ToolStart:
			messages = startCall(messages, e)
		case ToolArgs:
			if c := findCall(messages, e.ToolCallID); c != nil {
				c.Function.Arguments += e.Delta
			}
		case ToolResult:
			messages = placeResult(messages, e)
		default:
		}
	}
	return messages
}

func find(messages []Message, id string) *Message {
	for i := range slices.Backward(messages) {
		if messages[i].ID == id {
			return &messages[i]
		}
	}
	return nil
}

func findCall(messages []Message, id spool.ToolCallID) *ToolCall {
	for i := range slices.Backward(messages) {
		for j := range messages[i].ToolCalls {
			if messages[i].ToolCalls[j].ID == id {
				return &messages[i].ToolCalls[j]
			}
		}
	}
	return nil
}

func startText(messages []Message, e TextStart) []Message {
	m := find(messages, e.MessageID)
	switch {
	case m == nil:
		return append(messages, Message{ID: e.MessageID, Role: e.Role, Content: ""})
	case m.Content == nil:
		m.Content = ""
	}
	return messages
}

func startCall(messages []Message, e ToolStart) []Message {
	if find(messages, e.ParentMessageID) == nil {
		messages = append(messages, Message{ID: e.ParentMessageID, Role: spool.RoleAssistant})
	}
	m := find(messages, e.ParentMessageID)
	m.ToolCalls = append(m.ToolCalls, call(e.ToolCallID, e.ToolCallName, ""))
	return messages
}

// placeResult inserts a result after the message that made the call, and after the results that are already
// there. Providers accept no other order.
func placeResult(messages []Message, e ToolResult) []Message {
	at := len(messages)
	for i := range slices.Backward(messages) {
		if slices.ContainsFunc(messages[i].ToolCalls, func(c ToolCall) bool { return c.ID == e.ToolCallID }) {
			for at = i + 1; at < len(messages) && messages[at].Role == spool.RoleTool; at++ {
				continue
			}
			break
		}
	}
	return slices.Insert(messages, at, Message{ID: e.MessageID, Role: spool.RoleTool, Content: e.Content, ToolCallID: e.ToolCallID})
}
