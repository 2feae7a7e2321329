package call

import (
	"context"
	"strings"
	"time"

	"github.com/spoolhq/spool"
)

// OneThread names the thread that a request is about.
type OneThread struct {
	ThreadID spool.ThreadID `doc:"The thread." example:"t1" maxLength:"128" pattern:"^[A-Za-z0-9._:-]+$" query:"threadId" required:"true"`
}

// Key returns the thread's key.
func (q OneThread) Key(ctx context.Context) spool.ThreadKey {
	key := By(ctx).Key(q.ThreadID)
	Concerns(ctx, key, "")
	return key
}

// LastMessage is the last message that a client has. An id that no message can have counts as
// none.
type LastMessage struct {
	LastMessageID string `doc:"The last message that you have. Those up to it are left out; an unknown one leaves out nothing." query:"lastMessageId"`
}

// Last returns the id of the message, "" for none.
func (q LastMessage) Last() spool.MessageID {
	if spool.CheckID("lastMessageId", q.LastMessageID) != nil {
		return ""
	}
	return spool.MessageID(q.LastMessageID)
}

// CheckOptionalID is [spool.CheckID] for a field that may be absent.
func CheckOptionalID(field, id string) error {
	if id == "" {
		return nil
	}
	return spool.CheckID(field, id)
}

// maxToolCallID is the length in bytes of the longest tool call id. Models make these
// up, so that their characters are not ours to restrict.
const maxToolCallID = 512

// CheckToolCall returns an error for an id that no call has.
func CheckToolCall(call spool.ToolCallID) error {
	if len(call) > maxToolCallID {
		return spool.Errorf(spool.Invalid, "toolCallId is longer than %d characters", maxToolCallID)
	}
	return nil
}

// How long bodies may be.
const (
	// SmallBody bounds a body that has ids and words alone.
	SmallBody = 64 << 10
	// LongBody bounds a body that has JSON of the client's own, such as the payload of an answer.
	LongBody = 1 << 20
)

// TimeMark returns "<time>~<id>", from which a list goes on. An id has no tilde.
func TimeMark(at time.Time, id string) string {
	return at.UTC().Format(time.RFC3339Nano) + "~" + id
}

// ErrMark says that a list cannot go on from there.
var ErrMark = spool.Errorf(spool.Invalid, "before must be the next of an earlier page")

// ParseTimeMark reads what [TimeMark] has written.
func ParseTimeMark(mark string) (time.Time, string, error) {
	at, id, ok := strings.Cut(mark, "~")
	t, err := time.Parse(time.RFC3339Nano, at)
	if !ok || err != nil || spool.CheckID("before", id) != nil {
		return time.Time{}, "", ErrMark
	}
	return t, id, nil
}
