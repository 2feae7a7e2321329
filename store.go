package spool

import (
	"context"
	"time"
)

// Backend is a set of storage ports that belong together. Streams and Bus may be nil: the
// engine then keeps run streams in memory and wakes within the process.
type Backend struct {
	Store   Store
	Queue   Queue
	Streams Streams
	Bus     Bus
}

// RoomChecker is a [Store] that knows whether its disk has room.
type RoomChecker interface {
	// CheckRoom returns an [Unavailable] error if the store would refuse a start because nothing more can be
	// written. Clients may read the message of the error. CheckRoom may write and remove a small file. It is
	// called at most about once a second.
	CheckRoom(ctx context.Context) error
}

// Store keeps threads and everything that belongs to them. It is the source of truth.
//
// A store is safe for concurrent use. Its errors have a [Code]: [NotFound] and [Fenced] as documented,
// [Canceled] if ctx ended before anything was written, and [Unavailable] if the store failed; then a write
// may have happened or not.
type Store interface {
	// Update runs fn in a transaction that holds the thread. No other Update of the same thread runs between
	// fn's first read and its commit. Everything that fn writes becomes visible and durable together, or not
	// at all if fn or the commit fails. Update returns fn's error unchanged. It returns after the commit is
	// durable.
	//
	// A positive fence must be the thread's current one, else Update returns [ErrFenced] and does not call
	// fn. Zero is for writers that hold no lease.
	//
	// The thread need not exist. fn may be called again after a rollback. It must not use tx after it
	// returns, must not call the store in any other way, and should be short: a store may run the updates of
	// all threads one after another.
	Update(ctx context.Context, key ThreadKey, fence int64, fn func(tx Tx) error) error

	// View runs fn over one consistent state of the thread. fn must not use v after it returns. View returns
	// fn's error unchanged.
	View(ctx context.Context, key ThreadKey, fn func(v View) error) error

	// Threads lists a tenant's threads, the last updated first. An empty list is no error.
	Threads(ctx context.Context, tenant Tenant, q ThreadQuery) ([]Thread, error)

	// FindStart returns the run that was started under an idempotency key, or a
	// [NotFound] error.
	FindStart(ctx context.Context, tenant Tenant, startKey string) (RunRow, error)

	// Runs lists a tenant's runs of all threads, the newest first and, of runs made at the same
	// time, the one with the greater id. An empty list is no error.
	Runs(ctx context.Context, tenant Tenant, q RunQuery) ([]Run, error)

	// Tally returns the sums of the tenant's threads, runs and tokens, as one consistent state. A tenant
	// without any is not an error.
	Tally(ctx context.Context, tenant Tenant) (Tally, error)

	// Idle returns threads without an active run, a current lease or a job, due or not, in the
	// order in which they were last updated.
	Idle(ctx context.Context, q IdleQuery) ([]ThreadKey, error)

	// Stranded returns up to limit active threads that no process works on: they have no current
	// lease, and the run that owns them has no job, due or not.
	Stranded(ctx context.Context, limit int) ([]ThreadKey, error)

	AuditStore

	// Close releases the resources of the store. Calls under way may fail.
	Close() error
}

// View reads one thread. A method that returns one thing returns a [NotFound] error if it does not
// exist, and a method that returns several an empty slice. A View is for one goroutine.
type View interface {
	// Now returns the store's time. Within a View or Tx it does not change.
	Now() time.Time
	// Thread returns the thread's row.
	Thread() (Thread, error)
	// Run returns a run of the thread.
	Run(id RunID) (RunRow, error)
	// Runs returns up to limit runs of the thread, as callers see them, the newest first. Zero: all.
	Runs(limit int) ([]Run, error)
	// Nested returns the runs with this [Run.RootID], in the order of their insertion.
	Nested(root RunID) ([]RunRow, error)
	// Waiting returns the runs of the thread that have a [Run.QueuePosition], in that order.
	Waiting() ([]RunRow, error)
	// Messages returns the messages that the query selects, in their order.
	Messages(q MessageQuery) ([]Message, error)
	// Message returns a message that is in the view of the thread.
	Message(id MessageID) (Message, error)
	// Branches returns the branches of the thread, the newest first.
	Branches() ([]Branch, error)
	// Entries returns record entries by seq.
	Entries(q EntryQuery) ([]Entry, error)
	// Parks returns the parks of a run in the order of their creation.
	Parks(run RunID) ([]Park, error)
	// Effects returns the effects of one step of a run, in the order in which they were
	// put.
	Effects(run RunID, step int) ([]Effect, error)
	// Usage returns the ledger's sums by agent, model and currency. A sum comes where the first row of its
	// group was added.
	Usage() ([]UsageLine, error)
	// UsageRows returns rows of the ledger in the order in which they were added.
	UsageRows(q UsageQuery) ([]UsageRow, error)
}

