package wire

import (
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
)

// SnapshotOptions narrow a snapshot's messages.
type SnapshotOptions struct {
	// LastMessageID leaves out this message and those before it. An id that the thread
	// does not have leaves out nothing.
	LastMessageID spool.MessageID
	// Before leaves out this message and those after it.
	Before spool.MessageID
	// Limit keeps only the newest ones. Zero: all.
	Limit int
}

// SnapshotForm encodes snapshots for clients of another protocol. Each message is encoded once, in the order
// of the thread, for any number of clients.
//
// A SnapshotForm value encodes one message, the next in order, and does not change. Callers pass the value
// for the first message. That value identifies the form, so it must be comparable and always the same.
type SnapshotForm interface {
	// AppendMessage appends the encoded message: elements of a JSON array, each with a comma before it, or
	// nothing. It returns the form for the next message.
	AppendMessage(b []byte, m spool.Message) (_ []byte, next SnapshotForm, err error)
	// Finish is called after the last message of a snapshot. It returns a value that clients share in
	// addition to the messages, and its approximate size in bytes. The snapshot has no messages.
	Finish(s *Snapshot) (shared any, size int64, err error)
}

// EncodedSnapshot is a [Snapshot] as JSON, whose bytes are shared with other clients.
type EncodedSnapshot struct {
	// Pieces are the JSON, in order. They must not be changed, and not be used after Release.
	Pieces [][]byte
	// Size is the number of bytes in all pieces.
	Size int64
	// OnRelease is what Release calls. It may be called more than once.
	OnRelease func()
}

// Release gives the bytes back. The caller must call it once it has sent them, and may call it more
// than once. A nil snapshot has nothing to give back.
func (s *EncodedSnapshot) Release() {
	if s != nil {
		s.OnRelease()
	}
}

// FormedSnapshot is a snapshot in a [SnapshotForm]. Clients share it, so it must not be changed.
type FormedSnapshot struct {
	// Snapshot is the snapshot. It has only the messages after the record's last entry, without their
	// content.
	*Snapshot
	// FormedMessages are all messages in the form.
	FormedMessages

	// Shared is what [SnapshotForm.Finish] returned.
	Shared any
	// OnRelease is what Release calls. It may be called more than once.
	OnRelease func()
}

// Release gives the snapshot back. The caller must call it once it has sent it, and may call it
// more than once. A nil snapshot has nothing to give back.
func (s *FormedSnapshot) Release() {
	if s != nil {
		s.OnRelease()
	}
}

// FormedMessages are messages in a [SnapshotForm]. Its methods return them as the elements of a
// JSON array, in pieces that must not be used after the Release of the snapshot.
type FormedMessages interface {
	// All returns all messages.
	All() [][]byte
	// First returns the first n messages.
	First(n int) [][]byte
	// Before returns the messages that were saved when seq was the last entry of the record.
	Before(seq int64) [][]byte
	// Through returns the messages up to the one with the id, or nil if there is none.
	Through(id spool.MessageID) [][]byte
}

// FormedFrame is a [Frame] whose snapshot is in another form.
type FormedFrame struct {
	Frame

	// Formed is the snapshot of a snapshot frame. The caller must release it. Nil: this is another kind of
	// frame.
	Formed *FormedSnapshot
}

// FollowOptions say from where to follow.
type FollowOptions struct {
	// Cursor is the client's position: the follower starts directly after it. Nil: the follower reads the
	// whole record. Of the run streams it then reads only the active one, from the first item that the
	// messages lack.
	Cursor *Cursor
	// LastMessageID is the last message that the client has. Snapshot frames then have only the messages
	// after it. Empty: none.
	LastMessageID spool.MessageID
	// LastTurnID is the last user turn after the cursor's entry that the client has. It is for
	// a client that keeps no other messages. Empty: none, and the turns after that entry come
	// again.
	LastTurnID spool.MessageID
	// CreatedAt is the creation time of the thread to follow. A thread with another creation
	// time counts as missing. Defaults to that of the present thread. In both cases the follower
	// ends when the thread is deleted, even if a new thread gets its id.
	CreatedAt time.Time
}

// SSEOptions say from where and how to stream.
type SSEOptions struct {
	// Cursor is the client's position in its wire form: the Last-Event-ID, or else the cursor parameter. A
	// malformed one counts as none.
	Cursor string
	// Since is a bare record seq of an older client, used when there is no cursor. Nil:
	// none.
	Since *int64
	// LastMessageID is the last message that the client has. Empty: none.
	LastMessageID spool.MessageID
	// CreatedAt is as in [FollowOptions].
	CreatedAt time.Time
	// Retry is how long browsers wait before they reconnect. Negative: the stream does not say it. Defaults
	// to the RetryHint of the engine.
	Retry time.Duration
	// KeepaliveEvent keeps an idle stream alive with events of the type "keepalive", which scripts in a
	// browser can see. Such an event has an empty object and no id. Defaults to comments, which only keep the
	// connection.
	KeepaliveEvent bool
	// WireFormat is the form of the frames. The only value is "", the native form.
	WireFormat string
	// State is for hosts whose storage is scoped by run state. This engine scopes by the thread's tenant, and
	// does not read it.
	State json.RawMessage
}
