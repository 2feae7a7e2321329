package wire

import (
	"time"

	"github.com/spoolhq/spool"
)

// LinkID names a link to a question.
type LinkID string

// QuestionLink is a link with which one person answers one question. It does not open anything by itself: the URL has a
// signature, which nobody stores.
type QuestionLink struct {
	ID         LinkID           `json:"linkId"`                               // The link, to revoke it.
	ThreadID   spool.ThreadID   `example:"t1"              json:"threadId"`   // The thread that waits.
	ToolCallID spool.ToolCallID `example:"call_1"          json:"toolCallId"` // The call that waits.
	Approver   string           `example:"ann@example.com" json:"approver"`   // Who answers with the link.
	// MadeBy is who made the link. Left out: nobody is known.
	MadeBy    string    `json:"madeBy,omitempty"`
	CreatedAt time.Time `json:"createdAt"` // When the link was made.
	ExpiresAt time.Time `json:"expiresAt"` // When the link expires.
}
