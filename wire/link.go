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
	ID         LinkID           `doc:"The link, to revoke it."                       json:"linkId"`
	ThreadID   spool.ThreadID   `doc:"The thread that waits."                        example:"t1"              json:"threadId"`
	ToolCallID spool.ToolCallID `doc:"The call that waits."                          example:"call_1"          json:"toolCallId"`
	Approver   string           `doc:"Who answers with the link."                    example:"ann@example.com" json:"approver"`
	MadeBy     string           `doc:"Who made the link. Left out: nobody is known." json:"madeBy,omitempty"`
	CreatedAt  time.Time        `doc:"When the link was made."                       json:"createdAt"`
	ExpiresAt  time.Time        `doc:"When the link expires."                        json:"expiresAt"`
}
