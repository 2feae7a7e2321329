package view

import (
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
	"github.com/spoolhq/spool/wire/fold"
)

// MarshalJSON returns the JSON form of what the view shows. spec/events.md describes it, and
// spec/fixtures/views.json has examples.
func (t *Thread) MarshalJSON() ([]byte, error) {
	runs := make([]wireRun, len(t.runs))
	for i, r := range t.runs {
		runs[i] = wireRun{RunJSON: r.Wire(), StartedAt: r.StartedAt}
	}
	var cursor *string
	if t.cursor != nil {
		at := t.cursor.String()
		cursor = &at
	}
	return json.Marshal(struct {
		Thread        wireThread          `json:"thread"`
		Messages      []wireMessage       `json:"messages"`
		Drafts        []wireMessage       `json:"drafts"`
		Parks         []fold.Park         `json:"parks"`
		Pending       []fold.Pending      `json:"pending"`
		Runs          []wireRun           `json:"runs"`
		Queue         []wire.QueuedRun    `json:"queue"`
		Retry         *fold.Retry         `json:"retry"`
		ProviderWaits []wire.ProviderWait `json:"providerWaits"`
		Cursor        *string             `json:"cursor"`
		Deleted       bool                `json:"deleted,omitempty"`
	}{
		wireThread{t.row, t.row.CreatedAt, t.row.UpdatedAt},
		wireMessages(t.messages), wireMessages(t.Drafts()),
		list(t.parks), list(t.pending), runs, list(t.queue), t.retry, list(t.waits), cursor, t.deleted,
	})
}

// list returns a list that is not null in JSON.
func list[T any](l []T) []T { return append([]T{}, l...) }

// wireThread leaves out the times that the view does not know.
type wireThread struct {
	wire.Thread

	CreatedAt time.Time `json:"createdAt,omitzero"`
	UpdatedAt time.Time `json:"updatedAt,omitzero"`
}

// wireMessage leaves out the time of a message that came with a stream.
type wireMessage struct {
	ID              spool.MessageID `json:"id"`
	ThreadID        spool.ThreadID  `json:"threadId"`
	Role            spool.Role      `json:"role"`
	Content         spool.Content   `json:"content"`
	CreatedAt       time.Time       `json:"createdAt,omitzero"`
	ClientMessageID string          `json:"clientMessageId,omitempty"`
	RunID           spool.RunID     `json:"runId,omitempty"`
	AgentID         *spool.AgentID  `json:"agentId"`
}

func wireMessages(messages []spool.Message) []wireMessage {
	out := make([]wireMessage, len(messages))
	for i, m := range messages {
		out[i] = wireMessage{
			ID: m.ID, ThreadID: m.ThreadID, Role: m.Role, Content: m.Content, CreatedAt: m.CreatedAt,
			ClientMessageID: m.ClientMessageID, RunID: m.RunID,
		}
		if m.AgentID != "" {
			out[i].AgentID = &m.AgentID
		}
	}
	return out
}

// wireRun leaves out the times that the view does not know, and the durations that follow from them.
type wireRun struct {
	wire.RunJSON

	StartedAt  time.Time `json:"startedAt,omitzero"`
	DurationMS int64     `json:"durationMs,omitempty"`
	QueuedMS   int64     `json:"queuedMs,omitempty"`
}
