package wire

import (
	"time"

	"github.com/spoolhq/spool"
)

// Delivered says where the message of a steer is.
type Delivered struct {
	RunID     spool.RunID     `json:"runId"`     // The run that reads the message.
	MessageID spool.MessageID `json:"messageId"` // The user turn.
}

// QueuedRun is a run that waits for the thread, as clients see it.
type QueuedRun struct {
	RunID spool.RunID `json:"runId"` // The run's id.
	// Position is the position in the queue, from 1, which is the next run.
	Position int `json:"position"`
	// WhenBusy is the whenBusy of the start.
	WhenBusy spool.WhenBusy `enum:"enqueue,latest,interrupt,rollback,steer" json:"whenBusy"`
	// ClientMessageID is the client's own name for its turn.
	ClientMessageID string `json:"clientMessageId,omitempty"`
	// Content is its turn, as the content of a message.
	//
	// Only a snapshot has it.
	Content    spool.Content `json:"content,omitempty"`
	EnqueuedAt time.Time     `json:"enqueuedAt"` // When it was accepted.
}
