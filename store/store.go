package store

import (
	"context"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// Backend is where an engine keeps its data.
type Backend struct {
	// Store is required.
	Store Store
	// Live may be nil: the engine then keeps run streams in memory and wakes within the process.
	Live Live
	// Shared says that several processes may use the store at the same time. An engine refuses a shared
	// store without Live, unless its configuration says that it is the only process.
	Shared bool
	// HostTx names the database whose [HostTx] the store takes. Empty: it takes none.
	HostTx string
}

// Store keeps threads and everything that belongs to them, and the jobs. It is the source of truth.
//
// A store is safe for concurrent use. Its errors have a [spool.Code]: those that a method names, [spool.Canceled] if
// ctx ended before anything was written, and [spool.Unavailable] if the store failed; then a write may have happened
// or not. An empty list is no error.
//
// A store may also be an [Archive], and its views may be [EncodedMessages].
type Store interface {
	// Update runs fn in a transaction that holds the thread. No other Update of the same thread runs between
	// fn's first read and its commit. Everything that fn writes becomes visible and durable together, or not
	// at all if fn or the commit fails. Update returns fn's error unchanged. It returns after the commit is
	// durable.
	//
	// A positive fence must be the thread's current one, else Update returns [ErrFenced] and does not call
	// fn. Zero is for writers that hold no lease.
	//
	// The thread need not exist, and the key's ID may be empty, for a transaction that writes only what
	// belongs to no thread. fn may be called again after a rollback. It must not use tx after it returns, must
	// not call the store in any other way, and should be short: a store may run the updates of all threads one
	// after another.
	Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(tx Tx) error) error
	// View runs fn over one consistent state of the thread. fn must not use v after it returns, and must not call
	// Update. View returns fn's error unchanged.
	View(ctx context.Context, key spool.ThreadKey, fn func(v View) error) error

	// Threads lists threads.
	Threads(ctx context.Context, q wire.ThreadQuery) ([]wire.Thread, error)
	// Runs lists a tenant's runs of all threads, the newest first and, of runs made at the same time, the one
	// with the greater id.
	Runs(ctx context.Context, q wire.RunQuery) ([]RunRow, error)
	// Parks lists a tenant's open parks of all threads that somebody can answer now: the state of the park is
	// [wire.ParkOpen], its ExpiresAt is after the store's time, and its dispatched run waits for input. Or it lists the
	// expired ones: the state is [wire.ParkExpired]. Of parks with the same time, the one with the smaller run id and
	// then call id comes first, and in the list of the expired ones last. The cost of a page does not grow with
	// other parks or with threads. A filter that few parks pass may read all of the state in the tenant. Each row
	// is one consistent state, and so is the page.
	Parks(ctx context.Context, q wire.ParkQuery) ([]ParkRow, error)
	// Jobs lists a tenant's jobs. Jobs that are not dead come in the order of [wire.QueuedJob.FirstDue], and dead
	// ones the last died first. Of jobs with the same time, the one with the smaller id comes first among jobs that
	// are not dead, and the one with the greater id among dead ones. With a ThreadID, a Queue that is not the
	// default one, a Subject and no State, the cost of a query grows only with the jobs that it returns.
	Jobs(ctx context.Context, q wire.JobQuery) ([]wire.QueuedJob, error)
	// Audit lists a tenant's audit log, the last written entry first. For the empty tenant it lists the
	// entries that belong to no tenant.
	Audit(ctx context.Context, q wire.AuditQuery) ([]wire.AuditEntry, error)
	// Rows lists rows that have not expired.
	Rows(ctx context.Context, q RowQuery) ([]Row, error)
	// Stats returns sums, each as one consistent state. A tenant without any data is not an error.
	Stats(ctx context.Context, q wire.StatsQuery) (wire.Stats, error)

	// Claim takes up to q.Limit due jobs and leases them. It chooses them one by one, of the jobs for which more
	// slots are free than [ClaimQuery.Kept] says. The next job is one that must leave the fewest slots free, and
	// of those one of the tenant with the fewest jobs in flight, those of this claim included. Between equal
	// tenants the earliest time of q.Served decides, then the subject with the fewest jobs in flight, then the
	// job that has been due longest, and then the one with the smaller id. Within a tenant the subject with the
	// fewest jobs in flight comes first. If a tenant has due jobs of more than [MaxSubjects] subjects, a claim
	// may compare some of them. A job is in flight from its claim until an [Ack] ends the delivery, or its lease
	// lapses. All counts are of the jobs in q.Queues, of whatever agent. Several claims at the same time may each
	// choose as if the other had not taken anything yet, but never take the same job.
	//
	// The DueAt of each job is when it became due. Claim does not wait. If it takes nothing, it
	// returns an empty slice and the time at which the next job becomes due, or the zero time if
	// there is none. With jobs it returns the zero time. A due job that q.PerTenant holds back
	// can be claimed once another job of its tenant is no longer in flight. The cost of a claim
	// does not grow with the jobs of a tenant.
	Claim(ctx context.Context, q ClaimQuery) (taken []Delivery, next time.Time, err error)
	// Ack says what becomes of a claimed job. The delivery's token guards it: it returns an [ErrFenced] error
	// and does nothing if the job was released, claimed again or removed. Each job is delivered at least once,
	// until an [AckDone] or [AckDead].
	Ack(ctx context.Context, d Delivery, a Ack) error
	// Prune removes old data, and returns how much it has removed.
	Prune(ctx context.Context, q PruneQuery) (int, error)

	// Check returns an [spool.Unavailable] error if the store would refuse a start, because it cannot be reached or
	// nothing more can be written. Clients may read the message of the error. Check may write and remove a
	// small file. It is called at most about once a second.
	Check(ctx context.Context) error
	// Close releases the resources of the store. Calls under way may fail.
	Close() error
}