// MessageQuery selects messages.
type MessageQuery struct {
	// Branch selects messages of this branch instead of the view, and none if there is no such branch. Zero:
	// the view.
	Branch BranchID
	// After leaves out this message and those before it. An id that is not there leaves
	// out nothing.
	After MessageID
	// Before leaves out this message and those after it. An id that is not there leaves
	// out nothing.
	Before MessageID
	// SinceSeq leaves out messages that were saved before the record reached this seq.
	// Zero leaves out nothing.
	SinceSeq int64
	// Role leaves out every other role. Empty: all.
	Role Role
	// Run leaves out the messages of every other run. Empty: all.
	Run RunID
	// Agent leaves out the messages of every other agent, where "" is the main one. Nil: all.
	Agent *AgentID
	// Limit keeps only the newest ones. Zero: all.
	Limit int

	// Turns selects the user turns of the main agent instead of the view, including those that have left the
	// view, in the order in which they were added. Limit then keeps the oldest ones. Of the other fields,
	// only After, SinceSeq and BeforeSeq apply. After may name any message that is or was in the view.
	// Defaults to the view.
	Turns bool
	// BeforeSeq leaves out turns that were saved when the record had reached this seq. It applies
	// to Turns only. Zero leaves out nothing.
	BeforeSeq int64
}

// EntryQuery selects record entries.
type EntryQuery struct {
	// After leaves out entries up to this seq.
	After int64
	// Run leaves out entries of other runs. Empty: all.
	Run RunID
	// Type leaves out entries of other kinds. Empty: all.
	Type EntryType
	// Last reverses the order: the newest entry comes first.
	Last bool
	// Limit bounds how many are returned. Zero: all.
	Limit int
}

// Tx reads and writes one thread. It sees its own writes. A Tx is for one goroutine. If the thread does not
// exist, writes return a [NotFound] error, except those of the thread's row and of the audit log.
type Tx interface {
	View
	AuditTx

	// PutThread inserts the thread's row or replaces it, except [Thread.LastSeq] and
	// [Thread.CreatedAt]. The store sets UpdatedAt if more than the lease changes.
	PutThread(t Thread) error
	// DeleteThread removes the thread, all that belongs to it, and the jobs of its runs,
	// dead ones included.
	DeleteThread() error
	// InsertRun adds a run, and sets its CreatedAt if that is zero. It returns
	//   - [ErrRunIDUsed] if the tenant has a run with that id,
	//   - [ErrActiveRun] if r is active (see [Run.Active]), its depth is 0, and the thread has
	//     another such run,
	//   - another [Conflict] error if the tenant has a run with the same StartKey.
	//
	// The transaction can go on after any of them.
	InsertRun(r RunRow) error
	// UpdateRun replaces a run of the thread, except its CreatedAt, or returns a [NotFound]
	// error.
	UpdateRun(r RunRow) error
	// AppendMessages saves messages in order. It sets their AfterSeq, and CreatedAt if that is
	// zero. It returns a [Conflict] error for an id that the thread has had.
	AppendMessages(messages ...*Message) error
	// DropMessages moves a message and all messages after it from the thread's view to a new branch. The
	// branch's id is the seq, and its run is that of the entry with that seq, if there is one. It returns a
	// [NotFound] error for a message that is not in the view, and a [Conflict] error for a seq that names a
	// branch.
	DropMessages(from MessageID, seq int64) error
	// RestoreBranch moves the messages of a branch back to the end of the view, in their order. It returns a
	// [NotFound] error for an unknown branch. Unless the view ends with the branch's base, it returns a
	// [Conflict] error and changes nothing.
	RestoreBranch(id BranchID) error
	// AppendEntries adds entries to the record and sets their ThreadID, Seq and
	// CreatedAt. The numbers are the thread's next ones, without a gap.
	AppendEntries(entries ...*Entry) error
	// PutPark inserts a park or replaces the one of the same run and call.
	PutPark(p Park) error
	// PutEffect inserts an effect or replaces the one of the same run, step and call.
	PutEffect(e Effect) error
	// AddUsage adds a row to the ledger and to its sums, and sets its CreatedAt.
	AddUsage(row UsageRow) error
	// Enqueue adds a job that becomes visible with the transaction. It adds nothing, and returns
	// no error, if the tenant's queue has a job with the same key.
	Enqueue(j Job) error
	// CancelJob removes the job with this key. It need not exist.
	CancelJob(key string) error
	// TakeDead removes a dead job of the thread and returns it, or returns a [NotFound] error.
	TakeDead(jobID int64) (DeadJob, error)
	// AddDead adds a dead job of the thread with a new id, which died at Now after the given number
	// of attempts. The tenant's queue may have a job with the same key.
	AddDead(j Job, attempts int, cause string) error
}
