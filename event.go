package spool

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
)

const (
	// MaxEventBytes bounds the JSON of a durable event.
	MaxEventBytes = 64 << 10
	// MaxLiveEventBytes bounds the JSON of a live event, so that it fits into a notice with its envelope: see
	// [store.MaxNoticeBytes].
	MaxLiveEventBytes = 6 << 10
)

// Event is a message of an application to the clients that follow a thread.
type Event struct {
	// Type is the application's own word: see [CheckEventType].
	Type string
	// Payload is any JSON, on one line.
	Payload json.RawMessage
	// Durable events are entries of the record, which later clients get too. Other events reach only the
	// clients that follow now.
	Durable bool
}

// NewEvent returns an event with the JSON form of payload, which is null for nil. It returns an [Invalid]
// error that names type or payload if [CheckEventType] refuses the type, if payload has no JSON form or
// [CheckJSON] refuses it, and if it is longer than [MaxEventBytes] or, for a live event, [MaxLiveEventBytes].
func NewEvent(t string, payload any, durable bool) (Event, error) {
	if err := CheckEventType(t); err != nil {
		return Event{}, err
	}
	if raw, ok := payload.(json.RawMessage); ok && len(raw) == 0 {
		payload = nil
	}
	text, err := json.Marshal(payload)
	limit := MaxLiveEventBytes
	if durable {
		limit = MaxEventBytes
	}
	switch {
	case err != nil:
		return Event{}, &Error{Code: Invalid, Message: "payload has no JSON form", Err: err}
	case len(text) > limit && durable:
		return Event{}, Errorf(Invalid, "payload is longer than %d bytes", limit)
	case len(text) > limit:
		return Event{}, Errorf(Invalid, "payload is longer than %d bytes, the most of a live event", limit)
	}
	if err := CheckJSON("payload", text); err != nil {
		return Event{}, err
	}
	return Event{Type: t, Payload: text, Durable: durable}, nil
}

// CheckEventType returns an [Invalid] error that names type unless it matches [A-Za-z0-9._:-]{1,128} and
// differs, also in other letter case, from all types of record entries, notices and run stream items.
func CheckEventType(t string) error {
	if err := CheckID("type", t); err != nil {
		return err
	}
	if word := strings.ToUpper(t); slices.Contains(reservedTypes, word) || slices.Contains(otherTypes, word) {
		return Errorf(Invalid, "type %s is reserved", t)
	}
	return nil
}

// otherTypes are words of other runtimes with the same clients. No application may use them, either.
var otherTypes = []string{
	"CHUNK", "STEP_COMMITTED", "TEXT_RESULT", "HEARTBEAT", "RECORD_CHANGED", "SNAPSHOT",
	"SUBAGENT_CHUNK", "SUBAGENT_COMPLETED", "SUBAGENT_FAILED",
}

// Publish sends an event to the clients that follow the thread now. It is safe for concurrent use. It returns
// the error of [NewEvent]; an event that reaches nobody is no error.
func (c ToolCall) Publish(ctx context.Context, t string, payload any) error {
	return c.publish(ctx, t, payload, false)
}

// PublishDurable adds an entry to the thread's record; the entry is durable when it returns. It is safe for
// concurrent use. It returns the error of [NewEvent], [store.ErrFenced] if another worker now has the run, and any
// other error if the store failed.
//
// A call that is repeated after a crash publishes again: see [Tool.Idempotent].
func (c ToolCall) PublishDurable(ctx context.Context, t string, payload any) error {
	return c.publish(ctx, t, payload, true)
}

func (c ToolCall) publish(ctx context.Context, t string, payload any, durable bool) error {
	e, err := NewEvent(t, payload, durable)
	if err != nil || c.PublishFunc == nil {
		return err
	}
	return c.PublishFunc(ctx, e)
}
