package spooltest

import (
	"context"
	"errors"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

func testStoreRollsBack(s *storeTest) {
	key, failure := thread("t"), errors.New("no")
	err := s.Store.Update(context.Background(), key, 0, func(tx store.Tx) error {
		if err := fill(tx, key, "r"); err != nil {
			return err
		}
		return failure
	})
	s.is("Update of a new thread", err, failure)
	s.same("contents", s.all(key, "r"), compare.Contents{})
	s.noJobs()

	s.write(key, func(tx store.Tx) error { return fill(tx, key, "r") })
	taken, _, err := s.Store.Claim(context.Background(), store.ClaimQuery{Limit: 1, Lease: time.Minute})
	if err != nil || len(taken) != 1 {
		s.Fatalf("claim: got %v and error %v, want one job", taken, err)
	}
	before := s.all(key, "r")
	s.clock.Advance(time.Second)
	for name, fn := range map[string]func(tx store.Tx) error{
		"changes": func(tx store.Tx) error {
			r, err := store.FindRun(tx, "r")
			r.State, r.Steps, r.StartKey = wire.Failed, 3, "start"
			return errors.Join(
				err,
				tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Failed, Fence: 9}, Runs: []store.RunRow{r}}),
				tx.Write(store.Changes{
					NewRuns:  []store.RunRow{{Run: wire.Run{ID: "r2", State: wire.Queued}}},
					Drop:     &store.Drop{From: "m1", Seq: 3},
					Messages: []*spool.Message{{ID: "m3", Role: spool.RoleUser}},
					Entries:  []*wire.Entry{wire.NewEntry("A", "r", nil)},
					Parks: []store.Park{
						{RunID: "r", ToolCallID: "c1", State: wire.ParkExpired},
						{RunID: "r", ToolCallID: "c2", State: wire.ParkOpen},
					},
					Effects:    []store.Effect{{RunID: "r", Step: 1, ToolCallID: "c1", State: wire.EffectVoid}},
					Usage:      []wire.UsageRow{{RunID: "r", Agent: "a", Model: "m"}},
					CancelJobs: []string{"job:r"},
					Jobs:       []wire.Job{{Tenant: key.Tenant, ThreadID: key.ID, RunID: "r", Agent: "a", Key: "job:r2"}},
				}),
			)
		},
		"deletion": func(tx store.Tx) error { return tx.Write(store.Changes{DeleteThread: true}) },
	} {
		err := s.Store.Update(context.Background(), key, 0, func(tx store.Tx) error {
			if err := fn(tx); err != nil {
				return err
			}
			return failure
		})
		s.is("Update with "+name, err, failure)
		s.same("contents after "+name, s.all(key, "r"), before)
		s.noJobs()
		s.same("runs of the key after "+name, len(s.started(key.Tenant, "start")), 0)
	}
	if err := s.Store.Ack(context.Background(), taken[0], store.Ack{Kind: store.AckDone}); err != nil {
		s.Errorf("Ack of the job that was there before: %v", err)
	}
}

// noJobs reports an error if a job is due.
func (s *storeTest) noJobs() {
	s.Helper()
	taken, _, err := s.Store.Claim(context.Background(), store.ClaimQuery{Limit: 10, Lease: time.Minute})
	if err != nil || len(taken) != 0 {
		s.Errorf("claim: got %v and error %v, want none", taken, err)
	}
}

func testStoreReturnsFnError(s *storeTest) {
	failure := errors.New("no")
	for name, call := range map[string]func() error{
		"Update": func() error {
			return s.Store.Update(context.Background(), thread("t"), 0, func(store.Tx) error { return failure })
		},
		"Update that wrote": func() error {
			return s.Store.Update(context.Background(), thread("t"), 0, func(tx store.Tx) error {
				return errors.Join(tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}}), failure)
			})
		},
		"View": func() error {
			return s.Store.View(context.Background(), thread("t"), func(store.View) error { return failure })
		},
	} {
		err := call()
		s.is(name, err, failure)
		if _, coded := errors.AsType[*spool.Error](err); coded {
			s.Errorf("%s: got %v, want the error as it was", name, err)
		}
	}
}

