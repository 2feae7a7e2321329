package spooltest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// runs lists the ids of a tenant's runs.
func (s *storeTest) runs(tenant spool.Tenant, q wire.RunQuery) string {
	s.Helper()
	q.Tenant = tenant
	return compare.Joined(s.listRuns(q), runID)
}

func runID(r store.RunRow) spool.RunID { return r.ID }

func (s *storeTest) listRuns(q wire.RunQuery) []store.RunRow {
	s.Helper()
	list, err := s.Store.Runs(context.Background(), q)
	if err != nil {
		s.Fatalf("list runs: %v", err)
	}
	return list
}

// run adds a run to a thread, and creates the thread if it does not exist.
func (s *storeTest) run(key spool.ThreadKey, r wire.Run) {
	s.Helper()
	s.write(key, func(tx store.Tx) error {
		if _, err := tx.Thread(); err != nil {
			if err := tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}}); err != nil {
				return err
			}
		}
		return tx.Write(store.Changes{NewRuns: []store.RunRow{{Run: r}}})
	})
}

func testStoreRuns(s *storeTest) {
	s.same("of a tenant that has none", len(s.listRuns(wire.RunQuery{Tenant: "nobody"})), 0)
	first := s.clock.Now()
	for i, id := range []spool.RunID{"b", "c", "a"} {
		s.run(thread(spool.ThreadID(fmt.Sprint("t", i%2))), wire.Run{ID: id, State: wire.Completed})
		s.clock.Advance(time.Second)
	}
	s.run(thread("t0"), wire.Run{ID: "d", State: wire.Completed, CreatedAt: first.Add(time.Millisecond)})
	s.run(spool.ThreadKey{Tenant: "other", ID: "t0"}, wire.Run{ID: "x", State: wire.Completed})
	s.same("all", s.runs(spool.DefaultTenant, wire.RunQuery{}), "acdb")
	s.same("two", s.runs(spool.DefaultTenant, wire.RunQuery{Limit: 2}), "ac")
	s.same("of another tenant", s.runs("other", wire.RunQuery{}), "x")

	// The list has the run with the values of its thread. Its position does not change when the run
	// does.
	full := fullRun(s)
	s.write(thread("t0"), func(tx store.Tx) error {
		full.ID, full.ThreadID, full.CreatedAt = "b", "t0", s.clock.Now().Add(time.Hour)
		return tx.Write(store.Changes{Runs: []store.RunRow{full}})
	})
	full.CreatedAt = first
	s.same("a run with everything", s.listRuns(wire.RunQuery{Tenant: spool.DefaultTenant, ID: "b"}),
		[]store.RunRow{{Run: full.Run}})
	s.same("the whole run", s.listRuns(wire.RunQuery{Tenant: spool.DefaultTenant, ID: "b", Whole: true}),
		[]store.RunRow{full})
	s.same("all again", s.runs(spool.DefaultTenant, wire.RunQuery{}), "acdb")

	s.write(thread("t0"), func(tx store.Tx) error { return tx.Write(store.Changes{DeleteThread: true}) })
	s.same("what is left", s.runs(spool.DefaultTenant, wire.RunQuery{}), "c")
}

func testStoreRunsPages(s *storeTest) {
	// Three runs per time, so that a page may end between two runs that only their ids order.
	for i, ids := range []string{"abc", "def", "ghi"} {
		for _, id := range ids {
			s.run(thread(spool.ThreadID("t-"+string(id))), wire.Run{ID: spool.RunID(id), State: wire.Completed})
		}
		s.clock.Advance(time.Duration(i+1) * time.Microsecond)
	}
	const want = "ihgfedcba"
	for size := 1; size <= len(want); size++ {
		var got []store.RunRow
		q := wire.RunQuery{Tenant: spool.DefaultTenant, Limit: size}
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
			s.run(spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "late"}, wire.Run{ID: id, State: wire.Completed})
		}
		s.same(fmt.Sprintf("pages of %d", size), compare.Joined(got, runID), want)
		s.write(thread("late"), func(tx store.Tx) error { return tx.Write(store.Changes{DeleteThread: true}) })
	}
}

