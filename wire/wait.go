package wire

import (
	"time"

	"github.com/spoolhq/spool"
)

// Delivered says where the message of a steer is.
type Delivered struct {
	RunID     spool.RunID     `doc:"The run that reads the message." json:"runId"`
	MessageID spool.MessageID `doc:"The user turn."                  json:"messageId"`
}

// QueuedRun is a run that waits for the thread, as clients see it.
type QueuedRun struct {
	RunID spool.RunID `doc:"The run's id." json:"runId"`
	// Position is the position in the queue, from 1, which is the next run.
	Position int            `doc:"The position in the queue, from 1, which is the next run." json:"position"`
	WhenBusy spool.WhenBusy `doc:"The whenBusy of the start."                                enum:"enqueue,latest,interrupt,rollback,steer" json:"whenBusy"`
	// ClientMessageID is the sending client's own id for the user turn.
	ClientMessageID string `doc:"The client's own name for its turn." json:"clientMessageId,omitempty"`
	// Content is the user's turn. Only a snapshot has it.
	Content    spool.Content `doc:"Its turn, as the content of a message." json:"content,omitempty"`
	EnqueuedAt time.Time     `doc:"When it was accepted."                  json:"enqueuedAt"`
}
