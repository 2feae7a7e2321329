package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
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
	Branch   spool.Branch    `json:"branch"`
	Messages []spool.Message `json:"messages"`
}

// RestoreResult is the answer to the restoring of a branch. A refusal is not an error.
type RestoreResult struct {
	Accepted bool `json:"accepted"`
	// BranchID is the branch that was to be restored. One that was is no branch any more.
	BranchID spool.BranchID `json:"branchId"`
	// DroppedBranchID is the branch that has what was shown in its place, and with which one
	// gets back. Zero: nothing was.
	DroppedBranchID spool.BranchID `json:"droppedBranchId,omitempty"`
	// Reason is one of the constants named Reason, empty for a branch that was restored.
	Reason string `json:"reason,omitempty"`
	Error  string `json:"error,omitempty"`
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
		if out.Branch, err = branchOf(v, id); err != nil {
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
	refused := RestoreResult{BranchID: id}
	done := refused
	err := e.store.Update(ctx, key, 0, func(tx spool.Tx) (err error) {
		done = refused
		done.Accepted = true
		done.DroppedBranchID, err = restore(tx, id)
		return err
	})
	var no *refusal
	switch {
	case errors.As(err, &no):
		refused.Reason, refused.Error = no.reason, no.text
		return refused, nil
	case err != nil:
		return refused, err
	}
	e.announce(key, false)
	return done, nil
}

// restore brings a branch back, and returns the one that what was shown in its place has
// become. The entries belong to no run: those that have written the messages are over.
func restore(tx spool.Tx, id spool.BranchID) (dropped spool.BranchID, err error) {
	thread, err := tx.Thread()
	switch {
	case missing(err):
		return 0, &refusal{ReasonNotFound, record.ThreadNotFound}
	case err != nil:
		return 0, err
	case thread.State.Active():
		return 0, &refusal{ReasonActiveRun, spool.ErrActiveRun.Message}
	}
	branch, err := branchOf(tx, id)
	switch {
	case missing(err):
		return 0, &refusal{ReasonNotFound, branchNotFound}
	case err != nil:
		return 0, err
	case !branch.Restorable():
		return 0, &refusal{ReasonNotRestorable, fmt.Sprintf("Branch %d has to be restored first", branch.BaseBranchID)}
	}
	shown, err := tx.Messages(spool.MessageQuery{After: branch.BaseMessageID})
	if err != nil {
		return 0, err
	}
	if len(shown) > 0 {
		if dropped, err = drop(tx, shown[0].ID, ""); err != nil {
			return 0, err
		}
	}
	entry := spool.NewEntry(spool.EntryMessagesRestored, "", spool.MessagesRestored{
		BranchID: id, FromMessageID: branch.FromMessageID, Count: branch.MessageCount,
	})
	if err := tx.AppendEntries(entry); err != nil {
		return 0, err
	}
	return dropped, tx.RestoreBranch(id)
}

const branchNotFound = "Branch not found"

// branchOf returns a branch of the thread, or a [spool.NotFound] error.
func branchOf(v spool.View, id spool.BranchID) (spool.Branch, error) {
	branches, err := v.Branches()
	if err != nil {
		return spool.Branch{}, err
	}
	for _, b := range branches {
		if b.ID == id {
			return b, nil
		}
	}
	return spool.Branch{}, spool.Errorf(spool.NotFound, branchNotFound)
}
