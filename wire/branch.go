package wire

import (
	"time"

	"github.com/spoolhq/spool"
)

// BranchID names a branch of a thread. It is the seq of the [EntryMessagesDropped] entry
// that took the branch's messages out of the view.
type BranchID int64

// Branch is a turn that was edited or rolled back, with all messages after it. The view of the thread does
// not have these messages. They are kept until they are restored or the thread is deleted. Every message of a
// thread is in its view or in one branch.
type Branch struct {
	ID BranchID `example:"7" json:"id"` // The branch's id: the seq of the MESSAGES_DROPPED that made it.
	// FromMessageID is its first message.
	FromMessageID spool.MessageID `json:"fromMessageId"`
	// BaseMessageID is the message after which it begins. Left out: it begins with the thread.
	BaseMessageID spool.MessageID `json:"baseMessageId,omitempty"`
	// BaseBranchID is the branch with that message, which must be restored first. Left out: this branch can be
	// restored.
	BaseBranchID BranchID `json:"baseBranchId,omitempty"`
	// Preview is the beginning of its first turn of the user, in up to 80 characters.
	//
	// See [spool.Content.Preview].
	Preview string `example:"Hello" json:"preview"`
	// MessageCount is how many messages it has.
	MessageCount int `json:"messageCount"`
	// CreatedAt is when its messages were replaced.
	CreatedAt time.Time `json:"createdAt"`
	// RunID is the run that replaced them. Left out: another branch was restored.
	RunID spool.RunID `json:"runId,omitempty"`
}

// Restorable reports whether the branch can be restored in the thread's present state.
func (b Branch) Restorable() bool { return b.BaseBranchID == 0 }
