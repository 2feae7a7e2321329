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
	ID BranchID `doc:"The branch's id: the seq of the MESSAGES_DROPPED that made it." example:"7" json:"id"`
	// FromMessageID is the branch's first message.
	FromMessageID spool.MessageID `doc:"Its first message." json:"fromMessageId"`
	// BaseMessageID is the message after which the branch begins. Empty: the beginning of
	// the thread.
	BaseMessageID spool.MessageID `doc:"The message after which it begins. Left out: it begins with the thread." json:"baseMessageId,omitempty"`
	// BaseBranchID is the branch that has the base message. It must be restored before this branch. Zero: the
	// base message is in the view, or there is none.
	BaseBranchID BranchID `doc:"The branch with that message, which must be restored first. Left out: this branch can be restored." json:"baseBranchId,omitempty"`
	// Preview is the beginning of the first turn of the user, not of a nested run: see [spool.Content.Preview].
	Preview string `doc:"The beginning of its first turn of the user, in up to 80 characters." example:"Hello" json:"preview"`
	// MessageCount is how many messages the branch has.
	MessageCount int `doc:"How many messages it has." json:"messageCount"`
	// CreatedAt is when the messages left the view.
	CreatedAt time.Time `doc:"When its messages were replaced." json:"createdAt"`
	// RunID is the run whose start replaced them. Empty: a restored branch replaced them.
	RunID spool.RunID `doc:"The run that replaced them. Left out: another branch was restored." json:"runId,omitempty"`
}

// Restorable reports whether the branch can be restored in the thread's present state.
func (b Branch) Restorable() bool { return b.BaseBranchID == 0 }
