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

func testStoreNothingThere(s *storeTest) {
	s.read(thread("t"), func(v store.View) error {
		_, err := v.Thread()
		s.fails("Thread", err, spool.NotFound)
		_, err = store.FindRun(v, "r")
		s.fails("Run", err, spool.NotFound)
		_, err = store.FindMessage(v, "m")
		s.fails("Message", err, spool.NotFound)
		return nil
	})
	s.same("contents", s.all(thread("t"), "r"), compare.Contents{})

	// A transaction that writes nothing does not create the thread either.
	s.write(thread("t"), func(tx store.Tx) error {
		_, err := tx.Thread()
		s.fails("Thread in a transaction", err, spool.NotFound)
		return nil
	})
	s.same("contents after an Update", s.all(thread("t"), "r"), compare.Contents{})

	list, err := s.Store.Threads(context.Background(), wire.ThreadQuery{Tenant: spool.DefaultTenant})
	if err != nil || len(list) != 0 {
		s.Errorf("Threads: got %d and error %v, want none", len(list), err)
	}
	s.same("stranded", s.stranded(10), "")
}

func fullThread(s *storeTest) wire.Thread {
	return wire.Thread{
		Tenant: spool.DefaultTenant, ID: "t", State: wire.Running, Model: "model", Title: "a “title”\n",
		RunID: "r1", Fence: 3, LeaseUntil: s.clock.Now().Add(time.Minute),
		Expired: wire.Expired{Questions: 2, Since: s.clock.Now().Add(-time.Hour)},
		Owner:   "anna", Labels: map[string]string{"team": `a "b"`, "app.example/v1": "ä: b"},
	}
}

func testStoreThreadRoundTrip(s *storeTest) {
	want := fullThread(s)
	s.write(want.Key(), func(tx store.Tx) error { return tx.Write(store.Changes{Thread: &want}) })
	want.CreatedAt, want.UpdatedAt = s.clock.Now(), s.clock.Now()
	s.same("thread", s.all(want.Key(), "").Thread, want)
}

func testStoreThreadReplaced(s *storeTest) {
	first := fullThread(s)
	s.write(first.Key(), func(tx store.Tx) error {
		return tx.Write(store.Changes{
			Thread:  &first,
			Entries: []*wire.Entry{wire.NewEntry("A", "", nil), wire.NewEntry("A", "", nil)},
		})
	})
	created := s.clock.Now()
	s.clock.Advance(time.Second)

	s.write(first.Key(), func(tx store.Tx) error {
		return tx.Write(store.Changes{Thread: &wire.Thread{
			Tenant: first.Tenant, ID: first.ID, State: wire.Idle,
			LastSeq: 77, CreatedAt: created.Add(-time.Hour), UpdatedAt: created.Add(-time.Hour),
		}})
	})
	s.same("thread", s.all(first.Key(), "").Thread, wire.Thread{
		Tenant: first.Tenant, ID: first.ID, State: wire.Idle,
		LastSeq: 2, CreatedAt: created, UpdatedAt: s.clock.Now(),
	})
}

// ids lists threads.
func (s *storeTest) ids(tenant spool.Tenant, q wire.ThreadQuery) string {
	s.Helper()
	q.Tenant = tenant
	list, err := s.Store.Threads(context.Background(), q)
	if err != nil {
		s.Fatalf("list threads: %v", err)
	}
	return compare.Joined(list, threadID)
}

func threadID(t wire.Thread) spool.ThreadID { return t.ID }

func testStoreThreads(s *storeTest) {
	put := func(id spool.ThreadID, t wire.Thread) {
		s.clock.Advance(time.Second)
		s.write(thread(id), func(tx store.Tx) error { return tx.Write(store.Changes{Thread: &t}) })
	}
	for _, id := range []spool.ThreadID{"a", "b", "c"} {
		put(id, wire.Thread{State: wire.Idle, Title: string(id)})
	}
	put("b", wire.Thread{State: wire.Queued, Title: "b"})
	// Renewing a lease does not count as an update.
	put("a", wire.Thread{State: wire.Idle, Title: "a", LeaseUntil: s.clock.Now().Add(time.Minute)})
	s.same("all", s.ids(spool.DefaultTenant, wire.ThreadQuery{}), "bca")
	s.same("limited", s.ids(spool.DefaultTenant, wire.ThreadQuery{Limit: 2}), "bc")
	s.same("of another tenant", s.ids("other", wire.ThreadQuery{}), "")

	list, err := s.Store.Threads(context.Background(), wire.ThreadQuery{Tenant: spool.DefaultTenant, Limit: 1})
	if err != nil {
		s.Fatal(err)
	}
	s.same("row in the list", list[0], s.all(thread("b"), "").Thread)
}

