package spooltest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/compare"
)

func testStoreNothingThere(s *storeTest) {
	s.read(thread("t"), func(v spool.View) error {
		_, err := v.Thread()
		s.fails("Thread", err, spool.NotFound)
		_, err = spool.FindRun(v, "r")
		s.fails("Run", err, spool.NotFound)
		_, err = spool.FindMessage(v, "m")
		s.fails("Message", err, spool.NotFound)
		return nil
	})
	s.same("contents", s.all(thread("t"), "r"), compare.Contents{})

	// A transaction that writes nothing does not create the thread either.
	s.write(thread("t"), func(tx spool.Tx) error {
		_, err := tx.Thread()
		s.fails("Thread in a transaction", err, spool.NotFound)
		return nil
	})
	s.same("contents after an Update", s.all(thread("t"), "r"), compare.Contents{})

	list, err := s.Store.Threads(context.Background(), spool.ThreadQuery{Tenant: spool.DefaultTenant})
	if err != nil || len(list) != 0 {
		s.Errorf("Threads: got %d and error %v, want none", len(list), err)
	}
	s.same("stranded", s.stranded(10), "")
}

func fullThread(s *storeTest) spool.Thread {
	return spool.Thread{
		Tenant: spool.DefaultTenant, ID: "t", State: spool.Running, Model: "model", Title: "a “title”\n",
		RunID: "r1", Fence: 3, LeaseUntil: s.clock.Now().Add(time.Minute),
		Expired: spool.Expired{Questions: 2, Since: s.clock.Now().Add(-time.Hour)},
		Owner:   "anna", Labels: map[string]string{"team": `a "b"`, "app.example/v1": "ä: b"},
	}
}

func testStoreThreadRoundTrip(s *storeTest) {
	want := fullThread(s)
	s.write(want.Key(), func(tx spool.Tx) error { return tx.Write(spool.Changes{Thread: &want}) })
	want.CreatedAt, want.UpdatedAt = s.clock.Now(), s.clock.Now()
	s.same("thread", s.all(want.Key(), "").Thread, want)
}

func testStoreThreadReplaced(s *storeTest) {
	first := fullThread(s)
	s.write(first.Key(), func(tx spool.Tx) error {
		return tx.Write(spool.Changes{
			Thread:  &first,
			Entries: []*spool.Entry{spool.NewEntry("A", "", nil), spool.NewEntry("A", "", nil)},
		})
	})
	created := s.clock.Now()
	s.clock.Advance(time.Second)

	s.write(first.Key(), func(tx spool.Tx) error {
		return tx.Write(spool.Changes{Thread: &spool.Thread{
			Tenant: first.Tenant, ID: first.ID, State: spool.Idle,
			LastSeq: 77, CreatedAt: created.Add(-time.Hour), UpdatedAt: created.Add(-time.Hour),
		}})
	})
	s.same("thread", s.all(first.Key(), "").Thread, spool.Thread{
		Tenant: first.Tenant, ID: first.ID, State: spool.Idle,
		LastSeq: 2, CreatedAt: created, UpdatedAt: s.clock.Now(),
	})
}

// ids lists threads.
func (s *storeTest) ids(tenant spool.Tenant, q spool.ThreadQuery) string {
	s.Helper()
	q.Tenant = tenant
	list, err := s.Store.Threads(context.Background(), q)
	if err != nil {
		s.Fatalf("list threads: %v", err)
	}
	return compare.Joined(list, threadID)
}

func threadID(t spool.Thread) spool.ThreadID { return t.ID }

func testStoreThreads(s *storeTest) {
	put := func(id spool.ThreadID, t spool.Thread) {
		s.clock.Advance(time.Second)
		s.write(thread(id), func(tx spool.Tx) error { return tx.Write(spool.Changes{Thread: &t}) })
	}
	for _, id := range []spool.ThreadID{"a", "b", "c"} {
		put(id, spool.Thread{State: spool.Idle, Title: string(id)})
	}
	put("b", spool.Thread{State: spool.Queued, Title: "b"})
	// Renewing a lease does not count as an update.
	put("a", spool.Thread{State: spool.Idle, Title: "a", LeaseUntil: s.clock.Now().Add(time.Minute)})
	s.same("all", s.ids(spool.DefaultTenant, spool.ThreadQuery{}), "bca")
	s.same("limited", s.ids(spool.DefaultTenant, spool.ThreadQuery{Limit: 2}), "bc")
	s.same("of another tenant", s.ids("other", spool.ThreadQuery{}), "")

	list, err := s.Store.Threads(context.Background(), spool.ThreadQuery{Tenant: spool.DefaultTenant, Limit: 1})
	if err != nil {
		s.Fatal(err)
	}
	s.same("row in the list", list[0], s.all(thread("b"), "").Thread)
}

