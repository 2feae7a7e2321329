package postgres

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/testing/pgtest"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/store"
)

// tables is a database that has the tables.
var tables = &pgtest.Template{Prepare: func(ctx context.Context, url string) error {
	db, err := Open(ctx, url, nil)
	if err != nil {
		return err
	}
	return db.Close()
}}

func opened(t *testing.T, url string, o *Options) *DB {
	t.Helper()
	db, err := Open(t.Context(), url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// enqueue adds n due jobs of a tenant and an agent.
func enqueue(t *testing.T, db *DB, tenant spool.Tenant, agent string, n int) {
	t.Helper()
	err := db.run(testwait.Context(t, "jobs"), statement{
		sql: `INSERT INTO spool.job (` + jobColumns + `, id, due_at, first_due)
			SELECT ?, 't', 'r' || n, n || ?, 'start', ?, '', 0, '', '', '', hashtext(?) * 100000::bigint + n, ` +
			serverNow + ` - 1000 + n, 0
			FROM generate_series(1, ?) AS g (n)`,
		args: []any{tenant, agent, agent, string(tenant) + "/" + agent, n},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestClaimTogether lets many workers of two processes claim at the same time. Each job must be claimed once, and
// a bound on the jobs of a tenant in flight must hold at every moment.
func TestClaimTogether(t *testing.T) {
	t.Parallel()
	for name, perTenant := range map[string]int{"Unbounded": 0, "PerTenant": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := pgtest.Database(t, tables)
			const tenants, each = 4, 60
			nodes := []*DB{opened(t, url, nil), opened(t, url, nil)}
			for i := range tenants {
				enqueue(t, nodes[0], spool.Tenant(fmt.Sprint("t", i)), "a", each)
			}
			c := claimers{
				t: t, ctx: testwait.Context(t, "all jobs"), q: store.ClaimQuery{Limit: 3, Lease: time.Minute, PerTenant: perTenant},
			}
			var group sync.WaitGroup
			for i := range 8 {
				group.Go(func() { c.work(nodes[i%2], tenants*each) })
			}
			group.Wait()
			if n := len(c.seen); n != tenants*each {
				t.Errorf("%d different jobs were claimed, want %d", n, tenants*each)
			}
		})
	}
}

// claimers are workers that count what they have.
type claimers struct {
	t   *testing.T
	ctx context.Context
	q   store.ClaimQuery

	done     atomic.Int64
	mu       sync.Mutex
	seen     map[int64]bool
	inFlight map[spool.Tenant]int
}

// work claims and finishes jobs until all are done.
func (c *claimers) work(db *DB, all int64) {
	for c.done.Load() < all && c.ctx.Err() == nil {
		taken, _, err := db.Claim(c.ctx, c.q)
		if err != nil {
			c.t.Errorf("claim: %v", err)
			return
		}
		for _, d := range taken {
			c.count(d, 1)
		}
		for _, d := range taken {
			c.count(d, -1)
			if err := db.Ack(c.ctx, d, store.Ack{Kind: store.AckDone}); err != nil {
				c.t.Errorf("acknowledge: %v", err)
				return
			}
			c.done.Add(1)
		}
	}
}

// count adds to the jobs in flight. What it counts is in flight at least.
func (c *claimers) count(d store.Delivery, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil {
		c.seen, c.inFlight = make(map[int64]bool), make(map[spool.Tenant]int)
	}
	if n > 0 && c.seen[d.JobID] {
		c.t.Errorf("the job %d was claimed twice", d.JobID)
	}
	c.seen[d.JobID] = true
	c.inFlight[d.Tenant] += n
	if most := c.q.PerTenant; most > 0 && c.inFlight[d.Tenant] > most {
		c.t.Errorf("%s has %d jobs in flight, want %d at most", d.Tenant, c.inFlight[d.Tenant], most)
	}
}

// TestClaimSkips lets a claim meet jobs that another one is taking: it must take the next ones, without waiting.
func TestClaimSkips(t *testing.T) {
	t.Parallel()
	db := opened(t, pgtest.Database(t, tables), nil)
	enqueue(t, db, "a", "a", 10)
	ctx := testwait.Context(t, "a claim beside another one")
	tx, err := db.pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(ctx) }()
	if _, err := tx.Exec(ctx, "SELECT FROM spool.job ORDER BY due_at LIMIT 4 FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	taken, _, err := db.Claim(ctx, store.ClaimQuery{Limit: 3, Lease: time.Minute})
	if err != nil || len(taken) != 3 || taken[0].RunID != "r5" || taken[2].RunID != "r7" {
		t.Errorf("claimed %+v (%v), want the jobs 5 to 7", taken, err)
	}
}

// TestClaimTrips counts the round trips of workers: one to find nothing, two to claim, one to acknowledge.
func TestClaimTrips(t *testing.T) {
	t.Parallel()
	db, wire := openWire(t, pgtest.Database(t, tables), &Options{})
	ctx := testwait.Context(t, "claims")
	var trips map[string]int64
	count := func(what string, call func() error) {
		t.Helper()
		before := wire.trips.Load()
		if err := call(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		trips[what] = wire.trips.Load() - before
	}
	for _, tenant := range []spool.Tenant{"a", "b"} { // the first time, statements are prepared
		trips = make(map[string]int64)
		q := store.ClaimQuery{Limit: 3, Lease: time.Minute, PerTenant: 9, Agents: []string{"a"}}
		claim := func() (taken []store.Delivery, err error) {
			taken, _, err = db.Claim(ctx, q)
			return taken, err
		}
		count("idle", func() error { _, err := claim(); return err })
		enqueue(t, db, tenant, "a", 2)
		var taken []store.Delivery
		count("claim", func() (err error) { taken, err = claim(); return err })
		count("held back", func() error { q.PerTenant = 1; _, err := claim(); return err })
		if len(taken) != 2 {
			t.Fatalf("claimed %d jobs, want 2", len(taken))
		}
		count("extend", func() error { return db.Ack(ctx, taken[0], store.Ack{Kind: store.AckExtend, After: time.Minute}) })
		count("done", func() error { return db.Ack(ctx, taken[0], store.Ack{Kind: store.AckDone}) })
		count("dead", func() error { return db.Ack(ctx, taken[1], store.Ack{Kind: store.AckDead}) })
	}
	for what, n := range trips {
		want := int64(1)
		if what == "claim" {
			want = 2
		}
		if n != want {
			t.Errorf("%s takes %d round trips, want %d", what, n, want)
		}
	}
}

// TestClaimBoundWaits lets a claim with a bound meet another one that has taken a job and is not committed, while
// the tenant gets an older job. Without waiting, it would take that one, and the tenant would have one too many.
func TestClaimBoundWaits(t *testing.T) {
	t.Parallel()
	db := opened(t, pgtest.Database(t, tables), nil)
	ctx := testwait.Context(t, "a claim behind another one")
	q := store.ClaimQuery{Limit: 1, Lease: time.Minute, PerTenant: 1}
	enqueue(t, db, "a", "a", 1)
	var parts []*part
	if _, err := db.lookForJobs(ctx, q, &parts); err != nil {
		t.Fatal(err)
	}
	first, err := db.pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = first.Rollback(ctx) }()
	var taken []store.Delivery
	if err := (pgxLink{first, db}).send(ctx, db.claimBatch(q, parts, 1, &taken)); err != nil || len(taken) != 1 {
		t.Fatalf("claimed %d jobs (%v), want one", len(taken), err)
	}
	enqueue(t, db, "a", "older", 1)
	if err := db.run(ctx, statement{sql: "UPDATE spool.job SET due_at = 1 WHERE agent = 'older'"}); err != nil {
		t.Fatal(err)
	}

	second := make(chan int, 1)
	go func() {
		more, _, err := db.Claim(ctx, q)
		if err != nil {
			t.Errorf("claim: %v", err)
		}
		second <- len(more)
	}()
	for waits := false; !waits && len(second) == 0; {
		if err := db.read(
			ctx, "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted)",
			func(r *row) { waits = r.Bool() },
		); err != nil {
			t.Fatal(err)
		}
	}
	if err := first.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if n := testwait.For(t, second, "the second claim"); n != 0 {
		t.Errorf("the second claim took %d jobs of a tenant that has one in flight", n)
	}
}

// TestClaimAfterRestart lets the server crash behind a claim: the claim is still valid, and no other worker gets
// the job.
func TestClaimAfterRestart(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t, pgtest.Options{})
	db := opened(t, server.Database(t, tables), nil)
	ctx := testwait.Context(t, "the jobs")
	enqueue(t, db, "a", "a", 2)
	q := store.ClaimQuery{Limit: 9, Lease: time.Minute}
	taken, _, err := db.Claim(ctx, q)
	if err != nil || len(taken) != 2 {
		t.Fatalf("claimed %d jobs (%v), want 2", len(taken), err)
	}
	server.Restart(t)
	again, next, err := db.Claim(ctx, q)
	if err != nil || len(again) != 0 || next.IsZero() {
		t.Errorf("claimed %d jobs (%v), want none until the leases lapse", len(again), err)
	}
	if err := db.Ack(ctx, taken[0], store.Ack{Kind: store.AckDone}); err != nil {
		t.Errorf("acknowledge: %v", err)
	}
}
