package thread

import (
	"cmp"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/budget"
	"github.com/spoolhq/spool/engine/internal/order"
)

// Tx is the transaction over one thread and one run. A transition reads both, decides, and writes
// them back.
type Tx struct {
	Rules

	Store  spool.Tx
	Thread spool.Thread
	// Run is the subject of the transition: the dispatched run or a nested one.
	Run spool.RunRow
	Now time.Time
	// Follow has the consequences of the commit. Only the Follow of [Tx.Root] counts.
	Follow Follow

	root *Tx         // has the dispatched run; nil if Run is the dispatched run
	list *order.List // nil if no stream is open or the transition adds nothing to it
}

// Follow says what has to follow the commit of a transaction.
type Follow struct {
	// Jobs is true if other runs than the dispatched one have got jobs: workers have to be woken.
	Jobs bool
	// Unseen is true for a change that clients cannot see: the record, the user turns, the queue
	// and the state stay as they were.
	Unseen bool
	// Audit has the entries that the transaction appends to the audit log.
	Audit []*spool.AuditEntry
}

// errNoRun says that a thread exists and has never had a run.
var errNoRun = spool.Errorf(spool.NotFound, "Thread has no run")

// Open reads a transaction's thread and the run that owns or last owned it. It returns a
// [spool.NotFound] error and a nil Tx if the thread does not exist, and a [spool.NotFound] error if
// the thread has never had a run.
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

// SetList makes the transition add its items and entries to a list.
func (tx *Tx) SetList(list *order.List) {
	if tx.list = list; list != nil {
		list.Begin(tx.Thread.LastSeq)
	}
}

// ForRun returns the same transaction with another run of the tree as its subject. It returns
// [spool.ErrFenced] for a nested run that has ended: its agent no longer owns it.
func (tx *Tx) ForRun(run spool.RunRow) (*Tx, error) {
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

// Add counts tokens for the run, and for the dispatched run, which counts its whole tree.
func (tx *Tx) Add(used spool.TokenCount) {
	tx.Run.Add(used)
	if tx.root != nil {
		tx.root.Run.Add(used)
	}
}

// Put writes the run back, and with a nested run the dispatched one.
func (tx *Tx) Put() error {
	if tx.root != nil {
		if err := tx.Store.UpdateRun(tx.root.Run); err != nil {
			return err
		}
	}
	return tx.Store.UpdateRun(tx.Run)
}

// PutUnseen is Put for a change that adds no entry and no user turn, and keeps the state.
func (tx *Tx) PutUnseen() error {
	tx.Root().Follow.Unseen = true
	return tx.Put()
}

// move changes the state of the thread and its run. The state table must allow it.
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

// lease takes the thread for a worker and fences the worker before it off.
func (tx *Tx) lease() {
	tx.Thread.Fence++
	tx.Thread.LeaseUntil = tx.Now.Add(tx.Lease)
}

// release gives up the lease.
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

// enqueue adds a ticket: a job for the run's next segment.
func (tx *Tx) enqueue(kind spool.JobKind, after time.Duration) error {
	return tx.Store.Enqueue(tx.ticket(kind, after))
}

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

// enqueueSettle adds the job that calls a run's settle hook.
func (tx *Tx) enqueueSettle(run spool.RunRow, after time.Duration) error {
	j := tx.jobOf(run, spool.JobSettle, after)
	j.Key = "settle:" + string(run.ID)
	return tx.Store.Enqueue(j)
}

func (tx *Tx) Message(role spool.Role, content spool.Content) *spool.Message {
	return &spool.Message{
		ID: spool.MessageID(tx.Random.ID("msg")), ThreadID: tx.Thread.ID, AgentID: tx.Run.AgentID(),
		Role: role, Content: content, RunID: tx.Run.ID,
	}
}

// Item adds an item of the run to the segment's stream.
func (tx *Tx) Item(t spool.ItemType, payload any) {
	if tx.list != nil {
		tx.list.Item(tx.Run.AgentID(), t, payload)
	}
}

// AppendNew appends an entry about the dispatched run.
func (tx *Tx) AppendNew(t spool.EntryType, payload any) error {
	return tx.Append(spool.NewEntry(t, tx.Root().Run.ID, payload))
}

// Append appends entries to the record. While a segment is open, it places them among the segment's
// items.
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

// closeSegment ends the latest segment: first its stream with an item, then the segment itself in
// the record.
func (tx *Tx) closeSegment(t spool.ItemType, item any, ended spool.RunEnded) error {
	tx.list.End(t, item)
	return tx.Append(tx.runEnded(ended))
}

func (tx *Tx) runEnded(ended spool.RunEnded) *spool.Entry {
	ended.RunID, ended.StreamID, ended.Segment = tx.Run.ID, tx.Run.Stream(), tx.Run.Segments
	return spool.NewEntry(spool.EntryRunEnded, tx.Run.ID, ended)
}

// Charge writes rows of the usage ledger and adds their costs to the dispatched run. A run has one
// currency: Charge drops a cost in another currency.
func (tx *Tx) Charge(rows ...spool.UsageRow) error {
	root := &tx.Root().Run
	for _, row := range rows {
		if row.Cost != nil && !tx.sameCurrency(row) {
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

// sameCurrency reports whether a row's cost is in the dispatched run's currency.
func (tx *Tx) sameCurrency(row spool.UsageRow) bool {
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

// reservations returns ledger rows for the model calls whose outcome nobody will report. They count
// each prompt as read. The size of the answer is unknown.
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

// dropDraft drops the draft of a step. Its usage stays counted.
func (tx *Tx) dropDraft() {
	if d := tx.Run.Draft; d != nil {
		tx.Add(d.Usage)
		tx.Run.Draft = nil
	}
}

// startClock starts counting wall time.
func (tx *Tx) startClock() {
	tx.Run.WorkerSince = tx.Now
	if a := tx.Run.Allowance; a != nil {
		a.Since = tx.Now
	}
}

// stopClock counts wall time up to a given time.
func (tx *Tx) stopClock(at time.Time) {
	tx.Run.WallTime, tx.Run.WorkerSince = tx.Run.WallTimeAt(at), time.Time{}
	if a := tx.Run.Allowance; a != nil {
		a.Spent.WallTime = budget.WallTime(a, at)
		a.Since = time.Time{}
	}
}
