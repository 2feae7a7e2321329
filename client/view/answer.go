package view

import (
	"slices"
	"strconv"

	"github.com/spoolhq/spool"
)

// noticeTextResult is how some servers say the answer of an agent that does not stream.
const noticeTextResult spool.EntryType = "TEXT_RESULT"

// answer is what the end of a stream or a [noticeTextResult] says, if no item has said it. This module's server has no
// such answers.
type answer struct {
	Text string `json:"text"`
}

// answered adds the answer of a run, unless the last turn has it already.
func (t *Thread) answered(run spool.RunID, a answer) {
	if a.Text == "" {
		return
	}
	for _, m := range slices.Backward(t.messages) {
		if m.AgentID != "" {
			continue
		}
		if m.Role == spool.RoleUser {
			break
		}
		if m.Role == spool.RoleAssistant && m.Content.Text() == a.Text {
			return
		}
	}
	id := spool.MessageID(string(run) + ":" + strconv.Itoa(len(t.messages)))
	t.messages = append(t.messages, spool.Message{
		ID: id, ThreadID: t.row.ID, RunID: run, Role: spool.RoleAssistant, Content: spool.TextContent(a.Text),
	})
}
