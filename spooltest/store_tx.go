package spooltest

import (
	"context"
	"errors"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/compare"
)

func testStoreRollsBack(s *storeTest) {
	key, failure := thread("t"), errors.New("no")
	err := s.Store.Update(context.Background(), key, 0, func(tx spool.Tx) error {
		if err := fill(tx, key, "r"); err != nil {
			return err
		}
		return failure
	})
	s.is("Update of a new thread", err, failure)
	s.same("contents", s.all(key, "r"), compare.Contents{})
	s.noJobs()

	s.write(key, func(tx spool.Tx) error { return fill(tx, key, "r") })
	taken, _, err := s.Queue.Claim(context.Background(), spool.ClaimQuery{Limit: 1, Lease: time.Minute})
	if err != nil || len(taken) != 1 {
		s.Fatalf("claim: got %v and error %v, want one job", taken, err)
	}
	before := s.all(key, "r")
	s.clock.Advance(time.Second)
	for name, fn := range map[string]func(tx spool.Tx) error{
		"changes": func(tx spool.Tx) error {
			r, err := tx.Run("r")
			r.State, r.Steps, r.StartKey = spool.Failed, 3, "start"
			return errors.Join(err,
				tx.PutThread(spool.Thread{State: spool.Failed, Fence: 9}),
				tx.UpdateRun(r),
				tx.InsertRun(spool.RunRow{Run: spool.Run{ID: "r2", State: spool.Queued}}),
				tx.DropMessages("m1", 3),
				tx.AppendMessages(&spool.Message{ID: "m3", Role: spool.RoleUser}),
				tx.AppendEntries(spool.NewEntry("A", "r", nil)),
				tx.PutPark(spool.Park{RunID: "r", ToolCallID: "c1", State: spool.ParkExpired}),
				tx.PutPark(spool.Park{RunID: "r", ToolCallID: "c2", State: spool.ParkOpen}),
				tx.PutEffect(spool.Effect{RunID: "r", Step: 1, ToolCallID: "c1", State: spool.EffectVoid}),
				tx.AddUsage(spool.UsageRow{RunID: "r", Agent: "a", Model: "m"}),
				tx.CancelJob("job:r"),
				tx.Enqueue(spool.Job{Tenant: key.Tenant, ThreadID: key.ID, RunID: "r", Agent: "a", Key: "job:r2"}),
			)
		},
		"deletion": func(tx spool.Tx) error { return tx.DeleteThread() },
	} {
		err := s.Store.Update(context.Background(), key, 0, func(tx spool.Tx) error {
			if err := fn(tx); err != nil {
				return err
			}
			return failure
		})
		s.is("Update with "+name, err, failure)
		s.same("contents after "+name, s.all(key, "r"), before)
		s.noJobs()
		_, err = s.Store.FindStart(context.Background(), key.Tenant, "start")
		s.fails("FindStart after "+name, err, spool.NotFound)
	}
	if err := s.Queue.Ack(context.Background(), taken[0]); err != nil {
		s.Errorf("Ack of the job that was there before: %v", err)
	}
}

// noJobs reports an error if a job is due.
func (s *storeTest) noJobs() {
	s.Helper()
	taken, _, err := s.Queue.Claim(context.Background(), spool.ClaimQuery{Limit: 10, Lease: time.Minute})
	if err != nil || len(taken) != 0 {
		s.Errorf("claim: got %v and error %v, want none", taken, err)
	}
}

