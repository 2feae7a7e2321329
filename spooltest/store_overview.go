package spooltest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/compare"
)

// runs lists the ids of a tenant's runs.
func (s *storeTest) runs(tenant spool.Tenant, q spool.RunQuery) string {
	s.Helper()
	return compare.Joined(s.listRuns(tenant, q), func(r spool.Run) spool.RunID { return r.ID })
}

func (s *storeTest) listRuns(tenant spool.Tenant, q spool.RunQuery) []spool.Run {
	s.Helper()
	list, err := s.Store.Runs(context.Background(), tenant, q)
	if err != nil {
		s.Fatalf("list runs: %v", err)
	}
	return list
}

// run adds a run to a thread, and creates the thread if it does not exist.
func (s *storeTest) run(key spool.ThreadKey, r spool.Run) {
	s.Helper()
	s.write(key, func(tx spool.Tx) error {
		if _, err := tx.Thread(); err != nil {
			if err := tx.PutThread(spool.Thread{State: spool.Idle}); err != nil {
				return err
			}
		}
		return tx.InsertRun(spool.RunRow{Run: r})
	})
}

func testStoreRuns(s *storeTest) {
	s.same("of a tenant that has none", len(s.listRuns("nobody", spool.RunQuery{})), 0)
	first := s.clock.Now()
	for i, id := range []spool.RunID{"b", "c", "a"} {
		s.run(thread(spool.ThreadID(fmt.Sprint("t", i%2))), spool.Run{ID: id, State: spool.Completed})
		s.clock.Advance(time.Second)
	}
	s.run(thread("t0"), spool.Run{ID: "d", State: spool.Completed, CreatedAt: first.Add(time.Millisecond)})
	s.run(spool.ThreadKey{Tenant: "other", ID: "t0"}, spool.Run{ID: "x", State: spool.Completed})
	s.same("all", s.runs(spool.DefaultTenant, spool.RunQuery{}), "acdb")
	s.same("two", s.runs(spool.DefaultTenant, spool.RunQuery{Limit: 2}), "ac")
	s.same("of another tenant", s.runs("other", spool.RunQuery{}), "x")

	// The list has the run with the values of its thread. Its position does not change when the run
	// does.
	full := fullRun(s)
	s.write(thread("t0"), func(tx spool.Tx) error {
		full.ID, full.ThreadID, full.CreatedAt = "b", "t0", s.clock.Now().Add(time.Hour)
		return tx.UpdateRun(full)
	})
	full.CreatedAt = first
	s.same("a run with everything", s.listRuns(spool.DefaultTenant, spool.RunQuery{ID: "b"}), []spool.Run{full.Run})
	s.same("all again", s.runs(spool.DefaultTenant, spool.RunQuery{}), "acdb")

	s.write(thread("t0"), func(tx spool.Tx) error { return tx.DeleteThread() })
	s.same("what is left", s.runs(spool.DefaultTenant, spool.RunQuery{}), "c")
}

func testStoreRunsPages(s *storeTest) {
	// Three runs per time, so that a page may end between two runs that only their ids order.
	for i, ids := range []string{"abc", "def", "ghi"} {
		for _, id := range ids {
			s.run(thread(spool.ThreadID("t-"+string(id))), spool.Run{ID: spool.RunID(id), State: spool.Completed})
		}
		s.clock.Advance(time.Duration(i+1) * time.Microsecond)
	}
	const want = "ihgfedcba"
	for size := 1; size <= len(want); size++ {
		var got []spool.Run
		q := spool.RunQuery{Limit: size}
		for page := range len(want) {
			list := s.listRuns(spool.DefaultTenant, q)
			got = append(got, list...)
			if len(list) > 0 {
				last := list[len(list)-1]
				q.Before, q.BeforeID = last.CreatedAt, last.ID
			}
			// A run that comes meanwhile belongs before the first page.
			s.clock.Advance(time.Second)
			id := spool.RunID(fmt.Sprintf("late-%d-%d", size, page))
			s.run(spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "late"}, spool.Run{ID: id, State: spool.Completed})
		}
		s.same(fmt.Sprintf("pages of %d", size), compare.Joined(got, func(r spool.Run) spool.RunID { return r.ID }), want)
		s.write(thread("late"), func(tx spool.Tx) error { return tx.DeleteThread() })
	}
}

