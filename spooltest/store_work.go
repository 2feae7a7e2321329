package spooltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// stranded lists the ids of stranded threads, sorted.
func (s *storeTest) stranded(limit int) string {
	s.Helper()
	list, err := s.Store.Threads(context.Background(), wire.ThreadQuery{Work: wire.ThreadsStranded, Limit: limit})
	if err != nil {
		s.Fatalf("list stranded threads: %v", err)
	}
	ids := each(list, threadName)
	slices.Sort(ids)
	return strings.Join(ids, " ")
}

func threadName(t wire.Thread) string { return t.Key().String() }

func testStoreStranded(s *storeTest) {
	job := func(id spool.ThreadID, run spool.RunID, due time.Duration) func(tx store.Tx) error {
		return func(tx store.Tx) error {
			return tx.Write(store.Changes{Jobs: []wire.Job{{
				Tenant: spool.DefaultTenant, ThreadID: id, RunID: run, Agent: "a", DueAt: tx.Now().Add(due),
			}}})
		}
	}
	none := func(store.Tx) error { return nil }
	for _, c := range []struct {
		id    spool.ThreadID
		state wire.State
		lease time.Duration
		add   func(tx store.Tx) error
	}{
		{"queued", wire.Queued, 0, none},
		{"running", wire.Running, 0, none},
		{"waiting", wire.WaitingForInput, 0, none},
		{"lapsed", wire.Running, -time.Second, none},
		{"lapses-now", wire.Running, 0, none},
		{"other-job", wire.Queued, 0, job("other-job", "another-run", 0)},

		{"leased", wire.Running, time.Minute, none},
		{"due-job", wire.Queued, 0, job("due-job", "r-due-job", 0)},
		{"delayed-job", wire.WaitingForInput, 0, job("delayed-job", "r-delayed-job", time.Hour)},
		{"lapsed-with-job", wire.Running, -time.Second, job("lapsed-with-job", "r-lapsed-with-job", 0)},
		{"idle", wire.Idle, 0, none},
		{"completed", wire.Completed, 0, none},
		{"cancelled", wire.Cancelled, 0, none},
		{"failed", wire.Failed, 0, none},
	} {
		s.write(thread(c.id), func(tx store.Tx) error {
			run := spool.RunID("r-" + c.id)
			t := wire.Thread{State: c.state, RunID: run}
			if c.lease != 0 || c.id == "lapses-now" {
				t.LeaseUntil = tx.Now().Add(c.lease)
			}
			return errors.Join(
				tx.Write(store.Changes{
					Thread:  &t,
					NewRuns: []store.RunRow{{Run: wire.Run{ID: run, State: c.state}}},
				}),
				c.add(tx),
			)
		})
	}
	// A thread of another tenant with the same ids as one that has a job.
	s.write(spool.ThreadKey{Tenant: "other", ID: "due-job"}, func(tx store.Tx) error { return putQueued(tx, "r-due-job") })

	s.same("stranded", s.stranded(100), "default/lapsed default/lapses-now default/other-job default/queued "+
		"default/running default/waiting other/due-job")
	s.clock.Advance(time.Minute)
	s.same("stranded when another lease has lapsed", s.stranded(100), "default/lapsed default/lapses-now default/leased "+
		"default/other-job default/queued default/running default/waiting other/due-job")
}

func testStoreStrandedLimit(s *storeTest) {
	for i := range 5 {
		s.queued(thread(spool.ThreadID(fmt.Sprint("t", i))), spool.RunID(fmt.Sprint("r", i)))
	}
	s.same("number of stranded", len(strings.Fields(s.stranded(3))), 3)
}

func testStoreStrandedClaimed(s *storeTest) {
	key := thread("t")
	s.write(key, func(tx store.Tx) error { return fill(tx, key, "r") })
	claim := func() store.Delivery {
		taken, _, err := s.Store.Claim(context.Background(), store.ClaimQuery{Limit: 1, Lease: time.Minute})
		if err != nil || len(taken) != 1 {
			s.Fatalf("claim: got %v and error %v, want one job", taken, err)
		}
		return taken[0]
	}
	d := claim()
	s.same("stranded with a claimed job", s.stranded(10), "")
	s.clock.Advance(time.Hour)
	s.same("stranded with a claim that has lapsed", s.stranded(10), "")
	if err := s.Store.Ack(context.Background(), d, store.Ack{Kind: store.AckDone}); err != nil {
		s.Fatal(err)
	}
	s.same("stranded when the job is done", s.stranded(10), "default/t")

	s.write(key, func(tx store.Tx) error {
		return tx.Write(store.Changes{Jobs: []wire.Job{{Tenant: key.Tenant, ThreadID: key.ID, RunID: "r", Agent: "a"}}})
	})
	s.same("stranded with another job", s.stranded(10), "")
	if err := s.Store.Ack(context.Background(), claim(), store.Ack{Kind: store.AckDead, Cause: "cause"}); err != nil {
		s.Fatal(err)
	}
	s.same("stranded when the job is dead", s.stranded(10), "default/t")
}

func testStoreStrandedOtherRuns(s *storeTest) {
	// The job of an earlier run does not move the thread's present run.
	key := thread("t")
	s.write(key, func(tx store.Tx) error { return fill(tx, key, "before") })
	s.same("stranded with a job", s.stranded(10), "")
	s.write(key, func(tx store.Tx) error {
		r, err := store.FindRun(tx, "before")
		r.State = wire.Completed
		return errors.Join(err, tx.Write(store.Changes{Runs: []store.RunRow{r}}), putQueued(tx, "now"))
	})
	s.same("stranded with an older run's job", s.stranded(10), "default/t")
}