func testStoreRunsFilters(s *storeTest) {
	at := make([]time.Time, 0, 4)
	for _, r := range []wire.Run{
		{
			ID: "a", ThreadID: "t1", State: wire.Completed, StopReason: wire.StopMaxSteps, Agent: "one", Model: "m",
			Expired: wire.Expired{Questions: 1, Since: s.clock.Now()},
		},
		{ID: "b", ThreadID: "t1", State: wire.Failed, StopReason: wire.StopFailed, Agent: "two", Model: "m"},
		{
			ID: "c", ThreadID: "t2", State: wire.Failed, StopReason: wire.StopTimeout, Agent: "one", Model: "n", Depth: 1,
			Expired: wire.Expired{Questions: 2, Since: s.clock.Now()},
		},
		{ID: "d", ThreadID: "t2", State: wire.Queued, Agent: "two", Model: "n"},
	} {
		s.clock.Advance(time.Second)
		at = append(at, s.clock.Now())
		s.run(thread(r.ThreadID), r)
	}
	top, nested := 0, 1
	for name, c := range map[string]struct {
		q    wire.RunQuery
		want string
	}{
		"an id":                              {wire.RunQuery{ID: "b"}, "b"},
		"an id that none has":                {wire.RunQuery{ID: "x"}, ""},
		"a thread":                           {wire.RunQuery{ThreadID: "t1"}, "ba"},
		"a state":                            {wire.RunQuery{State: wire.Failed}, "cb"},
		"a state of a thread":                {wire.RunQuery{State: wire.Failed, ThreadID: "t1"}, "b"},
		"a state that none has":              {wire.RunQuery{State: wire.Running}, ""},
		"a stop reason":                      {wire.RunQuery{StopReason: wire.StopTimeout}, "c"},
		"the mark":                           {wire.RunQuery{Expired: true}, "ca"},
		"the mark of a thread":               {wire.RunQuery{Expired: true, ThreadID: "t2"}, "c"},
		"the mark and a state":               {wire.RunQuery{Expired: true, State: wire.Completed}, "a"},
		"the next page with the mark":        {wire.RunQuery{Expired: true, Limit: 1, Before: at[2], BeforeID: "c"}, "a"},
		"an agent":                           {wire.RunQuery{Agent: "one"}, "ca"},
		"a model":                            {wire.RunQuery{Model: "n"}, "dc"},
		"the depth of dispatched runs":       {wire.RunQuery{Depth: &top}, "dba"},
		"a depth":                            {wire.RunQuery{Depth: &nested}, "c"},
		"after":                              {wire.RunQuery{CreatedAfter: at[1]}, "dc"},
		"after, by less than a store keeps":  {wire.RunQuery{CreatedAfter: at[1].Add(-time.Nanosecond)}, "dcb"},
		"before":                             {wire.RunQuery{CreatedBefore: at[1]}, "a"},
		"before, by less than a store keeps": {wire.RunQuery{CreatedBefore: at[1].Add(time.Nanosecond)}, "ba"},
		"a page":                             {wire.RunQuery{State: wire.Failed, Limit: 1}, "c"},
		"the next page": {
			wire.RunQuery{State: wire.Failed, Limit: 1, Before: at[2], BeforeID: "c"}, "b",
		},
		"a page of a thread": {wire.RunQuery{ThreadID: "t1", Limit: 1, Before: at[1], BeforeID: "b"}, "a"},
		"all of it": {wire.RunQuery{
			ID: "b", ThreadID: "t1", State: wire.Failed, StopReason: wire.StopFailed, Agent: "two", Model: "m", Depth: &top,
			CreatedAfter: at[0], CreatedBefore: at[2], Limit: 1, Before: at[3], BeforeID: "d",
		}, "b"},
	} {
		s.same(name, s.runs(spool.DefaultTenant, c.q), c.want)
	}
	s.same("of another tenant", s.runs("other", wire.RunQuery{ID: "b"}), "")
}