// View reads one thread. A method that returns one thing returns a [spool.NotFound] error if it does not exist, and
// a method that returns several an empty slice. A View is for one goroutine. [FindRun] and [FindMessage] read
// one run and one message.
type View interface {
	// Now returns the store's time. Within a View or Tx it does not change.
	Now() time.Time
	// Thread returns the thread's row.
	Thread() (wire.Thread, error)
	// Runs returns runs of the thread, the last added first, unless the query says otherwise.
	Runs(q wire.RunQuery) ([]RunRow, error)
	// Messages returns the messages that the query selects, in their order.
	Messages(q MessageQuery) ([]spool.Message, error)
	// Branches returns the branches of the thread, the newest first.
	Branches() ([]wire.Branch, error)
	// Entries returns record entries by seq.
	Entries(q EntryQuery) ([]wire.Entry, error)
	// Parks returns the parks of a run in the order of their creation.
	Parks(run spool.RunID) ([]Park, error)
	// Effects returns the effects of one step of a run, in the order in which they were
	// put.
	Effects(run spool.RunID, step int) ([]Effect, error)
	// Usage returns rows or sums of the ledger.
	Usage(q wire.UsageQuery) (wire.UsageReport, error)
	// Deltas returns what the commits of the thread have changed of its snapshots, by version. A thread that is
	// older than the deltas has none from before.
	Deltas(q DeltaQuery) ([]SnapshotDelta, error)
}

// FindRun returns a run of the thread with its state, or a [spool.NotFound] error.
func FindRun(v View, id spool.RunID) (RunRow, error) {
	if id == "" { // it would select all runs
		return RunRow{}, found(nil, "Run not found")
	}
	runs, err := v.Runs(wire.RunQuery{ID: id, Whole: true})
	if err != nil || len(runs) == 0 {
		return RunRow{}, found(err, "Run not found")
	}
	return runs[0], nil
}