func testStoreThreadsPages(s *storeTest) {
	// Three threads per time, so that a page may end between two threads that only their ids order.
	for i, ids := range []string{"abc", "def", "ghi"} {
		for _, id := range ids {
			s.write(thread(spool.ThreadID(id)), func(tx spool.Tx) error { return tx.Write(spool.Changes{Thread: &spool.Thread{State: spool.Idle}}) })
		}
		s.clock.Advance(time.Duration(i+1) * time.Microsecond)
	}
	const want = "ihgfedcba"
	for size := 1; size <= len(want); size++ {
		var got []spool.Thread
		q := spool.ThreadQuery{Tenant: spool.DefaultTenant, Limit: size}
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
	for _, t := range []spool.Thread{
		{ID: "a", State: spool.Completed, Title: "Pay the INVOICE", Owner: "anna", Labels: map[string]string{"team": "sales", "x": "1"}},
		{ID: "b", State: spool.Queued, Title: "100% of it_all", Expired: spool.Expired{Questions: 1, Since: s.clock.Now()}},
		{ID: "c", State: spool.Completed, Title: `Äpfel \ Birnen`, Owner: "anna", Expired: spool.Expired{Questions: 2, Since: s.clock.Now()}},
		{ID: "d", State: spool.Queued, Title: "100x of itxall, and an invoice", Owner: "bert", Labels: map[string]string{"team": "sales", "x": "2"}},
	} {
		s.clock.Advance(time.Second)
		at = append(at, s.clock.Now())
		s.write(thread(t.ID), func(tx spool.Tx) error { return tx.Write(spool.Changes{Thread: &t}) })
	}
	for name, c := range map[string]struct {
		q    spool.ThreadQuery
		want string
	}{
		"a state":                            {spool.ThreadQuery{State: spool.Completed}, "ca"},
		"a state that none has":              {spool.ThreadQuery{State: spool.Failed}, ""},
		"a text in any case":                 {spool.ThreadQuery{Title: "Invoice"}, "da"},
		"signs of patterns":                  {spool.ThreadQuery{Title: "0% OF it_"}, "b"},
		"a backslash":                        {spool.ThreadQuery{Title: `\ b`}, "c"},
		"letters beyond ASCII":               {spool.ThreadQuery{Title: "äpfel"}, ""},
		"after":                              {spool.ThreadQuery{UpdatedAfter: at[1]}, "dc"},
		"after, by less than a store keeps":  {spool.ThreadQuery{UpdatedAfter: at[1].Add(-time.Nanosecond)}, "dcb"},
		"before":                             {spool.ThreadQuery{UpdatedBefore: at[1]}, "a"},
		"before, by less than a store keeps": {spool.ThreadQuery{UpdatedBefore: at[1].Add(time.Nanosecond)}, "ba"},
		"all of it":                          {spool.ThreadQuery{State: spool.Queued, Title: "of", UpdatedAfter: at[0], UpdatedBefore: at[3]}, "b"},
		"with the mark":                      {spool.ThreadQuery{Expired: true}, "cb"},
		"with the mark, in a state":          {spool.ThreadQuery{Expired: true, State: spool.Queued}, "b"},
		"with the mark, of an owner":         {spool.ThreadQuery{Expired: true, Owner: "anna"}, "c"},
		"the next page with the mark":        {spool.ThreadQuery{Expired: true, Limit: 1, Before: at[2], BeforeID: "c"}, "b"},
		"of an owner":                        {spool.ThreadQuery{Owner: "anna"}, "ca"},
		"of one who has none":                {spool.ThreadQuery{Owner: "ann"}, ""},
		"the next page of an owner":          {spool.ThreadQuery{Owner: "anna", Limit: 1, Before: at[2], BeforeID: "c"}, "a"},
		"with a label":                       {spool.ThreadQuery{Labels: map[string]string{"team": "sales"}}, "da"},
		"with two labels":                    {spool.ThreadQuery{Labels: map[string]string{"team": "sales", "x": "1"}}, "a"},
		"with a label of another value":      {spool.ThreadQuery{Labels: map[string]string{"team": "1"}}, ""},
		"with a label that none has":         {spool.ThreadQuery{Labels: map[string]string{"y": "1"}}, ""},
		"with a label, of an owner":          {spool.ThreadQuery{Owner: "bert", Labels: map[string]string{"team": "sales"}}, "d"},
		"a page":                             {spool.ThreadQuery{State: spool.Queued, Limit: 1}, "d"},
		"the next page":                      {spool.ThreadQuery{State: spool.Queued, Limit: 1, Before: at[3], BeforeID: "d"}, "b"},
	} {
		s.same(name, s.ids(spool.DefaultTenant, c.q), c.want)
	}
	s.same("of another tenant", s.ids("other", spool.ThreadQuery{State: spool.Completed}), "")
}

func testStoreDeleteThread(s *storeTest) {
	key, other := thread("t"), thread("other")
	s.write(key, func(tx spool.Tx) error { return fill(tx, key, "r") })
	s.write(key, func(tx spool.Tx) error {
		r, err := spool.FindRun(tx, "r")
		if err != nil {
			return err
		}
		r.StartKey = "start"
		return tx.Write(spool.Changes{Runs: []spool.RunRow{r}, Drop: &spool.Drop{From: "m2", Seq: 2}})
	})
	s.write(other, func(tx spool.Tx) error { return fill(tx, other, "r-other") })
	before := s.all(other, "r-other")
	taken, _, err := s.Store.Claim(context.Background(), spool.ClaimQuery{Limit: 1, Lease: time.Minute})
	if err != nil || len(taken) != 1 || taken[0].RunID != "r" {
		s.Fatalf("claim: got %v and error %v, want the job of r", taken, err)
	}

	s.write(key, func(tx spool.Tx) error {
		if err := tx.Write(spool.Changes{DeleteThread: true}); err != nil {
			return err
		}
		c, err := compare.Read(tx, "r")
		s.same("contents in the transaction", c, compare.Contents{})
		return err
	})

	s.same("contents", s.all(key, "r"), compare.Contents{})
	s.same("contents of another thread", s.all(other, "r-other"), before)
	s.same("threads", s.ids(spool.DefaultTenant, spool.ThreadQuery{}), "other")
	s.same("runs of the key of the start", len(s.started(key.Tenant, "start")), 0)
	s.is("Ack of a job of the thread", s.Store.Ack(context.Background(), taken[0], spool.Ack{Kind: spool.AckDone}), spool.ErrFenced)
	s.clock.Advance(time.Hour)
	taken, _, err = s.Store.Claim(context.Background(), spool.ClaimQuery{Limit: 10, Lease: time.Minute})
	if err != nil || len(taken) != 1 || taken[0].RunID != "r-other" {
		s.Errorf("claim: got %v and error %v, want only the job of the other thread", taken, err)
	}

	// All ids can be used again, also those of branches, and the record begins anew.
	s.write(key, func(tx spool.Tx) error { return fill(tx, key, "r") })
	s.same("branches of a new thread", len(s.all(key, "r").Branches), 0)
	s.write(key, func(tx spool.Tx) error { return tx.Write(spool.Changes{Drop: &spool.Drop{From: "m2", Seq: 2}}) })
	s.same("seq of a new record", s.all(key, "r").Thread.LastSeq, int64(2))
}

func testStoreDeleteNothing(s *storeTest) {
	s.write(thread("t"), func(tx spool.Tx) error { return tx.Write(spool.Changes{DeleteThread: true}) })
	s.same("contents", s.all(thread("t"), ""), compare.Contents{})
}

func testStoreTenants(s *storeTest) {
	ours, theirs := thread("t"), spool.ThreadKey{Tenant: "other", ID: "t"}
	for _, key := range []spool.ThreadKey{ours, theirs} {
		s.write(key, func(tx spool.Tx) error {
			if err := fill(tx, key, "r"); err != nil {
				return err
			}
			r, err := spool.FindRun(tx, "r")
			r.StartKey, r.Agent = "start", string(key.Tenant)
			return errors.Join(err, tx.Write(spool.Changes{Runs: []spool.RunRow{r}}))
		})
	}
	for _, key := range []spool.ThreadKey{ours, theirs} {
		c := s.all(key, "r")
		s.same("tenant of the thread", c.Thread.Tenant, key.Tenant)
		s.same("tenant of the run", c.Runs[0].Tenant, key.Tenant)
		s.same("numbers", []int{len(c.Runs), len(c.Messages), len(c.Entries), len(c.Parks), len(c.Effects)}, []int{1, 2, 2, 1, 1})
		s.same("threads", s.ids(key.Tenant, spool.ThreadQuery{}), "t")
		agent := func(r spool.RunRow) string { return r.Agent }
		s.same("agent of the started run", compare.Spaced(s.started(key.Tenant, "start"), agent), string(key.Tenant))
	}
	kept := s.all(theirs, "r")
	s.write(ours, func(tx spool.Tx) error { return tx.Write(spool.Changes{DeleteThread: true}) })
	s.same("contents of the other tenant", s.all(theirs, "r"), kept)
	taken, _, err := s.Store.Claim(context.Background(), spool.ClaimQuery{Limit: 10, Lease: time.Minute})
	if err != nil || len(taken) != 1 || taken[0].Tenant != "other" {
		s.Errorf("claim: got %v and error %v, want the job of the other tenant", taken, err)
	}
}
