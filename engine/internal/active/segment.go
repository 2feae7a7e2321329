package active

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool/engine/internal/order"
	"github.com/spoolhq/spool/engine/internal/publish"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// SaveTimeout bounds a write that continues after the segment's context has ended.
const SaveTimeout = 30 * time.Second

// Lease is the right of a worker to execute a run.
type Lease interface {
	// Check returns an error if another worker may have the run, or if a stop of the run was accepted.
	Check(ctx context.Context) error
	// Committed is called after each transaction under the lease, with the dispatched run and what follows.
	Committed(run store.RunRow, follow thread.Follow)
}

// Segment is one execution of a run by a worker. All runs of its tree share it.
type Segment struct {
	publish.Segment

	Host *Host
	// Job is the key of the segment's job. Empty: it has none.
	Job string

	lease    Lease
	budgeted bool // whether the dispatched run has a budget
	// budgetFreed is sent when some of the budget may be free again.
	budgetFreed signal
	// overTime is true once the run has reached the wall time limit of all runs.
	overTime atomic.Bool
	// hasArtifacts is true once the thread has artifacts.
	hasArtifacts atomic.Bool
}

// NewSegment returns a segment of the run.
func NewSegment(h *Host, s publish.Segment, lease Lease, run store.RunRow) *Segment {
	return &Segment{Segment: s, Host: h, lease: lease, budgeted: run.Allowance != nil}
}

// Budgeted reports whether the dispatched run has a budget.
func (s *Segment) Budgeted() bool { return s.budgeted }

// BudgetFreed returns a channel that is closed when some of the budget may be free again.
func (s *Segment) BudgetFreed() <-chan struct{} { return s.budgetFreed.next() }

// CheckLease returns an error if another worker may have the run, or if a stop of the run was accepted.
func (s *Segment) CheckLease(ctx context.Context) error { return s.lease.Check(ctx) }

// Update runs a transition that adds nothing to the stream, under the segment's lease, even after ctx
// has ended. It refuses a run that has ended, because the segment no longer owns it.
func (s *Segment) Update(ctx context.Context, fn func(tx *thread.Tx) error) error {
	return s.transact(ctx, nil, fn)
}

// Commit does the same as Update, for a transition that adds items or entries to the stream.
func (s *Segment) Commit(ctx context.Context, fn func(tx *thread.Tx) error) error {
	return s.Writer.Commit(ctx, func(list *order.List) error { return s.transact(ctx, list, fn) })
}

func (s *Segment) transact(ctx context.Context, list *order.List, fn func(tx *thread.Tx) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), SaveTimeout)
	defer cancel()
	var follow thread.Follow
	var run store.RunRow
	err := s.Host.Store.Update(ctx, s.Key, s.Fence, func(db store.Tx) error {
		tx, err := thread.Open(db, s.Host.Rules)
		if err != nil {
			return err
		}
		if !s.Owns(tx.Thread) || tx.Run.State.Terminal() {
			return store.ErrFenced
		}
		s.Writer.Learn(tx.Thread.LastSeq)
		tx.SetList(list)
		tx.Job = s.Job
		err = fn(tx)
		follow, run = tx.Follow, tx.Run
		return err
	})
	if err != nil {
		return StoreError{err}
	}
	s.lease.Committed(run, follow)
	if follow.Jobs || !follow.Unseen {
		s.Host.Announce(s.Key, follow.Jobs)
	}
	return nil
}

// EndTime notes what ended the run's time.
func (s *Segment) EndTime(by error) { s.overTime.Store(errors.Is(by, ErrTimeLimit)) }

// TimeReason returns the stop reason of a run whose time is up.
func (s *Segment) TimeReason() wire.StopReason {
	if s.overTime.Load() {
		return wire.StopTimeLimit
	}
	return wire.StopTimeBudget
}

// HasArtifacts reports whether the thread has artifacts.
func (s *Segment) HasArtifacts() bool { return s.hasArtifacts.Load() }

// FindArtifacts finds out whether the thread has artifacts.
func (s *Segment) FindArtifacts(ctx context.Context) error {
	if s.Host.Artifacts == nil {
		return nil
	}
	all, err := s.Host.Artifacts.Artifacts(ctx, s.Key)
	s.KnowArtifacts(len(all) > 0)
	return FromStore(err)
}

// KnowArtifacts notes whether the thread has artifacts.
func (s *Segment) KnowArtifacts(has bool) { s.hasArtifacts.Store(has) }

// NoteArtifact notes that the thread has an artifact.
func (s *Segment) NoteArtifact() { s.hasArtifacts.Store(true) }

// signal wakes all goroutines that wait for a change.
type signal struct {
	mu sync.Mutex
	ch chan struct{}
}

// next returns a channel that is closed by the next send.
func (s *signal) next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ch == nil {
		s.ch = make(chan struct{})
	}
	return s.ch
}

func (s *signal) send() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ch != nil {
		close(s.ch)
		s.ch = nil
	}
}
