package history

import (
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/toolresult"
)

// prompt returns a history that every provider accepts: each tool call is followed by its result,
// and no result lacks its call. It does not change the given messages.
func prompt(history []spool.Message) []spool.Message {
	out := make([]spool.Message, 0, len(history))
	for i, m := range history {
		if m.Role == spool.RoleTool {
			continue
		}
		out = append(out, asSent(m))
		calls := m.ToolCalls()
		if len(calls) == 0 {
			continue
		}
		results := resultsAfter(history[i+1:])
		answer := spool.Message{ThreadID: m.ThreadID, RunID: m.RunID, Role: spool.RoleTool}
		for _, c := range calls {
			result, ok := results[c.ToolCallID]
			if !ok {
				result = toolresult.Part(c.ToolCallID, c.ToolName,
					toolresult.Cancelled("no result was recorded for this call", toolresult.NoEffect))
			}
			answer.Content = append(answer.Content, result)
		}
		out = append(out, answer)
	}
	return out
}

// asSent returns a message without its sources, which are for people, and whose signed calls have the arguments that
// the model has sent, because the data may sign them. A call whose arguments were no object has those that they were
// read as.
func asSent(m spool.Message) spool.Message {
	isSource := func(p spool.Part) bool { return p.Type == spool.PartSource }
	if slices.ContainsFunc(m.Content, isSource) {
		m.Content = slices.DeleteFunc(slices.Clone(m.Content), isSource)
	}
	signed := func(p spool.Part) bool { return p.Provider != nil && len(p.SentArgs) > 0 && p.SentArgs[0] == '{' }
	if !slices.ContainsFunc(m.Content, signed) {
		return m
	}
	m.Content = slices.Clone(m.Content)
	for i, p := range m.Content {
		if signed(p) {
			m.Content[i].Args = p.SentArgs
		}
	}
	return m
}

// resultsAfter returns the results in the tool messages at the head of a history: the results of the
// step before, and later results of its parked calls.
func resultsAfter(history []spool.Message) map[spool.ToolCallID]spool.Part {
	results := make(map[spool.ToolCallID]spool.Part)
	for _, m := range history {
		if m.Role != spool.RoleTool {
			break
		}
		for _, p := range m.ToolResults() {
			results[p.ToolCallID] = p
		}
	}
	return results
}

// LastAnswer returns the text of the last answer that has text.
func LastAnswer(history []spool.Message) string {
	for _, m := range slices.Backward(history) {
		if text := m.Text(); m.Role == spool.RoleAssistant && text != "" {
			return text
		}
	}
	return ""
}
