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
	q.Tenant = tenant
	return compare.Joined(s.listRuns(q), runID)
}

func runID(r spool.RunRow) spool.RunID { return r.ID }

func (s *storeTest) listRuns(q spool.RunQuery) []spool.RunRow {
	s.Helper()
	list, err := s.Store.Runs(context.Background(), q)
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
			if err := tx.Write(spool.Changes{Thread: &spool.Thread{State: spool.Idle}}); err != nil {
				return err
			}
		}
		return tx.Write(spool.Changes{NewRuns: []spool.RunRow{{Run: r}}})
	})
}

func testStoreRuns(s *storeTest) {
	s.same("of a tenant that has none", len(s.listRuns(spool.RunQuery{Tenant: "nobody"})), 0)
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
		return tx.Write(spool.Changes{Runs: []spool.RunRow{full}})
	})
	full.CreatedAt = first
	s.same("a run with everything", s.listRuns(spool.RunQuery{Tenant: spool.DefaultTenant, ID: "b"}), []spool.RunRow{{Run: full.Run}})
	s.same("the whole run", s.listRuns(spool.RunQuery{Tenant: spool.DefaultTenant, ID: "b", Whole: true}), []spool.RunRow{full})
	s.same("all again", s.runs(spool.DefaultTenant, spool.RunQuery{}), "acdb")

	s.write(thread("t0"), func(tx spool.Tx) error { return tx.Write(spool.Changes{DeleteThread: true}) })
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
		var got []spool.RunRow
		q := spool.RunQuery{Tenant: spool.DefaultTenant, Limit: size}
		for page := range len(want) {
			list := s.listRuns(q)
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
		s.same(fmt.Sprintf("pages of %d", size), compare.Joined(got, runID), want)
		s.write(thread("late"), func(tx spool.Tx) error { return tx.Write(spool.Changes{DeleteThread: true}) })
	}
}

func testStoreRunsFilters(s *storeTest) {
	at := make([]time.Time, 0, 4)
	for _, r := range []spool.Run{
		{ID: "a", ThreadID: "t1", State: spool.Completed, StopReason: spool.StopMaxSteps, Agent: "one", Model: "m", Expired: spool.Expired{Questions: 1, Since: s.clock.Now()}},
		{ID: "b", ThreadID: "t1", State: spool.Failed, StopReason: spool.StopFailed, Agent: "two", Model: "m"},
		{ID: "c", ThreadID: "t2", State: spool.Failed, StopReason: spool.StopTimeout, Agent: "one", Model: "n", Depth: 1, Expired: spool.Expired{Questions: 2, Since: s.clock.Now()}},
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
		"the mark":                           {spool.RunQuery{Expired: true}, "ca"},
		"the mark of a thread":               {spool.RunQuery{Expired: true, ThreadID: "t2"}, "c"},
		"the mark and a state":               {spool.RunQuery{Expired: true, State: spool.Completed}, "a"},
		"the next page with the mark":        {spool.RunQuery{Expired: true, Limit: 1, Before: at[2], BeforeID: "c"}, "a"},
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
		t := s.tally(tenant)
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
		return tx.Write(spool.Changes{Runs: []spool.RunRow{{Run: spool.Run{ID: "n", RootID: "r1", Depth: 1, State: spool.Failed, TokenCount: tokens(2000)}}}})
	})
	s.run(thread("b"), spool.Run{ID: "r3", State: spool.Completed, TokenCount: tokens(10)})
	s.run(spool.ThreadKey{Tenant: "other", ID: "a"}, spool.Run{ID: "r1", State: spool.Failed})
	s.same("three runs", tally(spool.DefaultTenant), spool.Tally{
		Threads: 2, Runs: map[spool.State]int64{spool.Completed: 2, spool.Queued: 1, spool.Failed: 1}, Tokens: tokens(11),
	})

	s.write(thread("a"), func(tx spool.Tx) error {
		return tx.Write(spool.Changes{
			Runs: []spool.RunRow{{Run: spool.Run{ID: "r2", State: spool.Failed, TokenCount: tokens(100)}}},
		})
	})
	s.refuses("a used id", thread("a"), spool.ErrRunIDUsed, spool.Changes{
		NewRuns: []spool.RunRow{{Run: spool.Run{ID: "r3", State: spool.Completed, TokenCount: tokens(7)}}},
	})
	want := spool.Tally{
		Threads: 2, Runs: map[spool.State]int64{spool.Completed: 2, spool.Failed: 2}, Tokens: tokens(111),
	}
	s.same("a run that moved", tally(spool.DefaultTenant), want)
	lost := errors.New("lost")
	err := s.Store.Update(context.Background(), thread("a"), 0, func(tx spool.Tx) error {
		return errors.Join(
			tx.Write(spool.Changes{
				NewRuns: []spool.RunRow{{Run: spool.Run{ID: "r4", State: spool.Completed, TokenCount: tokens(5)}}},
			}),
			tx.Write(spool.Changes{DeleteThread: true}),
			lost,
		)
	})
	s.is("the update", err, lost)
	s.same("what was rolled back", tally(spool.DefaultTenant), want)

	s.write(thread("a"), func(tx spool.Tx) error { return tx.Write(spool.Changes{DeleteThread: true}) })
	s.same("a deleted thread", tally(spool.DefaultTenant), spool.Tally{
		Threads: 1, Runs: map[spool.State]int64{spool.Completed: 1}, Tokens: tokens(10),
	})
	s.same("another tenant", tally("other"), spool.Tally{Threads: 1, Runs: map[spool.State]int64{spool.Failed: 1}})
}
