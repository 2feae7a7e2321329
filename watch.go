package spool

import (
	"encoding/json"
	"time"
)

// SnapshotOptions narrow a snapshot's messages.
type SnapshotOptions struct {
	// LastMessageID leaves out this message and those before it. An id that the thread
	// does not have leaves out nothing.
	LastMessageID MessageID
	// Before leaves out this message and those behind it.
	Before MessageID
	// Limit keeps only the newest ones. Zero: all.
	Limit int
}

// SnapshotForm encodes snapshots for clients of another protocol. Each message is encoded
// once, in the order of the thread, however many clients ask for the thread.
//
// A SnapshotForm value encodes one message, the next in order, and does not change. Callers
// pass the value for the first message. That value identifies the form, so it must be
// comparable and always the same.
type SnapshotForm interface {
	// AppendMessage appends what the message becomes: elements of a JSON array, each with a
	// comma before it, or nothing. It returns the form for the message behind it.
	AppendMessage(b []byte, m Message) (_ []byte, next SnapshotForm, err error)
	// Finish is called behind the last message of a snapshot. It returns what clients share
	// beside the messages, and roughly how many bytes that takes. The snapshot has no
	// messages.
	Finish(s *Snapshot) (shared any, size int64, err error)
}

// EncodedSnapshot is a [Snapshot] as JSON, whose bytes are shared with other clients.
type EncodedSnapshot struct {
	// Pieces are the JSON, one behind the other. They must not be changed, and not be used
	// after Release.
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

// FormedSnapshot is a snapshot in a [SnapshotForm]. Other clients have the same one, so nothing of
// it may be changed.
type FormedSnapshot struct {
	// Snapshot is the snapshot. It has only the messages after the record's last entry, and
	// leaves out their content.
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
}

// FormedFrame is a [Frame] whose snapshot is in another form.
type FormedFrame struct {
	Frame

	// Formed is the snapshot of a snapshot frame. The caller must release it. Nil: the frame
	// is no snapshot frame.
	Formed *FormedSnapshot
}

// FollowOptions say from where to follow.
type FollowOptions struct {
	// Cursor is the client's place: the follower starts right after it. Nil: the follower
	// reads the whole record. Of the run streams it then reads only the active one, from
	// the first item that the messages lack.
	Cursor *Cursor
	// LastMessageID is the last message that the client has, so that a snapshot frame
	// carries only those behind it. Empty: none.
	LastMessageID MessageID
	// LastTurnID is the last user turn after the cursor's entry that the client has. It is for
	// a client that keeps no other messages. Empty: none, and the turns after that entry come
	// again.
	LastTurnID MessageID
	// CreatedAt is the creation time of the thread to follow. A thread with another creation
	// time counts as missing. Defaults to that of the present thread. In both cases the follower
	// ends when the thread is deleted, even if a new thread gets its id.
	CreatedAt time.Time
}

// SSEOptions say from where and how to stream.
type SSEOptions struct {
	// Cursor is the client's place in its wire form: what came as Last-Event-ID, or else
	// as the cursor parameter. A malformed one is none.
	Cursor string
	// Since is a bare record seq of an older client, used when there is no cursor. Nil:
	// none.
	Since *int64
	// LastMessageID is the last message that the client has. Empty: none.
	LastMessageID MessageID
	// CreatedAt is that of [FollowOptions].
	CreatedAt time.Time
	// Retry is how long a browser is told to wait before it reconnects. Negative: it is
	// not told. Defaults to the RetryHint of the engine.
	Retry time.Duration
	// KeepaliveEvent has an idle stream kept alive by events of the type "keepalive" with an empty
	// object and without an id, which scripts in a browser see. Defaults to comments, which only
	// keep the connection.
	KeepaliveEvent bool
	// WireFormat is the form of the frames. The only one is "", the native one.
	WireFormat string
	// State is the run state of a host whose storage is scoped by it. The engine scopes
	// by the thread's tenant and does not read it.
	State json.RawMessage
}
