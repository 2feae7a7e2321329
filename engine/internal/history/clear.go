package history

import (
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/toolresult"
)

// cleared is what prompts have in place of a result that was cleared.
func cleared(tool string) string {
	return "[This old result of " + tool + " was left out to save room. Call the tool again if you need it.]"
}

// Clear leaves the results of tools up to a message out of prompts. It changes no other part of a message, and so none
// that a provider has signed. Short results stay. A message that is not in the recall, because a summary or an edit has
// replaced it, clears nothing.
func (h *Messages) Clear(through spool.MessageID) {
	h.cleared = through
	h.rebuild()
}

// Clearable returns the last message whose results prompts can leave out, and how much smaller that makes them. The
// newest messages stay, up to tail tokens, and so does what [Recall.Plan] keeps.
func (h *Messages) Clearable(m Meter, tail int64, run spool.RunID) (through spool.MessageID, freed Weight) {
	live := h.Recall.live
	cut := h.Recall.cut(m, tail, run)
	if cut == 0 {
		return "", Weight{}
	}
	for _, msg := range live[:cut] {
		if msg.Role == spool.RoleTool {
			freed.Add(without(weighMessage(msg), weighMessage(withoutResults(msg))))
		}
	}
	return live[cut-1].ID, freed
}

// Originals returns messages of the recall as they were saved.
func (h *Messages) Originals(messages []spool.Message) []spool.Message {
	saved := make(map[spool.MessageID]spool.Message, len(h.All))
	for _, m := range h.All {
		saved[m.ID] = m
	}
	originals := slices.Clone(messages)
	for i, m := range originals {
		if original, ok := saved[m.ID]; ok && m.Role == spool.RoleTool {
			originals[i] = original
		}
	}
	return originals
}

// withoutResults returns a message of results with the long ones cleared.
func withoutResults(m spool.Message) spool.Message {
	m.Content = slices.Clone(m.Content)
	for i, p := range m.Content {
		if p.Type == spool.PartToolResult && len(p.Result) > minResult {
			m.Content[i].Result = toolresult.JSON(cleared(p.ToolName))
		}
	}
	return m
}
