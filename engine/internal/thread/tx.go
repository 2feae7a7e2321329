package thread

import (
	"cmp"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/budget"
	"github.com/spoolhq/spool/engine/internal/order"
)

// Tx is the transaction over one thread, with the run that a transition is about. A transition
// reads both, decides, and writes them back.
type Tx struct {
	Rules

	Store  spool.Tx
	Thread spool.Thread
	// Run is the run that the transition is about: the dispatched run, or a nested one.
	Run spool.RunRow
	Now time.Time
	// Follow is what has to follow the commit. Only that of [Tx.Root] counts.
	Follow Follow

	root *Tx         // has the dispatched run, where Run is nested in it. Nil: Run is that itself
	list *order.List // nil: no stream of a segment is open, or the transition adds nothing to it
}

// Follow is what has to follow the commit of a transaction.
type Follow struct {
	// Jobs is true where other runs than the dispatched one have got jobs. Workers have to be woken.
	Jobs bool
	// Unseen is true for a change that clients see nothing of: the record, the user turns, the
	// queue and the state stay as they were.
	Unseen bool
	// Audit are the entries that the transaction appends to the audit log.
	Audit []*spool.AuditEntry
}

// errNoRun says that a thread exists and that no run has touched it.
var errNoRun = spool.Errorf(spool.NotFound, "Thread has no run")

// Open reads the thread of a transaction and the run that owns it, or did last. It returns a
// [spool.NotFound] error for a thread that does not exist, with a nil Tx, and for one that no run
// has touched.
func Open(store spool.Tx, rules Rules) (*Tx, error) {
	thread, err := store.Thread()
	if err != nil {
		return nil, err
	}
	tx := &Tx{Rules: rules, Store: store, Thread: thread, Now: store.Now()}
	if thread.RunID == "" {
		return tx, errNoRun
	}
	tx.Run, err = store.Run(thread.RunID)
	return tx, err
}

// Into has the transition add its items and entries to a list.
func (tx *Tx) Into(list *order.List) {
	if tx.list = list; list != nil {
		list.Begin(tx.Thread.LastSeq)
	}
}

// Of returns the transaction as a run of the tree is its subject. It returns [spool.ErrFenced] for
// a nested run that has ended, which is not its agent's any more.
func (tx *Tx) Of(run spool.RunRow) (*Tx, error) {
	if run.RootID == "" {
		return tx.Root(), nil
	}
	run, err := tx.Store.Run(run.ID)
	if err == nil && run.State.Terminal() {
		err = spool.ErrFenced
	}
	nested := tx.nested(run)
	nested.list = tx.list
	return nested, err
}

// nested returns the transaction with a nested run as its subject.
func (tx *Tx) nested(run spool.RunRow) *Tx {
	return &Tx{Rules: tx.Rules, Store: tx.Store, Thread: tx.Thread, Run: run, Now: tx.Now, root: tx.Root()}
}

// Root returns the transaction with the dispatched run as its subject.
func (tx *Tx) Root() *Tx {
	if tx.root != nil {
		return tx.root
	}
	return tx
}

// IsNested reports whether the run is nested in the dispatched one.
func (tx *Tx) IsNested() bool { return tx.root != nil }

// Stopping reports whether the dispatched run was asked to stop.
func (tx *Tx) Stopping() bool { return !tx.Root().Run.StopAt.IsZero() }

// Add counts tokens for the run, and for the dispatched one, which counts all of its tree.
func (tx *Tx) Add(used spool.TokenCount) {
	tx.Run.Add(used)
	if tx.root != nil {
		tx.root.Run.Add(used)
	}
}

// Put writes the run back, and with a nested one the dispatched one.
func (tx *Tx) Put() error {
	if tx.root != nil {
		if err := tx.Store.UpdateRun(tx.root.Run); err != nil {
			return err
		}
	}
	return tx.Store.UpdateRun(tx.Run)
}

// PutUnseen is Put for a change that has no entry and no user turn, and leaves the state as it
// was.
func (tx *Tx) PutUnseen() error {
	tx.Root().Follow.Unseen = true
	return tx.Put()
}

// move changes the state of the thread and its run, which the table must allow.
func (tx *Tx) move(to spool.State) error {
	if !tx.Thread.State.CanBecome(to) {
		return spool.Errorf(spool.Internal, "thread %s cannot go from %s to %s", tx.Thread.Key(), tx.Thread.State, to)
	}
	tx.Thread.State, tx.Run.State = to, to
	return nil
}

// save writes thread and run back.
func (tx *Tx) save() error {
	if err := tx.Store.UpdateRun(tx.Run); err != nil {
		return err
	}
	return tx.Store.PutThread(tx.Thread)
}

// lease takes the thread for a worker and shuts out the one before.
func (tx *Tx) lease() {
	tx.Thread.Fence++
	tx.Thread.LeaseUntil = tx.Now.Add(tx.Lease)
}

// release gives the lease up.
func (tx *Tx) release() {
	tx.Thread.LeaseUntil = time.Time{}
	tx.stopClock(tx.Now)
}

// Parks returns the parks of the tree whose calls have no result yet.
func (tx *Tx) Parks() ([]spool.Park, error) {
	all, err := tx.Store.Parks(tx.Root().Run.ID)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(p spool.Park) bool { return p.Landed || p.State == spool.ParkClosed }), nil
}

// enqueue adds a ticket: a job for the next segment of the run.
func (tx *Tx) enqueue(kind spool.JobKind, after time.Duration) error {
	return tx.Store.Enqueue(tx.ticket(kind, after))
}

