package engine

import (
	"context"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/thread"
)

// Branches lists the branches of a thread, the newest first. A branch is the messages that an edit, a
// rollback or a restore has removed from the thread's view. Branches returns a [spool.NotFound] error
// for a thread that does not exist.
func (w *Watcher) Branches(ctx context.Context, key spool.ThreadKey) ([]spool.Branch, error) {
	var branches []spool.Branch
	err := record.View(ctx, w.store, key, func(v spool.View, _ spool.Thread) (err error) {
		branches, err = v.Branches()
		return err
	})
	return record.NonNil(branches), err
}

// Branch returns a branch and its messages. A nil o asks for all messages. Branch returns a
// [spool.NotFound] error for a thread or a branch that does not exist.
func (w *Watcher) Branch(ctx context.Context, key spool.ThreadKey, id spool.BranchID, o *BranchOptions) (BranchMessages, error) {
	if o == nil {
		o = &BranchOptions{}
	}
	var out BranchMessages
	err := record.View(ctx, w.store, key, func(v spool.View, _ spool.Thread) (err error) {
		if out.Branch, err = thread.Branch(v, id); err != nil {
			return err
		}
		out.Messages, err = v.Messages(spool.MessageQuery{Branch: id, Before: o.Before, Limit: o.Limit})
		return err
	})
	out.Messages = record.NonNil(out.Messages)
	return out, err
}

// RestoreBranch shows the messages of a branch again, as they were. The messages that it replaces
// become a branch themselves, so that a client can go back. RestoreBranch is refused, and changes
// nothing, if the thread has an active run, if the branch does not exist any more, or if the branch
// begins in another branch that has to be restored first.
//
// Of two concurrent calls for one branch, one is refused. A call that fails with [spool.Unavailable]
// may have restored the branch.
func (e *Engine) RestoreBranch(ctx context.Context, key spool.ThreadKey, id spool.BranchID) (RestoreResult, error) {
	result := RestoreResult{BranchID: id}
	var dropped spool.BranchID
	err := e.store.Update(ctx, key, 0, func(tx spool.Tx) (err error) {
		dropped, err = thread.RestoreBranch(tx, id)
		return err
	})
	if no, ok := errors.AsType[*thread.RefusedError](err); ok {
		result.Reason, result.Error = no.Reason, no.Text
		return result, nil
	}
	if err != nil {
		return result, err
	}
	e.threads.Announce(key, false)
	result.Accepted, result.DroppedBranchID = true, dropped
	return result, nil
}
