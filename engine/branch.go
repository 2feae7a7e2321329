package engine

import (
	"context"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/thread"
)

// BranchOptions narrow a branch's messages.
type BranchOptions struct {
	// Before leaves out this message and those behind it. An id that the branch does not
	// have leaves out nothing.
	Before spool.MessageID
	// Limit keeps only the last ones. Zero: all.
	Limit int
}

// BranchMessages is a branch with its messages, in their order.
type BranchMessages struct {
	Branch   spool.Branch    `doc:"The branch."                   json:"branch"`
	Messages []spool.Message `doc:"Its messages, in their order." json:"messages"`
}

// RestoreResult is the answer to the restoring of a branch. A refusal is not an error.
type RestoreResult struct {
	Accepted bool `doc:"Whether the branch is shown again." example:"true" json:"accepted"`
	// BranchID is the branch that was to be restored. One that was is no branch any more.
	BranchID spool.BranchID `doc:"The branch that was asked for. One that is shown is no branch any more." example:"7" json:"branchId"`
	// DroppedBranchID is the branch that has what was shown in its place, and with which one
	// gets back. Zero: nothing was.
	DroppedBranchID spool.BranchID `doc:"The branch that what was shown in its place has become. Left out: nothing was." json:"droppedBranchId,omitempty"`
	// Reason is one of the constants named Reason, empty for a branch that was restored.
	Reason string `doc:"Why it is not shown, for a program." enum:"active_run,not_found,not_restorable" json:"reason,omitempty"`
	Error  string `doc:"Why it is not shown, for a person."  json:"error,omitempty"`
}

// Branches lists what edits, rollbacks and restores have taken out of the thread's view,
// the newest first. It returns a [spool.NotFound] error for a thread that does not exist.
func (e *Engine) Branches(ctx context.Context, key spool.ThreadKey) ([]spool.Branch, error) {
	var branches []spool.Branch
	err := e.store.View(ctx, key, func(v spool.View) (err error) {
		if _, err = v.Thread(); err != nil {
			return record.NotFound(err)
		}
		branches, err = v.Branches()
		return err
	})
	return record.NonNil(branches), err
}

// Branch returns a branch and its messages. A nil o narrows nothing. It returns a
// [spool.NotFound] error for a thread or a branch that does not exist.
func (e *Engine) Branch(ctx context.Context, key spool.ThreadKey, id spool.BranchID, o *BranchOptions) (BranchMessages, error) {
	if o == nil {
		o = &BranchOptions{}
	}
	var out BranchMessages
	err := e.store.View(ctx, key, func(v spool.View) (err error) {
		if _, err = v.Thread(); err != nil {
			return record.NotFound(err)
		}
		if out.Branch, err = thread.Branch(v, id); err != nil {
			return err
		}
		out.Messages, err = v.Messages(spool.MessageQuery{Branch: id, Before: o.Before, Limit: o.Limit})
		return err
	})
	out.Messages = record.NonNil(out.Messages)
	return out, err
}

// RestoreBranch shows the messages of a branch again, as they were. What the thread has
// shown in their place leaves the view as a branch of its own, so that nothing is lost and
// one can go back. A refusal changes nothing: the thread has an active run, the branch does
// not exist (any more), or it begins in another branch, which has to be restored first.
//
// Of two calls for one branch, one is refused. A call that failed with [spool.Unavailable]
// may have restored it.
func (e *Engine) RestoreBranch(ctx context.Context, key spool.ThreadKey, id spool.BranchID) (RestoreResult, error) {
	result := RestoreResult{BranchID: id}
	var dropped spool.BranchID
	err := e.store.Update(ctx, key, 0, func(tx spool.Tx) (err error) {
		dropped, err = thread.RestoreBranch(tx, id)
		return err
	})
	if no, ok := errors.AsType[*thread.Refusal](err); ok {
		result.Reason, result.Error = no.Reason, no.Text
		return result, nil
	}
	if err != nil {
		return result, err
	}
	e.announce(key, false)
	result.Accepted, result.DroppedBranchID = true, dropped
	return result, nil
}
