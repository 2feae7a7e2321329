package call

import (
	"strings"
	"time"

	"github.com/spoolhq/spool"
)

// LastMessage is the last message that a client has. An id that no message can have counts as absent.
type LastMessage struct {
	// LastMessageID is the last message that you have. Those up to it are left out; an unknown one leaves out
	// nothing.
	LastMessageID string `query:"lastMessageId"`
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

// maxToolCallID is the length in bytes of the longest tool call id. Models choose these ids, so the server
// does not restrict their characters.
const maxToolCallID = 512

// CheckToolCall returns an error for an id that no call can have.
func CheckToolCall(call spool.ToolCallID) error {
	if len(call) > maxToolCallID {
		return spool.Errorf(spool.Invalid, "toolCallId is longer than %d characters", maxToolCallID)
	}
	return nil
}

// The maximum bodies of requests.
const (
	// SmallBody is the maximum of a body with only ids and short texts.
	SmallBody = 64 << 10
	// LongBody is the maximum of a body with JSON of the client's own, such as the payload of an answer.
	LongBody = 1 << 20
)

// TimeMark returns "<time>~<id>", the position from which a list continues. An id has no tilde.
func TimeMark(at time.Time, id string) string {
	return at.UTC().Format(time.RFC3339Nano) + "~" + id
}

// ErrMark is the error for an invalid position of a list.
var ErrMark = spool.Errorf(spool.Invalid, "before must be the next of an earlier page")

// ParseTimeMark reads a text of [TimeMark].
func ParseTimeMark(mark string) (time.Time, string, error) {
	at, id, ok := strings.Cut(mark, "~")
	t, err := time.Parse(time.RFC3339Nano, at)
	if !ok || err != nil || spool.CheckID("before", id) != nil {
		return time.Time{}, "", ErrMark
	}
	return t, id, nil
}