func testStoreTally(s *storeTest) {
	tally := func(tenant spool.Tenant) wire.Tally {
		s.Helper()
		t := s.tally(tenant)
		t.Bytes = 0 // each store counts bytes in its own way: see testStoreTallyBytes
		return t
	}
	none := wire.Tally{Runs: map[wire.State]int64{}}
	s.same("of nobody", tally("nobody"), none)

	tokens := func(n int64) spool.TokenCount {
		return spool.TokenCount{InputTokens: n, CachedInputTokens: 2 * n, OutputTokens: 3 * n, TotalTokens: 4 * n}
	}
	s.run(thread("a"), wire.Run{ID: "r1", State: wire.Completed, TokenCount: tokens(1)})
	s.run(thread("a"), wire.Run{ID: "r2", State: wire.Queued})
	// A dispatched run already counts the usage of its nested runs.
	s.run(thread("a"), wire.Run{ID: "n", RootID: "r1", Depth: 1, State: wire.Queued, TokenCount: tokens(1000)})
	s.write(thread("a"), func(tx store.Tx) error {
		return tx.Write(store.Changes{
			Runs: []store.RunRow{{Run: wire.Run{ID: "n", RootID: "r1", Depth: 1, State: wire.Failed, TokenCount: tokens(2000)}}},
		})
	})
	s.run(thread("b"), wire.Run{ID: "r3", State: wire.Completed, TokenCount: tokens(10)})
	s.run(spool.ThreadKey{Tenant: "other", ID: "a"}, wire.Run{ID: "r1", State: wire.Failed})
	s.same("three runs", tally(spool.DefaultTenant), wire.Tally{
		Threads: 2, Runs: map[wire.State]int64{wire.Completed: 2, wire.Queued: 1, wire.Failed: 1}, Tokens: tokens(11),
	})

	s.write(thread("a"), func(tx store.Tx) error {
		return tx.Write(store.Changes{
			Runs: []store.RunRow{{Run: wire.Run{ID: "r2", State: wire.Failed, TokenCount: tokens(100)}}},
		})
	})
	s.refuses("a used id", thread("a"), store.ErrRunIDUsed, store.Changes{
		NewRuns: []store.RunRow{{Run: wire.Run{ID: "r3", State: wire.Completed, TokenCount: tokens(7)}}},
	})
	want := wire.Tally{
		Threads: 2, Runs: map[wire.State]int64{wire.Completed: 2, wire.Failed: 2}, Tokens: tokens(111),
	}
	s.same("a run that moved", tally(spool.DefaultTenant), want)
	lost := errors.New("lost")
	err := s.Store.Update(context.Background(), thread("a"), 0, func(tx store.Tx) error {
		return errors.Join(
			tx.Write(store.Changes{
				NewRuns: []store.RunRow{{Run: wire.Run{ID: "r4", State: wire.Completed, TokenCount: tokens(5)}}},
			}),
			tx.Write(store.Changes{DeleteThread: true}),
			lost,
		)
	})
	s.is("the update", err, lost)
	s.same("what was rolled back", tally(spool.DefaultTenant), want)

	s.write(thread("a"), func(tx store.Tx) error { return tx.Write(store.Changes{DeleteThread: true}) })
	s.same("a deleted thread", tally(spool.DefaultTenant), wire.Tally{
		Threads: 1, Runs: map[wire.State]int64{wire.Completed: 1}, Tokens: tokens(10),
	})
	s.same("another tenant", tally("other"), wire.Tally{Threads: 1, Runs: map[wire.State]int64{wire.Failed: 1}})
}