// FindMessage returns a message that is in the view of the thread, or a [spool.NotFound] error.
func FindMessage(v View, id spool.MessageID) (spool.Message, error) {
	if id == "" { // it would select all messages
		return spool.Message{}, found(nil, "Message not found")
	}
	messages, err := v.Messages(MessageQuery{ID: id})
	if err != nil || len(messages) == 0 {
		return spool.Message{}, found(err, "Message not found")
	}
	return messages[0], nil
}

func found(err error, missing string) error {
	if err == nil {
		err = &spool.Error{Code: spool.NotFound, Message: missing}
	}
	return err
}

// MessageQuery selects messages.
type MessageQuery struct {
	// ID selects this message of the view only, and then no other field applies. Empty: all.
	ID spool.MessageID
	// Branch selects messages of this branch instead of the view, and none if there is no such branch. Zero:
	// the view.
	Branch wire.BranchID
	// After leaves out this message and those before it. An id that is not there leaves
	// out nothing.
	After spool.MessageID
	// Before leaves out this message and those after it. An id that is not there leaves
	// out nothing.
	Before spool.MessageID
	// SinceSeq leaves out messages that were saved before the record reached this seq.
	// Zero leaves out nothing.
	SinceSeq int64
	// Role leaves out every other role. Empty: all.
	Role spool.Role
	// Run leaves out the messages of every other run. Empty: all.
	Run spool.RunID
	// Agent leaves out the messages of every other agent, where "" is the main one. Nil: all.
	Agent *spool.AgentID
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
	Run spool.RunID
	// Type leaves out entries of other kinds. Empty: all.
	Type wire.EntryType
	// Last reverses the order: the newest entry comes first.
	Last bool
	// Limit bounds how many are returned. Zero: all.
	Limit int
}

// Tx reads and writes one thread. It sees its own writes. A Tx is for one goroutine.
type Tx interface {
	View

	// Write makes changes. If the thread does not exist, changes that need one fail with a [spool.NotFound] error:
	// those of the fields from NewRuns to Delta.
	//
	// A store may keep changes back and send them with a later read or with the commit, so an error of a
	// change may also come from a later call of the transaction, or from Update. After an error of a change
	// nothing is committed: Update returns it, also if fn returns nil. [errors.Is] tells the errors apart.
	Write(c Changes) error
}

// HostTx is a transaction that a host has open on the store's own database. A backend makes it, from the
// host's transaction of its driver. What an engine writes in it becomes durable with the host's own rows, or
// not at all. The zero value is no transaction. A HostTx is for one goroutine.
type HostTx struct {
	database string
	update   func(ctx context.Context, key spool.ThreadKey, fn func(tx Tx) error) error
}

// NewHostTx is for backends. Database is the [Backend.HostTx] of the backends that take the transaction. Update runs
// fn in the host's transaction with the contract of [Store.Update], but does not commit. If it returns an error,
// nothing that fn wrote is left in the transaction, which can go on: a database has savepoints for this.
func NewHostTx(
	database string, update func(ctx context.Context, key spool.ThreadKey, fn func(tx Tx) error) error,
) HostTx {
	return HostTx{database, update}
}

// Check returns an [spool.Invalid] error if a backend with that [Backend.HostTx] does not take the transaction.
func (h HostTx) Check(database string) error {
	switch {
	case h.update == nil:
		return errNoHostTx
	case database == "":
		return spool.Errorf(spool.Invalid, "the backend takes no transactions of a host")
	case database != h.database:
		return spool.Errorf(spool.Invalid, "the transaction is not on the database of the backend")
	}
	return nil
}

// Update runs fn in the host's transaction: see [NewHostTx]. It returns an [spool.Invalid] error for the zero value.
func (h HostTx) Update(ctx context.Context, key spool.ThreadKey, fn func(tx Tx) error) error {
	if h.update == nil {
		return errNoHostTx
	}
	return h.update(ctx, key, fn)
}

var errNoHostTx = spool.Errorf(spool.Invalid, "the transaction is not of a backend")
