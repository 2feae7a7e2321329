// Package maptx is a [store.Tx] over the rows of one thread in memory, for tables of rules: a test writes the rows
// of a thread down, runs a transition over them, and compares the rows after it. There is no store, no goroutine and
// no clock.
//
// A [Tx] keeps the contract of [store.View] and [store.Tx] for its thread, except that it does not compare the
// versions of [store.Changes.Rows] and has no sums of the ledger. The store suite of spooltest runs over it, next to
// backend/memory.
package maptx

import (
	"context"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Tx is the transaction and the thread: what is written is in Rows at once. [Tx.Try] also rolls back. A Tx is for one
// goroutine.
type Tx struct {
	Key spool.ThreadKey
	// At is what Now returns. A test may move it between transactions.
	At   time.Time
	Rows Rows

	failed error
}

var _ store.Tx = (*Tx)(nil)

// Rows are the rows of a thread. Each list has the order in which its rows were added.
type Rows struct {
	// Thread is nil if the thread does not exist. Then it has no other rows but jobs.
	Thread *wire.Thread
	Runs   []store.RunRow
	// Messages are the messages of the view.
	Messages []spool.Message
	Branches []Branch
	Entries  []wire.Entry
	Parks    []store.Park
	Effects  []store.Effect
	Usage    []wire.UsageRow
	Deltas   []store.SnapshotDelta

	// Jobs are the jobs that are not dead. Those of [store.Changes.Claimed] are [wire.JobInFlight].
	Jobs  []wire.QueuedJob
	Dead  []wire.QueuedJob
	Audit []wire.AuditEntry
	// Outside are the changes of rows outside threads, as they were written.
	Outside []store.Row
	// Elsewhere are the runs of the tenant's other threads. A test sets them.
	Elsewhere []store.RunRow

	// added has the messages that were written, in their order, also those that have left the view. It lacks those
	// that a test has put into Messages itself.
	added []spool.Message
}

// Branch is a branch with its messages. The fields of [wire.Branch] that follow from the messages are empty.
type Branch struct {
	wire.Branch

	Messages []spool.Message
}

// New returns a thread without rows.
func New(key spool.ThreadKey, at time.Time) *Tx { return &Tx{Key: key, At: at} }

// Clone returns a copy that shares no memory with tx.
func (tx *Tx) Clone() *Tx {
	copied := &Tx{Key: tx.Key, At: tx.At, Rows: clone(tx.Rows), failed: tx.failed}
	copied.Rows.added = clone(tx.Rows.added)
	return copied
}

// Try runs fn as [store.Store.Update] does: if fn or a change fails, nothing is written.
func (tx *Tx) Try(fn func(tx store.Tx) error) error {
	before := tx.Clone()
	err := fn(tx)
	if err == nil {
		err = tx.failed
	}
	if err != nil {
		tx.Rows = before.Rows
	}
	tx.failed = nil
	return err
}

// Store is a [store.Store] of one thread. It has Update and View, and any other method panics.
type Store struct {
	store.Store

	Tx *Tx
}

// Update implements [store.Store].
func (s Store) Update(_ context.Context, _ spool.ThreadKey, fence int64, fn func(tx store.Tx) error) error {
	if t := s.Tx.Rows.Thread; fence > 0 && (t == nil || t.Fence != fence) {
		return store.ErrFenced
	}
	return s.Tx.Try(fn)
}

// View implements [store.Store].
func (s Store) View(_ context.Context, _ spool.ThreadKey, fn func(v store.View) error) error {
	return fn(s.Tx)
}

var (
	errNoThread  = spool.Errorf(spool.NotFound, "Thread not found")
	errNoRun     = spool.Errorf(spool.NotFound, "Run not found")
	errNoMessage = spool.Errorf(spool.NotFound, "Message not found")
	errNoBranch  = spool.Errorf(spool.NotFound, "Branch not found")
	errNoDeadJob = spool.Errorf(spool.NotFound, "Dead job not found")
	errNoSums    = spool.Errorf(spool.Internal, "maptx has no sums of the ledger")
)

// put replaces the element of all for which meant returns true, or appends value.
func put[T any](all []T, value T, meant func(T) bool) []T {
	if at := slices.IndexFunc(all, meant); at >= 0 {
		all[at] = value
		return all
	}
	return append(all, value)
}

// page returns the first elements of all. A limit of zero stands for all.
func page[T any](all []T, limit int) []T {
	if limit > 0 {
		all = all[:min(limit, len(all))]
	}
	return all
}

// pick returns copies of the elements for which wanted returns true. It never returns nil.
func pick[T any](all []T, wanted func(T) bool) []T {
	found := []T{}
	for _, value := range all {
		if wanted(value) {
			found = append(found, clone(value))
		}
	}
	return found
}