func testStoreRunsFilters(s *storeTest) {
	at := make([]time.Time, 0, 4)
	for _, r := range []spool.Run{
		{ID: "a", ThreadID: "t1", State: spool.Completed, StopReason: spool.StopMaxSteps, Agent: "one", Model: "m"},
		{ID: "b", ThreadID: "t1", State: spool.Failed, StopReason: spool.StopFailed, Agent: "two", Model: "m"},
		{ID: "c", ThreadID: "t2", State: spool.Failed, StopReason: spool.StopTimeout, Agent: "one", Model: "n", Depth: 1},
		{ID: "d", ThreadID: "t2", State: spool.Queued, Agent: "two", Model: "n"},
	} {
		s.clock.Advance(time.Second)
		at = append(at, s.clock.Now())
		s.run(thread(r.ThreadID), r)
	}
	top, nested := 0, 1
	for name, c := range map[string]struct {
		q    spool.RunQuery
		want string
	}{
		"an id":                              {spool.RunQuery{ID: "b"}, "b"},
		"an id that none has":                {spool.RunQuery{ID: "x"}, ""},
		"a thread":                           {spool.RunQuery{ThreadID: "t1"}, "ba"},
		"a state":                            {spool.RunQuery{State: spool.Failed}, "cb"},
		"a state of a thread":                {spool.RunQuery{State: spool.Failed, ThreadID: "t1"}, "b"},
		"a state that none has":              {spool.RunQuery{State: spool.Running}, ""},
		"a stop reason":                      {spool.RunQuery{StopReason: spool.StopTimeout}, "c"},
		"an agent":                           {spool.RunQuery{Agent: "one"}, "ca"},
		"a model":                            {spool.RunQuery{Model: "n"}, "dc"},
		"the depth of dispatched runs":       {spool.RunQuery{Depth: &top}, "dba"},
		"a depth":                            {spool.RunQuery{Depth: &nested}, "c"},
		"after":                              {spool.RunQuery{CreatedAfter: at[1]}, "dc"},
		"after, by less than a store keeps":  {spool.RunQuery{CreatedAfter: at[1].Add(-time.Nanosecond)}, "dcb"},
		"before":                             {spool.RunQuery{CreatedBefore: at[1]}, "a"},
		"before, by less than a store keeps": {spool.RunQuery{CreatedBefore: at[1].Add(time.Nanosecond)}, "ba"},
		"a page":                             {spool.RunQuery{State: spool.Failed, Limit: 1}, "c"},
		"the next page":                      {spool.RunQuery{State: spool.Failed, Limit: 1, Before: at[2], BeforeID: "c"}, "b"},
		"a page of a thread":                 {spool.RunQuery{ThreadID: "t1", Limit: 1, Before: at[1], BeforeID: "b"}, "a"},
		"all of it": {spool.RunQuery{
			ID: "b", ThreadID: "t1", State: spool.Failed, StopReason: spool.StopFailed, Agent: "two", Model: "m", Depth: &top,
			CreatedAfter: at[0], CreatedBefore: at[2], Limit: 1, Before: at[3], BeforeID: "d",
		}, "b"},
	} {
		s.same(name, s.runs(spool.DefaultTenant, c.q), c.want)
	}
	s.same("of another tenant", s.runs("other", spool.RunQuery{ID: "b"}), "")
}

func testStoreTally(s *storeTest) {
	tally := func(tenant spool.Tenant) spool.Tally {
		s.Helper()
		t, err := s.Store.Tally(context.Background(), tenant)
		if err != nil {
			s.Fatalf("tally: %v", err)
		}
		t.Bytes = 0 // each store counts bytes in its own way: see testStoreTallyBytes
		return t
	}
	none := spool.Tally{Runs: map[spool.State]int64{}}
	s.same("of nobody", tally("nobody"), none)

	tokens := func(n int64) spool.TokenCount {
		return spool.TokenCount{InputTokens: n, CachedInputTokens: 2 * n, OutputTokens: 3 * n, TotalTokens: 4 * n}
	}
	s.run(thread("a"), spool.Run{ID: "r1", State: spool.Completed, TokenCount: tokens(1)})
	s.run(thread("a"), spool.Run{ID: "r2", State: spool.Queued})
	// A dispatched run already counts the usage of its nested runs.
	s.run(thread("a"), spool.Run{ID: "n", RootID: "r1", Depth: 1, State: spool.Queued, TokenCount: tokens(1000)})
	s.write(thread("a"), func(tx spool.Tx) error {
		return tx.UpdateRun(spool.RunRow{Run: spool.Run{ID: "n", RootID: "r1", Depth: 1, State: spool.Failed, TokenCount: tokens(2000)}})
	})
	s.run(thread("b"), spool.Run{ID: "r3", State: spool.Completed, TokenCount: tokens(10)})
	s.run(spool.ThreadKey{Tenant: "other", ID: "a"}, spool.Run{ID: "r1", State: spool.Failed})
	s.same("three runs", tally(spool.DefaultTenant), spool.Tally{
		Threads: 2, Runs: map[spool.State]int64{spool.Completed: 2, spool.Queued: 1, spool.Failed: 1}, Tokens: tokens(11),
	})

	s.write(thread("a"), func(tx spool.Tx) error {
		return errors.Join(
			tx.UpdateRun(spool.RunRow{Run: spool.Run{ID: "r2", State: spool.Failed, TokenCount: tokens(100)}}),
			s.refused(tx.InsertRun(spool.RunRow{Run: spool.Run{ID: "r3", State: spool.Completed, TokenCount: tokens(7)}}), spool.ErrRunIDUsed),
		)
	})
	want := spool.Tally{
		Threads: 2, Runs: map[spool.State]int64{spool.Completed: 2, spool.Failed: 2}, Tokens: tokens(111),
	}
	s.same("a run that moved", tally(spool.DefaultTenant), want)
	lost := errors.New("lost")
	err := s.Store.Update(context.Background(), thread("a"), 0, func(tx spool.Tx) error {
		return errors.Join(
			tx.InsertRun(spool.RunRow{Run: spool.Run{ID: "r4", State: spool.Completed, TokenCount: tokens(5)}}), tx.DeleteThread(), lost,
		)
	})
	s.is("the update", err, lost)
	s.same("what was rolled back", tally(spool.DefaultTenant), want)

	s.write(thread("a"), func(tx spool.Tx) error { return tx.DeleteThread() })
	s.same("a deleted thread", tally(spool.DefaultTenant), spool.Tally{
		Threads: 1, Runs: map[spool.State]int64{spool.Completed: 1}, Tokens: tokens(10),
	})
	s.same("another tenant", tally("other"), spool.Tally{Threads: 1, Runs: map[spool.State]int64{spool.Failed: 1}})
}

