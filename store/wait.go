package store

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// Wait is the state of a run that was started on a busy thread.
type Wait struct {
	WhenBusy spool.WhenBusy `json:"whenBusy"`
	// Position is the position in the queue at the start, from 1.
	Position int `json:"position"`
	// Content and ClientMessageID are the user turn, which becomes a message when the run gets the thread.
	// They are empty from then on.
	Content         spool.Content `json:"content,omitempty"`
	ClientMessageID string        `json:"clientMessageId,omitempty"`
	// EditMessageID is the user turn that the start replaces. The run fails if the turn has left the view by
	// then. Empty: none.
	EditMessageID spool.MessageID `json:"editMessageId,omitempty"`
	// RollbackMessageID is the user turn of the stopped run, which is dropped if it is still
	// there. Empty: none.
	RollbackMessageID spool.MessageID `json:"rollbackMessageId,omitempty"`
	// Steers is the run that had the thread when a steer came. Empty: the start was no steer.
	Steers spool.RunID `json:"steers,omitempty"`
	// Delivered says which run has read the message of a steer. Nil: none has, or the steer became a run.
	Delivered *wire.Delivered `json:"delivered,omitempty"`
}
