package threads

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/wire"
)

// BranchesInput asks for the branches of a thread.
type BranchesInput struct{ call.OneThread }

// BranchList is the answer to a list of branches.
type BranchList struct {
	Branches []wire.Branch `json:"branches"` // The branches, the newest one first.
}

// Branches answers with the messages that edits and rollbacks have replaced. Each branch is a user turn with all
// messages after it. A branch is kept until the thread is deleted, and can be shown again.
func (c Controller) Branches(ctx context.Context, in BranchesInput) (BranchList, error) {
	key := in.Key(ctx)
	list, err := c.Engine.Branches(call.Acting(ctx), key)
	return BranchList{list}, call.About(ctx, err, key, "")
}

// BranchInput asks for the messages of a branch.
type BranchInput struct {
	call.OneThread

	BranchID wire.BranchID `example:"7" minimum:"1" query:"branchId" required:"true"` // The branch.
	// Only the last so many messages. Left out: all.
	Limit int `maximum:"1000" minimum:"1" query:"limit"`
	// Only messages before this one, for paging back.
	Before spool.MessageID `maxLength:"128" pattern:"^[A-Za-z0-9._:-]+$" query:"before"`
}

// Branch answers with the messages of a branch, as the history had them: all of them, or at most limit messages before
// one of them.
func (c Controller) Branch(ctx context.Context, in BranchInput) (wire.BranchMessages, error) {
	key := in.Key(ctx)
	branch, err := c.Engine.Branch(call.Acting(ctx), key, in.BranchID,
		&wire.BranchOptions{Before: in.Before, Limit: in.Limit})
	return branch, call.About(ctx, err, key, "")
}

// RestoreRequest is the body of a restore.
type RestoreRequest struct {
	ThreadID spool.ThreadID `example:"t1" json:"threadId"`                             // The thread.
	BranchID wire.BranchID  `example:"7"  json:"branchId" minimum:"1" required:"true"` // The branch to restore.
}

// Validate implements [rest.Validator].
func (in *RestoreRequest) Validate(context.Context) error {
	return spool.CheckID("threadId", string(in.ThreadID))
}

// Restore shows the messages of a branch again, as they were. The messages that they replace become a branch, which the
// answer names, so nothing is lost and you can go back. No model is called.
//
// A 409 has the reason: the thread has a run that is not over (`active_run`), the branch does not exist (any more)
// (`not_found`), or it begins in another branch, which has to be restored first (`not_restorable`).
func (c Controller) Restore(ctx context.Context, in RestoreRequest) (wire.RestoreResult, error) {
	key := call.By(ctx).Key(in.ThreadID)
	result, err := c.Engine.RestoreBranch(call.Acting(ctx), key, in.BranchID)
	return call.Result(ctx, result, result.Accepted, err, key, "")
}
