package engine

import (
	"context"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Branches lists the branches of a thread, the newest first. A branch is the messages that an edit, a
// rollback or a restore has removed from the thread's view. Branches returns a [spool.NotFound] error
// for a thread that does not exist.
func (w *Watcher) Branches(ctx context.Context, key spool.ThreadKey) ([]wire.Branch, error) {
	var branches []wire.Branch
	err := record.View(ctx, w.store, key, func(v store.View, _ wire.Thread) (err error) {
		branches, err = v.Branches()
		return err
	})
	return record.NonNil(branches), err
}

// Branch returns a branch and its messages. A nil o asks for all messages. Branch returns a
// [spool.NotFound] error for a thread or a branch that does not exist.
func (w *Watcher) Branch(
	ctx context.Context, key spool.ThreadKey, id wire.BranchID, o *wire.BranchOptions,
) (wire.BranchMessages, error) {
	if o == nil {
		o = &wire.BranchOptions{}
	}
	var out wire.BranchMessages
	err := record.View(ctx, w.store, key, func(v store.View, _ wire.Thread) (err error) {
		if out.Branch, err = thread.Branch(v, id); err != nil {
			return err
		}
		out.Messages, err = v.Messages(store.MessageQuery{Branch: id, Before: o.Before, Limit: o.Limit})
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
func (e *Engine) RestoreBranch(ctx context.Context, key spool.ThreadKey, id wire.BranchID) (wire.RestoreResult, error) {
	result := wire.RestoreResult{BranchID: id}
	var dropped wire.BranchID
	err := e.store.Update(ctx, key, 0, func(tx store.Tx) (err error) {
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
