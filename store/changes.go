package store

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// Changes is what a transaction writes to one thread. The changes are made in the order of the fields. A zero
// field changes nothing. Tenants and ids of threads come from the key of the transaction, whatever the rows have.
type Changes struct {
	// Thread inserts the thread's row or replaces it, except [wire.Thread.LastSeq] and [wire.Thread.CreatedAt]. The
	// store sets UpdatedAt if more than the lease changes.
	Thread *wire.Thread
	// DeleteThread removes the thread, all that belongs to it, and the jobs of its runs, dead ones included.
	// Events of the outbox and the audit log stay.
	DeleteThread bool
	// NewRuns are added. The store sets a CreatedAt that is zero. The change fails, looked at in this order, with
	//   - [ErrRunIDUsed] if the tenant has a run with that id,
	//   - [ErrActiveRun] if the run is active (see [wire.Run.Active]), its depth is 0, and the thread has another
	//     such run,
	//   - [ErrStartKeyUsed] if the tenant has a run with the same StartKey.
	NewRuns []RunRow
	// Runs replace runs of the thread, except their CreatedAt. The change fails with a [spool.NotFound] error for a
	// run that the thread does not have, and with [ErrActiveRun] and [ErrStartKeyUsed] as NewRuns does.
	Runs []RunRow
	// Drop moves messages from the thread's view to a new branch.
	Drop *Drop
	// Restore moves the messages of a branch back to the end of the view, in their order. The change fails
	// with a [spool.NotFound] error for an unknown branch, and with [ErrBranchBase] unless the view ends with the
	// branch's base.
	Restore wire.BranchID
	// Messages are saved in order. The store sets their AfterSeq, and a CreatedAt that is zero. The change
	// fails with [ErrMessageIDUsed] for an id that the thread has had.
	Messages []*spool.Message
	// Entries are added to the record. The store sets their ThreadID, Seq and CreatedAt before Write returns.
	// The numbers are the thread's next ones, without a gap.
	Entries []*wire.Entry
	// Parks are inserted, or replace the one of the same run and call.
	Parks []Park
	// Effects are inserted, or replace the one of the same run, step and call.
	Effects []Effect
	// Usage adds rows to the ledger and to its sums. The store sets their CreatedAt.
	Usage []wire.UsageRow
	// Delta adds what the commit changes of snapshots to the thread's deltas. The store sets its Version, Seq and
	// At before Write returns. At most one Write of a transaction has one, which is the last Write that changes the
	// thread: later ones may have events that name the version. Nil: none.
	Delta *SnapshotDelta

	// CancelJobs are the keys of the tenant's jobs to remove. They need not exist.
	CancelJobs []string
	// Jobs become visible with the transaction. A job is not added, and nothing fails, if the tenant has a
	// job with the same key that is not dead. The store sets their Tenant and, for a transaction on a thread,
	// their ThreadID.
	Jobs []wire.Job
	// Claimed adds jobs that are in flight at once, in place of a claim behind the commit. Otherwise the same
	// holds as for Jobs. If the tenant has a job with the same key, the delivery is fenced.
	Claimed []ClaimedJob
	// TakeDead are the ids of dead jobs of the thread to remove. The change fails with a [spool.NotFound] error if
	// there is none.
	TakeDead []int64
	// Dead adds dead jobs of the thread with new ids, which died now. Of each, only Job, Attempts and Cause
	// count. The tenant may have a job with the same key.
	Dead []wire.QueuedJob

	// Audit adds entries to the audit log of the transaction's tenant. The store sets their Tenant, Seq and
	// At, at the latest when Update returns. The thread need not exist, and its key may be empty.
	Audit []*wire.AuditEntry
	// Rows insert, replace or remove rows of the transaction's tenant: see [Row]. The change fails with
	// [ErrRowChanged] for a row that does not have the expected version. The thread need not exist, and its
	// key may be empty.
	Rows []Row
}

// Drop moves a message and all messages after it from the thread's view to a new branch. The branch's id is
// Seq, and its run is that of the entry with that seq, if there is one: the same Changes may add it. The change fails
// with a [spool.NotFound] error for a message that is not in the view, and with [ErrBranchUsed] for a seq that names
// a branch.
type Drop struct {
	From spool.MessageID
	Seq  int64
}