func testStoreIdle(s *storeTest) {
	other := spool.ThreadKey{Tenant: "other", ID: "theirs"}
	for _, t := range []spool.Thread{
		{ID: "idle", State: spool.Idle},
		{ID: "done", State: spool.Completed},
		{ID: "with-job", State: spool.Completed},
		{ID: "leased", State: spool.Failed, LeaseUntil: s.clock.Now().Add(time.Hour)},
		{ID: "queued", State: spool.Queued},
		{ID: "running", State: spool.Running},
		{ID: "waiting", State: spool.WaitingForInput},
		{ID: "stopped", State: spool.Cancelled},
	} {
		s.write(thread(t.ID), func(tx spool.Tx) error {
			if t.ID != "with-job" {
				return tx.PutThread(t)
			}
			return errors.Join(tx.PutThread(t), tx.Enqueue(spool.Job{RunID: "r", Key: "k", DueAt: s.clock.Now().Add(time.Hour)}))
		})
		s.clock.Advance(time.Second)
	}
	s.write(other, func(tx spool.Tx) error { return tx.PutThread(spool.Thread{State: spool.Failed}) })
	s.clock.Advance(time.Second)

	now := s.clock.Now()
	s.same("all", s.idle(spool.IdleQuery{Before: now}), "default/idle default/done default/stopped other/theirs")
	s.same("two", s.idle(spool.IdleQuery{Before: now, Limit: 2}), "default/idle default/done")
	s.same("of a tenant", s.idle(spool.IdleQuery{Before: now, Tenant: "other"}), "other/theirs")
	s.same("of a tenant, one", s.idle(spool.IdleQuery{Before: now, Tenant: spool.DefaultTenant, Limit: 1}), "default/idle")
	s.same("of nobody", s.idle(spool.IdleQuery{Before: now, Tenant: "nobody"}), "")
	first := s.all(thread("idle"), "").Thread.UpdatedAt
	s.same("before the first", s.idle(spool.IdleQuery{Before: first}), "")
	s.same("before, by less than a store keeps", s.idle(spool.IdleQuery{Before: first.Add(time.Nanosecond)}), "default/idle")

	// A changed thread is not idle, and a lease ends when it lapses.
	s.write(thread("idle"), func(tx spool.Tx) error { return tx.PutThread(spool.Thread{State: spool.Idle, Title: "news"}) })
	s.clock.Advance(2 * time.Hour)
	s.same("later", s.idle(spool.IdleQuery{Before: now}), "default/done default/leased default/stopped other/theirs")
	s.ackAll()
	s.same("without a job", s.idle(spool.IdleQuery{Before: now, Limit: 2}), "default/done default/with-job")
}

func (s *storeTest) idle(q spool.IdleQuery) string {
	s.Helper()
	keys, err := s.Store.Idle(context.Background(), q)
	if err != nil {
		s.Fatalf("list idle threads: %v", err)
	}
	return compare.Spaced(keys, spool.ThreadKey.String)
}

// ackAll acknowledges all jobs that are due.
func (s *storeTest) ackAll() {
	s.Helper()
	taken, _, err := s.Queue.Claim(context.Background(), spool.ClaimQuery{Limit: 100, Lease: time.Minute})
	if err != nil {
		s.Fatal(err)
	}
	for _, d := range taken {
		if err := s.Queue.Ack(context.Background(), d); err != nil {
			s.Fatal(err)
		}
	}
}