// ticket returns a job for the next segment of the run.
func (tx *Tx) ticket(kind spool.JobKind, after time.Duration) spool.Job {
	j := tx.jobOf(tx.Run, kind, after)
	j.Segment = tx.Run.Segments + 1
	j.Key = "run:" + string(spool.NewStreamID(tx.Run.ID, j.Segment))
	return j
}

func (tx *Tx) jobOf(run spool.RunRow, kind spool.JobKind, after time.Duration) spool.Job {
	j := spool.Job{
		Tenant: tx.Thread.Tenant, ThreadID: tx.Thread.ID, RunID: run.ID, Model: run.Model, Agent: run.Agent, Kind: kind,
	}
	if after > 0 {
		j.DueAt = tx.Now.Add(after)
	}
	return j
}

// enqueueSettle adds the job that calls the settle hook of a run.
func (tx *Tx) enqueueSettle(run spool.RunRow, after time.Duration) error {
	j := tx.jobOf(run, spool.JobSettle, after)
	j.Key = "settle:" + string(run.ID)
	return tx.Store.Enqueue(j)
}

// Message returns a message of the run.
func (tx *Tx) Message(role spool.Role, content spool.Content) *spool.Message {
	return &spool.Message{
		ID: spool.MessageID(tx.Random.ID("msg")), ThreadID: tx.Thread.ID, AgentID: tx.Run.AgentID(),
		Role: role, Content: content, RunID: tx.Run.ID,
	}
}

// Item adds an item of the run to the stream of the segment.
func (tx *Tx) Item(t spool.ItemType, payload any) {
	if tx.list != nil {
		tx.list.Item(tx.Run.AgentID(), t, payload)
	}
}

// Enter adds an entry that tells of the dispatched run.
func (tx *Tx) Enter(t spool.EntryType, payload any) error {
	return tx.Append(spool.NewEntry(t, tx.Root().Run.ID, payload))
}

// Append adds entries to the record. While a segment is open they have a place among its items.
func (tx *Tx) Append(entries ...*spool.Entry) error {
	if tx.list != nil {
		tx.list.Place(entries...)
	}
	err := tx.Store.AppendEntries(entries...)
	if err == nil && tx.list != nil && len(entries) > 0 {
		tx.list.Behind(entries[len(entries)-1].Seq)
	}
	return err
}

// closeSegment ends the latest segment: its stream with an item, and then, in the record, the
// segment itself.
func (tx *Tx) closeSegment(t spool.ItemType, item any, ended spool.RunEnded) error {
	tx.list.End(t, item)
	return tx.Append(tx.runEnded(ended))
}

func (tx *Tx) runEnded(ended spool.RunEnded) *spool.Entry {
	ended.RunID, ended.StreamID, ended.Segment = tx.Run.ID, tx.Run.Stream(), tx.Run.Segments
	return spool.NewEntry(spool.EntryRunEnded, tx.Run.ID, ended)
}

// Charge writes rows of the usage ledger. Their cost is the dispatched run's, which has one
// currency only: a cost in another one is not known.
func (tx *Tx) Charge(rows ...spool.UsageRow) error {
	root := &tx.Root().Run
	for _, row := range rows {
		if row.Cost != nil && !tx.takesCurrency(row) {
			row.Cost = nil
		}
		if row.Cost != nil {
			root.Currency = row.Cost.Currency
			root.CostMicros = budget.Plus(root.CostMicros, row.Cost.Micros)
		}
		budget.Settle(root.Allowance, row)
		if err := tx.Store.AddUsage(row); err != nil {
			return err
		}
	}
	return nil
}

// takesCurrency reports whether the dispatched run counts in the currency of a row's cost.
func (tx *Tx) takesCurrency(row spool.UsageRow) bool {
	root := &tx.Root().Run
	currency := root.Currency
	if root.Allowance != nil {
		currency = cmp.Or(currency, root.Allowance.Budget.Currency)
	}
	if currency == "" || currency == row.Cost.Currency {
		return true
	}
	tx.Log.Error("a call was priced in another currency than its run",
		"tenant", string(root.Tenant), "thread", string(root.ThreadID), "run", string(root.ID),
		"model", row.Model, "currency", row.Cost.Currency, "run_currency", currency)
	return false
}

// reservations returns the rows of model calls whose end nobody will tell. Their prompts are
// taken for read, and what was said to them is not known.
func (tx *Tx) reservations(outcome spool.Outcome) (rows []spool.UsageRow) {
	if tx.Run.Allowance == nil {
		return nil
	}
	for _, reserved := range tx.Run.Allowance.Reservations {
		rows = append(rows, spool.UsageRow{
			RunID: tx.Run.ID, AgentID: reserved.AgentID, Agent: reserved.Agent, Kind: reserved.Kind, Step: reserved.Step,
			Model: reserved.Model, Outcome: outcome, Guess: spool.Usage{Input: new(reserved.Input)}, Cost: reserved.Prompt,
		})
	}
	return rows
}

// forgetStep drops the step in hand. What it has used stays used.
func (tx *Tx) forgetStep() {
	if d := tx.Run.Draft; d != nil {
		tx.Add(d.Usage)
		tx.Run.Draft = nil
	}
}

// startClock counts the time from now on.
func (tx *Tx) startClock() {
	tx.Run.WorkerSince = tx.Now
	if a := tx.Run.Allowance; a != nil {
		a.Since = tx.Now
	}
}

// stopClock counts the time up to then.
func (tx *Tx) stopClock(at time.Time) {
	tx.Run.WallTime, tx.Run.WorkerSince = tx.Run.WallTimeAt(at), time.Time{}
	if a := tx.Run.Allowance; a != nil {
		a.Spent.WallTime = budget.WallTime(a, at)
		a.Since = time.Time{}
	}
}