func testStoreThreadsPages(s *storeTest) {
	// Three threads per time, so that a page may end between two threads that only their ids order.
	for i, ids := range []string{"abc", "def", "ghi"} {
		for _, id := range ids {
			s.write(thread(spool.ThreadID(id)),
				func(tx store.Tx) error { return tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}}) })
		}
		s.clock.Advance(time.Duration(i+1) * time.Microsecond)
	}
	const want = "ihgfedcba"
	for size := 1; size <= len(want); size++ {
		var got []wire.Thread
		q := wire.ThreadQuery{Tenant: spool.DefaultTenant, Limit: size}
		for range len(want) {
			list, err := s.Store.Threads(context.Background(), q)
			if err != nil {
				s.Fatal(err)
			}
			got = append(got, list...)
			if len(list) > 0 {
				last := list[len(list)-1]
				q.Before, q.BeforeID = last.UpdatedAt, last.ID
			}
		}
		s.same(fmt.Sprintf("pages of %d", size), compare.Joined(got, threadID), want)
	}
}

func testStoreThreadsFilters(s *storeTest) {
	at := make([]time.Time, 0, 4)
	for _, t := range []wire.Thread{
		{
			ID: "a", State: wire.Completed, Title: "Pay the INVOICE", Owner: "anna",
			Labels: map[string]string{"team": "sales", "x": "1"},
		},
		{ID: "b", State: wire.Queued, Title: "100% of it_all", Expired: wire.Expired{Questions: 1, Since: s.clock.Now()}},
		{
			ID: "c", State: wire.Completed, Title: `Äpfel \ Birnen`, Owner: "anna",
			Expired: wire.Expired{Questions: 2, Since: s.clock.Now()},
		},
		{
			ID: "d", State: wire.Queued, Title: "100x of itxall, and an invoice", Owner: "bert",
			Labels: map[string]string{"team": "sales", "x": "2"},
		},
	} {
		s.clock.Advance(time.Second)
		at = append(at, s.clock.Now())
		s.write(thread(t.ID), func(tx store.Tx) error { return tx.Write(store.Changes{Thread: &t}) })
	}
	for name, c := range map[string]struct {
		q    wire.ThreadQuery
		want string
	}{
		"a state":                            {wire.ThreadQuery{State: wire.Completed}, "ca"},
		"a state that none has":              {wire.ThreadQuery{State: wire.Failed}, ""},
		"a text in any case":                 {wire.ThreadQuery{Title: "Invoice"}, "da"},
		"signs of patterns":                  {wire.ThreadQuery{Title: "0% OF it_"}, "b"},
		"a backslash":                        {wire.ThreadQuery{Title: `\ b`}, "c"},
		"letters beyond ASCII":               {wire.ThreadQuery{Title: "äpfel"}, ""},
		"after":                              {wire.ThreadQuery{UpdatedAfter: at[1]}, "dc"},
		"after, by less than a store keeps":  {wire.ThreadQuery{UpdatedAfter: at[1].Add(-time.Nanosecond)}, "dcb"},
		"before":                             {wire.ThreadQuery{UpdatedBefore: at[1]}, "a"},
		"before, by less than a store keeps": {wire.ThreadQuery{UpdatedBefore: at[1].Add(time.Nanosecond)}, "ba"},
		"all of it": {
			wire.ThreadQuery{State: wire.Queued, Title: "of", UpdatedAfter: at[0], UpdatedBefore: at[3]}, "b",
		},
		"with the mark":                 {wire.ThreadQuery{Expired: true}, "cb"},
		"with the mark, in a state":     {wire.ThreadQuery{Expired: true, State: wire.Queued}, "b"},
		"with the mark, of an owner":    {wire.ThreadQuery{Expired: true, Owner: "anna"}, "c"},
		"the next page with the mark":   {wire.ThreadQuery{Expired: true, Limit: 1, Before: at[2], BeforeID: "c"}, "b"},
		"of an owner":                   {wire.ThreadQuery{Owner: "anna"}, "ca"},
		"of one who has none":           {wire.ThreadQuery{Owner: "ann"}, ""},
		"the next page of an owner":     {wire.ThreadQuery{Owner: "anna", Limit: 1, Before: at[2], BeforeID: "c"}, "a"},
		"with a label":                  {wire.ThreadQuery{Labels: map[string]string{"team": "sales"}}, "da"},
		"with two labels":               {wire.ThreadQuery{Labels: map[string]string{"team": "sales", "x": "1"}}, "a"},
		"with a label of another value": {wire.ThreadQuery{Labels: map[string]string{"team": "1"}}, ""},
		"with a label that none has":    {wire.ThreadQuery{Labels: map[string]string{"y": "1"}}, ""},
		"with a label, of an owner":     {wire.ThreadQuery{Owner: "bert", Labels: map[string]string{"team": "sales"}}, "d"},
		"a page":                        {wire.ThreadQuery{State: wire.Queued, Limit: 1}, "d"},
		"the next page":                 {wire.ThreadQuery{State: wire.Queued, Limit: 1, Before: at[3], BeforeID: "d"}, "b"},
	} {
		s.same(name, s.ids(spool.DefaultTenant, c.q), c.want)
	}
	s.same("of another tenant", s.ids("other", wire.ThreadQuery{State: wire.Completed}), "")
}

