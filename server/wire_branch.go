package server

import (
	"time"

	"github.com/spoolhq/spool"
)

type branch struct {
	ID            spool.BranchID  `doc:"The branch's id: the seq of the MESSAGES_DROPPED that made it."                                      example:"7"                    json:"id"`
	FromMessageID spool.MessageID `doc:"Its first message."                                                                                  json:"fromMessageId"`
	BaseMessageID spool.MessageID `doc:"The message behind which it begins. Left out: it begins with the thread."                            json:"baseMessageId,omitempty"`
	BaseBranchID  spool.BranchID  `doc:"The branch that has that message, and has to be restored first. Left out: this one can be restored." json:"baseBranchId,omitempty"`
	Preview       string          `doc:"The beginning of its first turn of the user, in up to 80 characters."                                example:"Hello"                json:"preview"`
	MessageCount  int             `doc:"How many messages it has."                                                                           json:"messageCount"`
	CreatedAt     time.Time       `doc:"When its messages were replaced."                                                                    json:"createdAt"`
	RunID         spool.RunID     `doc:"The run that replaced them. Left out: another branch was restored."                                  json:"runId,omitempty"`
}

type branchMessages struct {
	Branch   branch    `doc:"The branch."                   json:"branch"`
	Messages []message `doc:"Its messages, in their order." json:"messages"`
}

type restoreResult struct {
	Accepted        bool           `doc:"Whether the branch is shown again."                                             example:"true"                             json:"accepted"`
	BranchID        spool.BranchID `doc:"The branch that was asked for. One that is shown is no branch any more."        example:"7"                                json:"branchId"`
	DroppedBranchID spool.BranchID `doc:"The branch that what was shown in its place has become. Left out: nothing was." json:"droppedBranchId,omitempty"`
	Reason          string         `doc:"Why it is not shown, for a program."                                            enum:"active_run,not_found,not_restorable" json:"reason,omitempty"`
	Error           string         `doc:"Why it is not shown, for a person."                                             json:"error,omitempty"`
}
