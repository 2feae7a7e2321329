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
// A value encodes the message behind those that were encoded before it, and does not
// change. Callers pass the value for the first message, which must be comparable and always
// the same: it names the form.
type SnapshotForm interface {
	// AppendMessage appends what the message becomes: elements of a JSON array, each with a
	// comma before it, or nothing. It returns the form for the message behind it.
	AppendMessage(b []byte, m Message) (_ []byte, next SnapshotForm, err error)
	// Finish is called behind the last message of a snapshot. It returns what clients share
	// beside the messages, and roughly how many bytes that takes. The snapshot has no
	// messages.
	Finish(s *Snapshot) (shared any, size int64, err error)
}

// FollowOptions say from where to follow.
type FollowOptions struct {
	// Cursor is the place behind which to follow. Nil: from now, which is the record from
	// its start and of the run streams only the one in flight, from what the messages
	// lack.
	Cursor *Cursor
	// LastMessageID is the last message that the client has, so that a snapshot frame
	// carries only those behind it. Empty: none.
	LastMessageID MessageID
	// LastTurnID is the last user turn behind the cursor's entry that the client has, for one
	// that has no messages else. Empty: none, and those turns come again.
	LastTurnID MessageID
	// CreatedAt is when the thread that is meant was made: one that was made at another time
	// counts as none. Defaults to the thread that there is. Either way the follower ends when
	// that thread is deleted, also if another one is made under its id.
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
