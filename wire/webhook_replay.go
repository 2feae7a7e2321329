package wire

import (
	"time"

	"github.com/spoolhq/spool"
)

// WebhookReplay says which dead events of an endpoint are delivered again. It has exactly one field.
type WebhookReplay struct {
	EventID string    `example:"msg_1"       json:"eventId,omitempty"` // This event only.
	Since   time.Time `json:"since,omitzero"`                          // All events that died at this time or later.
}

// Check returns an [spool.Invalid] error unless the replay has exactly one field.
func (r WebhookReplay) Check() error {
	switch {
	case r.EventID == "" && r.Since.IsZero():
		return spool.Errorf(spool.Invalid, "eventId or since is required")
	case r.EventID != "" && !r.Since.IsZero():
		return spool.Errorf(spool.Invalid, "eventId and since exclude each other")
	case len(r.EventID) > spool.MaxIDLen:
		return spool.Errorf(spool.Invalid, "eventId is longer than %d characters", spool.MaxIDLen)
	}
	return nil
}

// WebhookReplayed is the result of a [WebhookReplay].
type WebhookReplayed struct {
	Events int `json:"events"` // How many events are delivered again, with their ids and bodies.
	// More is whether there are more such events: ask again.
	More bool `json:"more,omitempty"`
}

// WebhookDead is an event that was not delivered, and is not tried again by itself.
type WebhookDead struct {
	EventID   string         `example:"msg_1"       json:"eventId"`            // The event.
	Type      WebhookType    `example:"run.waiting" json:"type"`               // Its kind.
	Timestamp time.Time      `json:"timestamp"`                                // When it happened.
	ThreadID  spool.ThreadID `example:"t1"          json:"threadId,omitempty"` // Its thread.
	RunID     spool.RunID    `example:"r1"          json:"runId,omitempty"`    // Its run.
	Attempts  int            `json:"attempts"`                                 // How often it was tried.
	Cause     string         `json:"cause"`                                    // Why it is not tried any more, for a person.
	DiedAt    time.Time      `json:"diedAt"`                                   // Since when it is not tried any more.
	JobID     int64          `json:"jobId"`                                    // Its dead job. It continues a list.
}
