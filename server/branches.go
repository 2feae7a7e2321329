package server

import (
	"context"
	"net/http"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/internal/call"
)

// branchesInput asks for the branches of a thread.
type branchesInput struct{ call.OneThread }

// branchList is the answer to a list of branches.
type branchList struct {
	Branches []spool.Branch `doc:"The branches, the newest one first." json:"branches"`
}

// list answers GET /api/agent/branches with all branches of the thread.
func (c branches) list(ctx context.Context, in branchesInput) (branchList, error) {
	key := in.Key(ctx)
	list, err := c.engine.Branches(call.Acting(ctx), key)
	return branchList{list}, call.About(ctx, err, key, "")
}

// branchInput asks for the messages of a branch.
type branchInput struct {
	call.OneThread

	BranchID spool.BranchID  `doc:"The branch."                                     example:"7"     minimum:"1"                  query:"branchId" required:"true"`
	Limit    int             `doc:"Only the last so many messages. Left out: all."  maximum:"1000"  minimum:"1"                  query:"limit"`
	Before   spool.MessageID `doc:"Only messages before this one, for paging back." maxLength:"128" pattern:"^[A-Za-z0-9._:-]+$" query:"before"`
}

// messages answers GET /api/agent/branches/messages with a branch and its messages.
func (c branches) messages(ctx context.Context, in branchInput) (engine.BranchMessages, error) {
	key := in.Key(ctx)
	branch, err := c.engine.Branch(call.Acting(ctx), key, in.BranchID, &engine.BranchOptions{Before: in.Before, Limit: in.Limit})
	return branch, call.About(ctx, err, key, "")
}

// restoreRequest is the body of a restore.
type restoreRequest struct {
	ThreadID spool.ThreadID `doc:"The thread."                           example:"t1" json:"threadId"`
	BranchID spool.BranchID `doc:"The branch that is to be shown again." example:"7"  json:"branchId" minimum:"1" required:"true"`
}

// Validate implements [rest.Validator].
func (in *restoreRequest) Validate(context.Context) error {
	return spool.CheckID("threadId", string(in.ThreadID))
}

// restore answers POST /api/agent/branches/restore: 200 with the result when the branch is
// shown again, 409 with the result when it cannot be, or the thread is not the caller's.
func (c branches) restore(ctx context.Context, in restoreRequest) (engine.RestoreResult, error) {
	key := call.By(ctx).Key(in.ThreadID)
	result, err := c.engine.RestoreBranch(call.Acting(ctx), key, in.BranchID)
	if err != nil {
		return result, call.About(ctx, err, key, "")
	}
	if !result.Accepted {
		rest.ResponseOf(ctx).SetStatus(http.StatusConflict)
	}
	return result, nil
}
