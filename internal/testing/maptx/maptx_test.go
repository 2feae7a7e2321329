package maptx_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/internal/testing/maptx"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// The store suite reads threads from a maptx. All writes also go to a backend in memory, which must fail with the
// same errors, and which answers everything else.
func TestStore(t *testing.T) {
	t.Parallel()
	var opened sync.Map
	spooltest.TestStore(t, func(t *testing.T, clock store.Clock) store.Backend {
		t.Helper()
		backend := memory.New(&memory.Options{Clock: clock})
		first, _ := opened.LoadOrStore(t, &twin{Store: backend.Store, t: t, threads: make(map[spool.ThreadKey]*maptx.Tx)})
		backend.Store, _ = first.(*twin)
		return backend
	}, spooltest.Features{Durable: true, CrossProcess: true})
}

// twin is a store with a maptx for each thread.
type twin struct {
	store.Store

	t       *testing.T
	mu      sync.Mutex // held during an Update, and until a View has its state
	threads map[spool.ThreadKey]*maptx.Tx
}

// thread returns a copy of the thread, at the time of v. The caller must hold mu.
func (s *twin) thread(key spool.ThreadKey, v store.View) *maptx.Tx {
	own := maptx.New(key, v.Now())
	if there := s.threads[key]; there != nil {
		own = there.Clone()
		own.At = v.Now()
	}
	own.Rows.Elsewhere = nil
	for other, tx := range s.threads {
		if other.Tenant == key.Tenant && other.ID != key.ID {
			own.Rows.Elsewhere = append(own.Rows.Elsewhere, tx.Rows.Runs...)
		}
	}
	return own
}

func (s *twin) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(tx store.Tx) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var own *maptx.Tx
	err := s.Store.Update(ctx, key, fence, func(stored store.Tx) error {
		own = s.thread(key, stored)
		return fn(pair{View: summed{own, stored}, t: s.t, own: own, stored: stored})
	})
	if err == nil {
		s.threads[key] = own
	}
	return err
}

func (s *twin) View(ctx context.Context, key spool.ThreadKey, fn func(v store.View) error) error {
	s.mu.Lock()
	unlock := sync.OnceFunc(s.mu.Unlock)
	defer unlock()
	return s.Store.View(ctx, key, func(v store.View) error {
		own := s.thread(key, v)
		unlock()
		return fn(summed{own, v})
	})
}

// pair reads from a maptx, and writes to it and to the store.
type pair struct {
	store.View

	t           *testing.T
	own, stored store.Tx
}

// Write writes to the maptx first, so that the numbers of audit entries are the store's.
func (p pair) Write(c store.Changes) error {
	got, want := p.own.Write(c), p.stored.Write(c)
	if spool.MessageOf(got) != spool.MessageOf(want) && want != store.ErrRowChanged { //nolint:errorlint // the very same error
		p.t.Errorf("a change fails with %v, want %v", got, want)
	}
	return want
}

// summed has the sums that a maptx lacks.
type summed struct {
	store.View

	stored store.View
}

func (s summed) Usage(q wire.UsageQuery) (wire.UsageReport, error) {
	if q.Sums {
		return s.stored.Usage(q)
	}
	return s.View.Usage(q)
}

// Jobs are added and removed as a store does it.
func TestJobs(t *testing.T) {
	t.Parallel()
	key, clock := spool.ThreadKey{Tenant: "t", ID: "c"}, spooltest.NewClock()
	db, own, soon := memory.New(&memory.Options{Clock: clock}).Store, maptx.New(key, clock.Now()),
		clock.Now().Add(time.Minute)
	for _, c := range []store.Changes{
		{Thread: &wire.Thread{State: wire.Idle}},
		{
			Jobs: []wire.Job{
				{RunID: "r", Key: "a"},
				{RunID: "r", Key: "b", DueAt: soon},
				{RunID: "r", Key: "a", Kind: wire.JobRetry},
				{RunID: "r"},
			},
		},
		{CancelJobs: []string{"a", "", "c"}, Jobs: []wire.Job{{RunID: "r", Key: "a", Kind: wire.JobResume}, {Queue: "q"}}},
		{
			Claimed: []store.ClaimedJob{
				{Job: wire.Job{RunID: "r", Key: "c"}, JobID: 1, Lease: time.Minute},
				{Job: wire.Job{RunID: "r", Key: "b"}, JobID: 2},
			},
		},
		{
			Dead: []wire.QueuedJob{{Job: wire.Job{RunID: "r", Key: "a"}, Attempts: 3, Cause: "no"}, {Job: wire.Job{Queue: "q"}}},
		},
		{TakeDead: []int64{99}},
		{DeleteThread: true},
	} {
		write := func(tx store.Tx) error { return tx.Write(c) }
		if got, want := own.Try(write), db.Update(t.Context(), key, 0, write); spool.MessageOf(got) != spool.MessageOf(want) {
			t.Errorf("%+v fails with %v, want %v", c, got, want)
		}
		want := listed(t, db, wire.JobQuery{Tenant: key.Tenant})
		want = append(want, listed(t, db, wire.JobQuery{Tenant: key.Tenant, State: wire.JobDead})...)
		got := slices.Concat(own.Rows.Jobs, own.Rows.Dead)
		if diff := cmp.Diff(lines(want), lines(got)); diff != "" {
			t.Errorf("jobs after %+v (-want +got):\n%s", c, diff)
		}
	}
}

func listed(t *testing.T, db store.Store, q wire.JobQuery) []wire.QueuedJob {
	t.Helper()
	jobs, err := db.Jobs(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return jobs
}

// lines returns a line for each job, without its random id.
func lines(jobs []wire.QueuedJob) []string {
	all := make([]string, len(jobs))
	for i, j := range jobs {
		all[i] = fmt.Sprint(j.State, j.Tenant, j.ThreadID, j.RunID, j.Key, j.Kind, j.Queue, j.Attempts, j.Cause, j.FirstDue,
			j.DiedAt)
	}
	slices.Sort(all)
	return all
}
