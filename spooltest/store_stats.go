package spooltest

import (
	"context"
	"time"

	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// testStoreStats asks for each part, and for all parts at once. A part that nobody asks for must be zero.
func testStoreStats(s *storeTest) {
	key := thread("t")
	s.write(key, func(tx store.Tx) error { return fill(tx, key, "r") })
	stats := func(q wire.StatsQuery) wire.Stats {
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
	tally := wire.Tally{Threads: 1, Runs: map[wire.State]int64{wire.Queued: 1}}
	queue := wire.QueueStats{Ready: 1}
	waiting := []wire.WaitingTenant{{Tenant: key.Tenant, DueAt: s.clock.Now()}}
	tenant := key.Tenant
	for name, c := range map[string]struct {
		q    wire.StatsQuery
		want wire.Stats
	}{
		"nothing":           {wire.StatsQuery{Tenant: tenant}, wire.Stats{}},
		"the tally":         {wire.StatsQuery{Tenant: tenant, Tally: true}, wire.Stats{Tally: tally}},
		"the queue":         {wire.StatsQuery{Tenant: tenant, Queue: true}, wire.Stats{Queue: queue}},
		"the queue of all":  {wire.StatsQuery{Queue: true}, wire.Stats{Queue: queue}},
		"who waits":         {wire.StatsQuery{Waiting: true}, wire.Stats{Waiting: waiting}},
		"who waits for one": {wire.StatsQuery{Tenant: "other", Waiting: true}, wire.Stats{Waiting: waiting}},
		"the storage":       {wire.StatsQuery{Storage: true}, wire.Stats{}},
		"everything": {
			wire.StatsQuery{Tenant: tenant, Tally: true, Queue: true, Waiting: true, Storage: true},
			wire.Stats{Tally: tally, Queue: queue, Waiting: waiting, Subjects: []wire.WaitingSubject{{}}},
		},
	} {
		s.same(name, stats(c.q), c.want)
	}
	s.same("the queue of another tenant", stats(wire.StatsQuery{Tenant: "other", Queue: true}).Queue, wire.QueueStats{})
}

// testStorePruneKinds checks that each kind of pruning leaves the other kinds of data alone.
func testStorePruneKinds(s *storeTest) {
	key := thread("t")
	s.write(key, func(tx store.Tx) error {
		return tx.Write(store.Changes{
			Thread: &wire.Thread{State: wire.Idle},
			Dead:   []wire.QueuedJob{{Job: wire.Job{RunID: "r"}, Attempts: 1, Cause: "cause"}},
			Audit:  []*wire.AuditEntry{{Action: wire.AuditStop}},
			Rows:   []store.Row{{Kind: "k", Key: "a", Value: []byte(`1`), ExpiresAt: tx.Now().Add(time.Second)}},
		})
	})
	s.clock.Advance(time.Minute)
	for _, want := range []int{1, 0} {
		for _, kind := range []store.PruneKind{store.PruneAudit, store.PruneDead, store.PruneRows} {
			n, err := s.Store.Prune(context.Background(),
				store.PruneQuery{Kind: kind, Tenant: key.Tenant, Before: s.clock.Now()})
			s.ok("prune", err)
			s.same("pruned of "+string(kind), n, want)
		}
	}
}

func testStoreCheck(s *storeTest) {
	s.ok("check", s.Store.Check(context.Background()))
}