func testStoreOwnWrites(s *storeTest) {
	key := thread("t")
	s.write(key, func(tx store.Tx) error {
		if err := fill(tx, key, "r"); err != nil {
			return err
		}
		c, err := compare.Read(tx, "r")
		s.same("state", c.Thread.State, wire.Queued)
		s.same("LastSeq", c.Thread.LastSeq, int64(2))
		s.same("UpdatedAt", c.Thread.UpdatedAt, tx.Now())
		s.same("numbers", []int{len(c.Runs), len(c.Messages), len(c.Entries), len(c.Parks), len(c.Effects), len(c.Usage)},
			[]int{1, 2, 2, 1, 1, 1})

		t := c.Thread
		t.State, t.Title = wire.Running, "title"
		err = errors.Join(err, tx.Write(store.Changes{Thread: &t}))
		t, getErr := tx.Thread()
		s.same("row that was put", []string{string(t.State), t.Title}, []string{string(wire.Running), "title"})

		r := c.Runs[0]
		r.Steps = 5
		err = errors.Join(
			err,
			getErr,
			tx.Write(store.Changes{Runs: []store.RunRow{r}, Drop: &store.Drop{From: "m2", Seq: 2}}),
		)
		r, getErr = store.FindRun(tx, "r")
		s.same("run that was put", r.Steps, 5)
		m, msgErr := tx.Messages(store.MessageQuery{})
		s.same("messages that are left", len(m), 1)
		return errors.Join(err, getErr, msgErr)
	})
}

func testStoreFence(s *storeTest) {
	key := thread("t")
	update := func(key spool.ThreadKey, fence int64) (called bool, err error) {
		err = s.Store.Update(context.Background(), key, fence, func(tx store.Tx) error {
			called = true
			return tx.Write(store.Changes{Entries: []*wire.Entry{wire.NewEntry("A", "", nil)}})
		})
		return called, err
	}
	s.write(key, func(tx store.Tx) error {
		return tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Running, Fence: 5}})
	})
	for _, fence := range []int64{1, 4, 6} {
		called, err := update(key, fence)
		s.is("Update with another fence", err, store.ErrFenced)
		s.same("fn was called", called, false)
	}
	for _, fence := range []int64{5, 0} {
		called, err := update(key, fence)
		s.is("Update", err, nil)
		s.same("fn was called", called, true)
	}
	called, err := update(thread("unknown"), 5)
	s.is("Update of a thread that is not there", err, store.ErrFenced)
	s.same("fn was called", called, false)
	called, err = update(spool.ThreadKey{Tenant: "other", ID: key.ID}, 5)
	s.is("Update of another tenant's thread", err, store.ErrFenced)
	s.same("fn was called", called, false)

	// The fence is raised by a transaction with the previous fence.
	err = s.Store.Update(context.Background(), key, 5, func(tx store.Tx) error {
		t, err := tx.Thread()
		t.Fence++
		return errors.Join(err, tx.Write(store.Changes{Thread: &t}))
	})
	s.is("Update that raises the fence", err, nil)
	_, err = update(key, 5)
	s.is("Update with the fence before", err, store.ErrFenced)
	_, err = update(key, 6)
	s.is("Update with the raised fence", err, nil)
	s.gapFree(key, 3)
}

func testStoreNow(s *storeTest) {
	want := s.clock.Now()
	s.read(thread("t"), func(v store.View) error {
		s.same("time in a View", v.Now(), want)
		s.clock.Advance(time.Second)
		s.same("time in the View later", v.Now(), want)
		return nil
	})
	s.write(thread("t"), func(tx store.Tx) error {
		s.same("time in an Update", tx.Now(), want.Add(time.Second))
		s.clock.Advance(time.Second)
		s.same("time in the Update later", tx.Now(), want.Add(time.Second))
		return nil
	})
}

func testStoreContextEnded(s *storeTest) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	called := false
	s.fails("Update", s.Store.Update(ctx, thread("t"), 0, func(store.Tx) error {
		called = true
		return nil
	}), spool.Canceled)
	s.same("fn was called", called, false)
	s.fails("View", s.Store.View(ctx, thread("t"), func(v store.View) error {
		_, err := v.Runs(wire.RunQuery{})
		return err
	}), spool.Canceled)
	for name, call := range map[string]func() error{
		"Threads":  func() error { return second(s.Store.Threads(ctx, wire.ThreadQuery{Tenant: spool.DefaultTenant})) },
		"Stranded": func() error { return second(s.Store.Threads(ctx, wire.ThreadQuery{Work: wire.ThreadsStranded})) },
		"Runs":     func() error { return second(s.Store.Runs(ctx, wire.RunQuery{Tenant: spool.DefaultTenant})) },
		"Jobs":     func() error { return second(s.Store.Jobs(ctx, wire.JobQuery{Tenant: spool.DefaultTenant})) },
		"Audit":    func() error { return second(s.Store.Audit(ctx, wire.AuditQuery{Tenant: spool.DefaultTenant})) },
		"Rows":     func() error { return second(s.Store.Rows(ctx, store.RowQuery{Kind: "k"})) },
		"Stats":    func() error { return second(s.Store.Stats(ctx, wire.StatsQuery{Queue: true})) },
		"Prune":    func() error { return second(s.Store.Prune(ctx, store.PruneQuery{Kind: store.PruneRows})) },
	} {
		s.fails(name, call(), spool.Canceled)
	}
}

// second returns the error of a call.
func second(_ any, err error) error { return err }
