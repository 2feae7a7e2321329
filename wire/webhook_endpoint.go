package wire

import (
	"time"

	"github.com/spoolhq/spool"
)

// WebhookEndpoint is where events of a tenant go. Nobody sees its secrets, nor the path of its URL, which may be one.
type WebhookEndpoint struct {
	Name string `example:"billing" json:"name"` // Names the endpoint in its tenant.
	// Origin is the scheme and the host of its URL, and of a Host the host alone.
	Origin string `example:"https://hooks.example.com" json:"origin"`
	WebhookFilter
	// Form is the form of its bodies.
	Form string `enum:"plain,slack,template" json:"form"`
	// Text is whether its events have the last answer of the run.
	Text bool `json:"text,omitempty"`
	// Approver is who answers with the links in its events. Left out: the events have no link.
	Approver string `example:"ann@example.com" json:"approver,omitempty"`
	// OwnOnly is whether it gets only events of threads that its maker owns.
	OwnOnly bool `json:"ownOnly,omitempty"`
	// FromFile is whether the configuration has it, so that it cannot be changed here.
	FromFile bool `json:"fromFile,omitempty"`
	// Host is whether it stands for a host that the configuration lists for the webhooks of starts. Its name is @ with the
	// host. It has no URL of its own, so it cannot be tested, and it cannot be disabled.
	Host       bool      `json:"host,omitempty"`
	MadeBy     string    `json:"madeBy,omitempty"`    // Who made it. Left out: nobody is known.
	CreatedAt  time.Time `json:"createdAt,omitzero"`  // When it was made. Left out: the configuration has it.
	Secrets    int       `json:"secrets,omitempty"`   // How many secrets sign its events: two while they change.
	DisabledAt time.Time `json:"disabledAt,omitzero"` // Since when it gets no events. Left out: it gets them.
	// DisabledReason is why it gets no events, for a person.
	DisabledReason string `json:"disabledReason,omitempty"`
}

// WebhookAttempt is an attempt to deliver an event.
type WebhookAttempt struct {
	EventID  string         `example:"msg_1"       json:"eventId"`            // The event.
	Type     WebhookType    `example:"run.waiting" json:"type"`               // Its kind.
	ThreadID spool.ThreadID `example:"t1"          json:"threadId,omitempty"` // Its thread.
	Attempt  int            `json:"attempt"`                                  // Which attempt it was, from 1.
	At       time.Time      `json:"at"`                                       // When it ended.
	// DurationMS is how long it took, in milliseconds.
	DurationMS int64 `json:"durationMs"`
	// Result is what it means for the event.
	Result string `enum:"delivered,gone,later,failed,dead" json:"result"`
	Status int    `json:"status,omitempty"` // The status of the answer. Left out: there was none.
	Answer string `json:"answer,omitempty"` // The beginning of the answer. It is not kept if the body had a link.
	Error  string `json:"error,omitempty"`  // Why the event was not delivered, for a person.
	// NextAt is when the next attempt is due. Left out: there is none.
	NextAt time.Time `json:"nextAt,omitzero"`
}
