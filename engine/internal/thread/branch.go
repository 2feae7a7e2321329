package thread

import (
	"fmt"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
)

// RestoreBranch shows a branch again. It returns the new branch that contains the replaced messages, or
// zero if it replaced none. Its entries belong to no run, because the runs that wrote the messages have
// ended.
func RestoreBranch(db spool.Tx, id spool.BranchID) (dropped spool.BranchID, err error) {
	thread, err := db.Thread()
	switch {
	case record.Missing(err):
		return 0, Refuse(spool.ReasonNotFound, record.ThreadNotFound)
	case err != nil:
		return 0, err
	case thread.State.Active():
		return 0, Refuse(spool.ReasonActiveRun, spool.ErrActiveRun.Message)
	}
	branch, err := Branch(db, id)
	switch {
	case record.Missing(err):
		return 0, Refuse(spool.ReasonNotFound, branchNotFound)
	case err != nil:
		return 0, err
	case !branch.Restorable():
		return 0, Refuse(spool.ReasonNotRestorable, fmt.Sprintf("Branch %d has to be restored first", branch.BaseBranchID))
	}
	shown, err := db.Messages(spool.MessageQuery{After: branch.BaseMessageID})
	if err != nil {
		return 0, err
	}
	if len(shown) > 0 {
		if dropped, err = drop(db, shown[0].ID, ""); err != nil {
			return 0, err
		}
	}
	entry := spool.NewEntry(spool.EntryMessagesRestored, "", spool.MessagesRestored{
		BranchID: id, FromMessageID: branch.FromMessageID, Count: branch.MessageCount,
	})
	return dropped, db.Write(spool.Changes{Restore: id, Entries: []*spool.Entry{entry}})
}

const branchNotFound = "Branch not found"

// Branch returns a branch of the thread, or a [spool.NotFound] error.
func Branch(v spool.View, id spool.BranchID) (spool.Branch, error) {
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