// testStoreStrandedOrder checks the order and the bounds of a list of stranded threads.
func testStoreStrandedOrder(s *storeTest) {
	var at []time.Time
	for _, key := range []spool.ThreadKey{thread("c"), {Tenant: "other", ID: "a"}, thread("b"), thread("d")} {
		at = append(at, s.clock.Now())
		s.queued(key, spool.RunID("r-"+key.ID))
		s.clock.Advance(time.Second)
	}
	for name, c := range map[string]struct {
		q    wire.ThreadQuery
		want string
	}{
		"all":         {wire.ThreadQuery{}, "default/c other/a default/b default/d"},
		"two":         {wire.ThreadQuery{Limit: 2}, "default/c other/a"},
		"of a tenant": {wire.ThreadQuery{Tenant: spool.DefaultTenant, Limit: 2}, "default/c default/b"},
		"before":      {wire.ThreadQuery{UpdatedBefore: at[2]}, "default/c other/a"},
		"what does not apply": {
			wire.ThreadQuery{Title: "x", State: wire.Failed, Owner: "x", UpdatedAfter: at[3], Limit: 1}, "default/c",
		},
	} {
		c.q.Work = wire.ThreadsStranded
		list, err := s.Store.Threads(context.Background(), c.q)
		s.ok("list stranded threads", err)
		s.same(name, compare.Spaced(list, threadName), c.want)
	}
	list, err := s.Store.Threads(context.Background(), wire.ThreadQuery{Work: wire.ThreadsStranded, Limit: 1})
	s.ok("list stranded threads", err)
	s.same("the row", list, []wire.Thread{s.all(thread("c"), "").Thread})
}

func testStoreIdle(s *storeTest) {
	other := spool.ThreadKey{Tenant: "other", ID: "theirs"}
	for _, t := range []wire.Thread{
		{ID: "idle", State: wire.Idle},
		{ID: "done", State: wire.Completed},
		{ID: "with-job", State: wire.Completed},
		{ID: "leased", State: wire.Failed, LeaseUntil: s.clock.Now().Add(time.Hour)},
		{ID: "queued", State: wire.Queued},
		{ID: "running", State: wire.Running},
		{ID: "waiting", State: wire.WaitingForInput},
		{ID: "stopped", State: wire.Cancelled},
	} {
		s.write(thread(t.ID), func(tx store.Tx) error {
			if t.ID == "done" { // an event does not keep the thread from being idle
				return tx.Write(store.Changes{Thread: &t, Jobs: []wire.Job{event("event")}})
			}
			if t.ID != "with-job" {
				return tx.Write(store.Changes{Thread: &t})
			}
			return tx.Write(store.Changes{
				Thread: &t,
				Jobs:   []wire.Job{{RunID: "r", Key: "k", DueAt: s.clock.Now().Add(time.Hour)}},
			})
		})
		s.clock.Advance(time.Second)
	}
	s.write(other, func(tx store.Tx) error { return tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Failed}}) })
	s.clock.Advance(time.Second)

	now := s.clock.Now()
	s.same("all", s.idle(wire.ThreadQuery{UpdatedBefore: now}), "default/idle default/done default/stopped other/theirs")
	s.same("two", s.idle(wire.ThreadQuery{UpdatedBefore: now, Limit: 2}), "default/idle default/done")
	s.same("of a tenant", s.idle(wire.ThreadQuery{UpdatedBefore: now, Tenant: "other"}), "other/theirs")
	s.same("of a tenant, one", s.idle(wire.ThreadQuery{UpdatedBefore: now, Tenant: spool.DefaultTenant, Limit: 1}),
		"default/idle")
	s.same("of nobody", s.idle(wire.ThreadQuery{UpdatedBefore: now, Tenant: "nobody"}), "")
	first := s.all(thread("idle"), "").Thread.UpdatedAt
	s.same("before the first", s.idle(wire.ThreadQuery{UpdatedBefore: first}), "")
	s.same("before, by less than a store keeps", s.idle(wire.ThreadQuery{UpdatedBefore: first.Add(time.Nanosecond)}),
		"default/idle")

	// A changed thread is not idle, and a lease ends when it lapses.
	s.write(thread("idle"), func(tx store.Tx) error {
		return tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle, Title: "news"}})
	})
	s.clock.Advance(2 * time.Hour)
	s.same("later", s.idle(wire.ThreadQuery{UpdatedBefore: now}),
		"default/done default/leased default/stopped other/theirs")
	s.ackAll()
	s.same("without a job", s.idle(wire.ThreadQuery{UpdatedBefore: now, Limit: 2}), "default/done default/with-job")
}

func (s *storeTest) idle(q wire.ThreadQuery) string {
	s.Helper()
	q.Work = wire.ThreadsIdle
	list, err := s.Store.Threads(context.Background(), q)
	if err != nil {
		s.Fatalf("list idle threads: %v", err)
	}
	return compare.Spaced(list, threadName)
}

// ackAll acknowledges all jobs that are due.
func (s *storeTest) ackAll() {
	s.Helper()
	taken, _, err := s.Store.Claim(context.Background(), store.ClaimQuery{Limit: 100, Lease: time.Minute})
	if err != nil {
		s.Fatal(err)
	}
	for _, d := range taken {
		if err := s.Store.Ack(context.Background(), d, store.Ack{Kind: store.AckDone}); err != nil {
			s.Fatal(err)
		}
	}
}