func testStoreReturnsFnError(s *storeTest) {
	failure := errors.New("no")
	for name, call := range map[string]func() error{
		"Update": func() error {
			return s.Store.Update(context.Background(), thread("t"), 0, func(spool.Tx) error { return failure })
		},
		"Update that wrote": func() error {
			return s.Store.Update(context.Background(), thread("t"), 0, func(tx spool.Tx) error {
				return errors.Join(tx.PutThread(spool.Thread{State: spool.Idle}), failure)
			})
		},
		"View": func() error {
			return s.Store.View(context.Background(), thread("t"), func(spool.View) error { return failure })
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
	s.write(key, func(tx spool.Tx) error {
		if err := fill(tx, key, "r"); err != nil {
			return err
		}
		c, err := compare.Read(tx, "r")
		s.same("state", c.Thread.State, spool.Queued)
		s.same("LastSeq", c.Thread.LastSeq, int64(2))
		s.same("UpdatedAt", c.Thread.UpdatedAt, tx.Now())
		s.same("numbers", []int{len(c.Runs), len(c.Messages), len(c.Entries), len(c.Parks), len(c.Effects), len(c.Usage)},
			[]int{1, 2, 2, 1, 1, 1})

		t := c.Thread
		t.State, t.Title = spool.Running, "title"
		err = errors.Join(err, tx.PutThread(t))
		t, getErr := tx.Thread()
		s.same("row that was put", []string{string(t.State), t.Title}, []string{string(spool.Running), "title"})

		r := c.Runs[0]
		r.Steps = 5
		err = errors.Join(err, getErr, tx.UpdateRun(r), tx.DropMessages("m2", 2))
		r, getErr = tx.Run("r")
		s.same("run that was put", r.Steps, 5)
		m, msgErr := tx.Messages(spool.MessageQuery{})
		s.same("messages that are left", len(m), 1)
		return errors.Join(err, getErr, msgErr)
	})
}

func testStoreFence(s *storeTest) {
	key := thread("t")
	update := func(key spool.ThreadKey, fence int64) (called bool, err error) {
		err = s.Store.Update(context.Background(), key, fence, func(tx spool.Tx) error {
			called = true
			return tx.AppendEntries(spool.NewEntry("A", "", nil))
		})
		return called, err
	}
	s.write(key, func(tx spool.Tx) error { return tx.PutThread(spool.Thread{State: spool.Running, Fence: 5}) })
	for _, fence := range []int64{1, 4, 6} {
		called, err := update(key, fence)
		s.is("Update with another fence", err, spool.ErrFenced)
		s.same("fn was called", called, false)
	}
	for _, fence := range []int64{5, 0} {
		called, err := update(key, fence)
		s.is("Update", err, nil)
		s.same("fn was called", called, true)
	}
	called, err := update(thread("unknown"), 5)
	s.is("Update of a thread that is not there", err, spool.ErrFenced)
	s.same("fn was called", called, false)
	called, err = update(spool.ThreadKey{Tenant: "other", ID: key.ID}, 5)
	s.is("Update of another tenant's thread", err, spool.ErrFenced)
	s.same("fn was called", called, false)

	// The fence is raised by a transaction with the previous fence.
	err = s.Store.Update(context.Background(), key, 5, func(tx spool.Tx) error {
		t, err := tx.Thread()
		t.Fence++
		return errors.Join(err, tx.PutThread(t))
	})
	s.is("Update that raises the fence", err, nil)
	_, err = update(key, 5)
	s.is("Update with the fence before", err, spool.ErrFenced)
	_, err = update(key, 6)
	s.is("Update with the raised fence", err, nil)
	s.gapFree(key, 3)
}

func testStoreNow(s *storeTest) {
	want := s.clock.Now()
	s.read(thread("t"), func(v spool.View) error {
		s.same("time in a View", v.Now(), want)
		s.clock.Advance(time.Second)
		s.same("time in the View later", v.Now(), want)
		return nil
	})
	s.write(thread("t"), func(tx spool.Tx) error {
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
	s.fails("Update", s.Store.Update(ctx, thread("t"), 0, func(spool.Tx) error {
		called = true
		return nil
	}), spool.Canceled)
	s.same("fn was called", called, false)
	s.fails("View", s.Store.View(ctx, thread("t"), func(v spool.View) error {
		_, err := v.Runs(0)
		return err
	}), spool.Canceled)
	_, err := s.Store.Threads(ctx, spool.DefaultTenant, spool.ThreadQuery{})
	s.fails("Threads", err, spool.Canceled)
	_, err = s.Store.FindStart(ctx, spool.DefaultTenant, "key")
	s.fails("FindStart", err, spool.Canceled)
	_, err = s.Store.Stranded(ctx, 1)
	s.fails("Stranded", err, spool.Canceled)
}
