package spooltest

import (
	"context"
	"time"

	"github.com/spoolhq/spool"
)

// testStoreStats asks for each part, and for all parts at once. A part that nobody asks for must be zero.
func testStoreStats(s *storeTest) {
	key := thread("t")
	s.write(key, func(tx spool.Tx) error { return fill(tx, key, "r") })
	stats := func(q spool.StatsQuery) spool.Stats {
		s.Helper()
		got, err := s.Store.Stats(context.Background(), q)
		s.ok("stats", err)
		for _, g := range got.Storage {
			if g.Name == "" {
				s.Errorf("a gauge of %q has no name", g.Of)
			}
		}
		got.Queue.Extra, got.Storage, got.Tally.Bytes = nil, nil, 0
		return got
	}
	tally := spool.Tally{Threads: 1, Runs: map[spool.State]int64{spool.Queued: 1}}
	queue := spool.QueueStats{Ready: 1}
	waiting := []spool.WaitingTenant{{Tenant: key.Tenant, DueAt: s.clock.Now()}}
	tenant := key.Tenant
	for name, c := range map[string]struct {
		q    spool.StatsQuery
		want spool.Stats
	}{
		"nothing":           {spool.StatsQuery{Tenant: tenant}, spool.Stats{}},
		"the tally":         {spool.StatsQuery{Tenant: tenant, Tally: true}, spool.Stats{Tally: tally}},
		"the queue":         {spool.StatsQuery{Tenant: tenant, Queue: true}, spool.Stats{Queue: queue}},
		"the queue of all":  {spool.StatsQuery{Queue: true}, spool.Stats{Queue: queue}},
		"who waits":         {spool.StatsQuery{Waiting: true}, spool.Stats{Waiting: waiting}},
		"who waits for one": {spool.StatsQuery{Tenant: "other", Waiting: true}, spool.Stats{Waiting: waiting}},
		"the storage":       {spool.StatsQuery{Storage: true}, spool.Stats{}},
		"everything": {
			spool.StatsQuery{Tenant: tenant, Tally: true, Queue: true, Waiting: true, Storage: true},
			spool.Stats{Tally: tally, Queue: queue, Waiting: waiting, Subjects: []spool.WaitingSubject{{}}},
		},
	} {
		s.same(name, stats(c.q), c.want)
	}
	s.same("the queue of another tenant", stats(spool.StatsQuery{Tenant: "other", Queue: true}).Queue, spool.QueueStats{})
}

// testStorePruneKinds checks that each kind of pruning leaves the other kinds of data alone.
func testStorePruneKinds(s *storeTest) {
	key := thread("t")
	s.write(key, func(tx spool.Tx) error {
		return tx.Write(spool.Changes{
			Thread: &spool.Thread{State: spool.Idle},
			Dead:   []spool.QueuedJob{{Job: spool.Job{RunID: "r"}, Attempts: 1, Cause: "cause"}},
			Audit:  []*spool.AuditEntry{{Action: spool.AuditStop}},
			Rows:   []spool.Row{{Kind: "k", Key: "a", Value: []byte(`1`), ExpiresAt: tx.Now().Add(time.Second)}},
		})
	})
	s.clock.Advance(time.Minute)
	for _, want := range []int{1, 0} {
		for _, kind := range []spool.PruneKind{spool.PruneAudit, spool.PruneDead, spool.PruneRows} {
			n, err := s.Store.Prune(context.Background(), spool.PruneQuery{Kind: kind, Tenant: key.Tenant, Before: s.clock.Now()})
			s.ok("prune", err)
			s.same("pruned of "+string(kind), n, want)
		}
	}
}

func testStoreCheck(s *storeTest) {
	s.ok("check", s.Store.Check(context.Background()))
}
