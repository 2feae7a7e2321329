package thread

import (
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/order"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Tx is the transaction over one thread and one run. A transition reads both, decides, and writes
// them back.
type Tx struct {
	Rules

	Store  store.Tx
	Thread wire.Thread
	// Run is the subject of the transition: the dispatched run or a nested one.
	Run store.RunRow
	Now time.Time
	// Job is the key of the job for which a worker executes the segment. Empty: there is none.
	Job string
	// Follow has the consequences of the commit. Only the Follow of [Tx.Root] counts.
	Follow Follow

	closed bool        // the transition has ended the segment
	root   *Tx         // has the dispatched run; nil if Run is the dispatched run
	list   *order.List // nil if no stream is open or the transition adds nothing to it
}

// Follow says what has to follow the commit of a transaction.
type Follow struct {
	// Jobs is true if other runs have got jobs, so that workers have to be woken.
	Jobs bool
	// Unseen is true for a change that clients cannot see: record, user turns, queue and state are
	// unchanged.
	Unseen bool
	// NewJobs is true if the transaction has added jobs, due now or later.
	NewJobs bool
	// JobDone is true if the transaction has removed [Tx.Job]. So no worker has to acknowledge the job.
	JobDone bool
	// Audit has the entries that the transaction appends to the audit log.
	Audit []*wire.AuditEntry
}

// errNoRun says that a thread exists but has never had a run.
var errNoRun = spool.Errorf(spool.NotFound, "Thread has no run")

// Open reads a transaction's thread and the run that has or last had it. It returns a [spool.NotFound]
// error and a nil Tx if the thread does not exist. It returns a [spool.NotFound] error and a Tx if the
// thread has never had a run.
func Open(db store.Tx, rules Rules) (*Tx, error) {
	thread, err := db.Thread()
	if err != nil {
		return nil, err
	}
	tx := &Tx{Rules: rules, Store: db, Thread: thread, Now: db.Now()}
	if thread.RunID == "" {
		return tx, errNoRun
	}
	tx.Run, err = store.FindRun(db, thread.RunID)
	return tx, err
}

// SetList makes the transition add its items and entries to a list.
func (tx *Tx) SetList(list *order.List) {
	if tx.list = list; list != nil {
		list.Begin(tx.Thread.LastSeq)
	}
}

// ForRun returns the same transaction with another run of the tree as its subject. It returns
// [store.ErrFenced] for a nested run that has ended, because the run's agent no longer owns it.
func (tx *Tx) ForRun(run store.RunRow) (*Tx, error) {
	if run.RootID == "" {
		return tx.Root(), nil
	}
	run, err := store.FindRun(tx.Store, run.ID)
	if err == nil && run.State.Terminal() {
		err = store.ErrFenced
	}
	nested := tx.nested(run)
	nested.list = tx.list
	return nested, err
}

// nested returns the transaction with a nested run as its subject.
func (tx *Tx) nested(run store.RunRow) *Tx {
	return &Tx{Rules: tx.Rules, Store: tx.Store, Thread: tx.Thread, Run: run, Now: tx.Now, root: tx.Root()}
}

// Root returns the transaction with the dispatched run as its subject.
func (tx *Tx) Root() *Tx {
	if tx.root != nil {
		return tx.root
	}
	return tx
}

// IsNested reports whether the run is nested in the dispatched run.
func (tx *Tx) IsNested() bool { return tx.root != nil }

// Stopping reports whether the dispatched run was asked to stop.
func (tx *Tx) Stopping() bool { return !tx.Root().Run.StopAt.IsZero() }

// ownThread makes the run the owner of the thread, whose row shows the model and the mark of its owner.
func (tx *Tx) ownThread() {
	tx.Thread.RunID, tx.Thread.Model, tx.Thread.Expired = tx.Run.ID, tx.Run.Model, tx.Run.Expired
}

// Parks returns the parks of the tree whose calls have no result yet.
func (tx *Tx) Parks() ([]store.Park, error) {
	all, err := tx.Store.Parks(tx.Root().Run.ID)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(p store.Park) bool { return p.Landed || p.State == wire.ParkClosed }), nil
}

func (tx *Tx) Message(role spool.Role, content spool.Content) *spool.Message {
	return &spool.Message{
		ID: spool.MessageID(tx.Random.ID("msg")), ThreadID: tx.Thread.ID, AgentID: tx.Run.AgentID(),
		Role: role, Content: content, RunID: tx.Run.ID,
	}
}

// Item adds an item of the run to the segment's stream.
func (tx *Tx) Item(t wire.ItemType, payload any) {
	if tx.list != nil {
		tx.list.Item(tx.Run.AgentID(), t, payload)
	}
}
