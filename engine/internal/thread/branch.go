package thread

import (
	"fmt"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// RestoreBranch shows a branch again. It returns the new branch that contains the replaced messages, or
// zero if it replaced none. Its entries belong to no run, because the runs that wrote the messages have
// ended.
func RestoreBranch(db store.Tx, id wire.BranchID) (dropped wire.BranchID, err error) {
	thread, err := db.Thread()
	switch {
	case record.Missing(err):
		return 0, Refuse(wire.ReasonNotFound, record.ThreadNotFound)
	case err != nil:
		return 0, err
	case thread.State.Active():
		return 0, Refuse(wire.ReasonActiveRun, store.ErrActiveRun.Message)
	}
	branch, err := Branch(db, id)
	switch {
	case record.Missing(err):
		return 0, Refuse(wire.ReasonNotFound, branchNotFound)
	case err != nil:
		return 0, err
	case !branch.Restorable():
		return 0, Refuse(wire.ReasonNotRestorable, fmt.Sprintf("Branch %d has to be restored first", branch.BaseBranchID))
	}
	shown, err := db.Messages(store.MessageQuery{After: branch.BaseMessageID})
	if err != nil {
		return 0, err
	}
	if len(shown) > 0 {
		if dropped, err = drop(db, shown[0].ID, ""); err != nil {
			return 0, err
		}
	}
	entry := wire.NewEntry(wire.EntryMessagesRestored, "", wire.MessagesRestored{
		BranchID: id, FromMessageID: branch.FromMessageID, Count: branch.MessageCount,
	})
	return dropped, db.Write(store.Changes{Restore: id, Entries: []*wire.Entry{entry}})
}

const branchNotFound = "Branch not found"

// Branch returns a branch of the thread, or a [spool.NotFound] error.
func Branch(v store.View, id wire.BranchID) (wire.Branch, error) {
	branches, err := v.Branches()
	if err != nil {
		return wire.Branch{}, err
	}
	for _, b := range branches {
		if b.ID == id {
			return b, nil
		}
	}
	return wire.Branch{}, spool.Errorf(spool.NotFound, branchNotFound)
}