func testStoreDeleteThread(s *storeTest) {
	key, other := thread("t"), thread("other")
	s.write(key, func(tx store.Tx) error { return fill(tx, key, "r") })
	s.write(key, func(tx store.Tx) error {
		r, err := store.FindRun(tx, "r")
		if err != nil {
			return err
		}
		r.StartKey = "start"
		return tx.Write(store.Changes{Runs: []store.RunRow{r}, Drop: &store.Drop{From: "m2", Seq: 2}})
	})
	s.write(other, func(tx store.Tx) error { return fill(tx, other, "r-other") })
	before := s.all(other, "r-other")
	taken, _, err := s.Store.Claim(context.Background(), store.ClaimQuery{Limit: 1, Lease: time.Minute})
	if err != nil || len(taken) != 1 || taken[0].RunID != "r" {
		s.Fatalf("claim: got %v and error %v, want the job of r", taken, err)
	}

	s.write(key, func(tx store.Tx) error {
		if err := tx.Write(store.Changes{DeleteThread: true}); err != nil {
			return err
		}
		c, err := compare.Read(tx, "r")
		s.same("contents in the transaction", c, compare.Contents{})
		return err
	})

	s.same("contents", s.all(key, "r"), compare.Contents{})
	s.same("contents of another thread", s.all(other, "r-other"), before)
	s.same("threads", s.ids(spool.DefaultTenant, wire.ThreadQuery{}), "other")
	s.same("runs of the key of the start", len(s.started(key.Tenant, "start")), 0)
	s.is("Ack of a job of the thread", s.Store.Ack(context.Background(), taken[0], store.Ack{Kind: store.AckDone}),
		store.ErrFenced)
	s.clock.Advance(time.Hour)
	taken, _, err = s.Store.Claim(context.Background(), store.ClaimQuery{Limit: 10, Lease: time.Minute})
	if err != nil || len(taken) != 1 || taken[0].RunID != "r-other" {
		s.Errorf("claim: got %v and error %v, want only the job of the other thread", taken, err)
	}

	// All ids can be used again, also those of branches, and the record begins anew.
	s.write(key, func(tx store.Tx) error { return fill(tx, key, "r") })
	s.same("branches of a new thread", len(s.all(key, "r").Branches), 0)
	s.write(key, func(tx store.Tx) error { return tx.Write(store.Changes{Drop: &store.Drop{From: "m2", Seq: 2}}) })
	s.same("seq of a new record", s.all(key, "r").Thread.LastSeq, int64(2))
}

func testStoreDeleteNothing(s *storeTest) {
	s.write(thread("t"), func(tx store.Tx) error { return tx.Write(store.Changes{DeleteThread: true}) })
	s.same("contents", s.all(thread("t"), ""), compare.Contents{})
}

func testStoreTenants(s *storeTest) {
	ours, theirs := thread("t"), spool.ThreadKey{Tenant: "other", ID: "t"}
	for _, key := range []spool.ThreadKey{ours, theirs} {
		s.write(key, func(tx store.Tx) error {
			if err := fill(tx, key, "r"); err != nil {
				return err
			}
			r, err := store.FindRun(tx, "r")
			r.StartKey, r.Agent = "start", string(key.Tenant)
			return errors.Join(err, tx.Write(store.Changes{Runs: []store.RunRow{r}}))
		})
	}
	for _, key := range []spool.ThreadKey{ours, theirs} {
		c := s.all(key, "r")
		s.same("tenant of the thread", c.Thread.Tenant, key.Tenant)
		s.same("tenant of the run", c.Runs[0].Tenant, key.Tenant)
		s.same("numbers", []int{len(c.Runs), len(c.Messages), len(c.Entries), len(c.Parks), len(c.Effects)},
			[]int{1, 2, 2, 1, 1})
		s.same("threads", s.ids(key.Tenant, wire.ThreadQuery{}), "t")
		agent := func(r store.RunRow) string { return r.Agent }
		s.same("agent of the started run", compare.Spaced(s.started(key.Tenant, "start"), agent), string(key.Tenant))
	}
	kept := s.all(theirs, "r")
	s.write(ours, func(tx store.Tx) error { return tx.Write(store.Changes{DeleteThread: true}) })
	s.same("contents of the other tenant", s.all(theirs, "r"), kept)
	taken, _, err := s.Store.Claim(context.Background(), store.ClaimQuery{Limit: 10, Lease: time.Minute})
	if err != nil || len(taken) != 1 || taken[0].Tenant != "other" {
		s.Errorf("claim: got %v and error %v, want the job of the other tenant", taken, err)
	}
}
