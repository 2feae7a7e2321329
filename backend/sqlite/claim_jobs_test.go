package sqlite

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/spoolhq/spool/store"
)

// addBacklog gives a tenant so many jobs that have been due for an hour.
func addBacklog(tb testing.TB, db *DB, tenant string, n int) {
	tb.Helper()
	err := db.queue(context.Background(), func(tx *tx) error {
		due := tx.now.Add(-time.Hour)
		return tx.write(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
			INSERT INTO job (tenant, thread_id, run_id, key, kind, agent, queue, lane, payload, model, segment, due_at, first_due, claimed, token, attempts)
			SELECT ?, 't' || i, 'r' || i, '', 'start', 'a', '', '=a', '', 'm', 1, ?, ?, 0, 0, 0 FROM n`, n, tenant, due, due)
	})
	if err != nil {
		tb.Fatal(err)
	}
}

// TestClaimBehindBacklog has one tenant wait with 100,000 jobs: another one's job, which came
// last, is in the next claim. TestPlans has the statements by which it is found.
func TestClaimBehindBacklog(t *testing.T) {
	t.Parallel()

	db, err := Open(filepath.Join(t.TempDir(), "spool.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	addBacklog(t, db, "many", 100_000)
	addBacklog(t, db, "one", 1)
	taken, _, err := db.Claim(t.Context(), store.ClaimQuery{Limit: 15, Reserved: 1, Lease: time.Minute})
	if err != nil || len(taken) != 14 || taken[0].Tenant != "many" || taken[1].Tenant != "one" {
		t.Fatalf("%d jobs were taken: %+v (%v)", len(taken), taken, err)
	}
	addBacklog(t, db, "late", 1)
	taken, _, err = db.Claim(t.Context(), store.ClaimQuery{Limit: 1, Reserved: 1, Lease: time.Minute})
	if err != nil || len(taken) != 1 || taken[0].Tenant != "late" {
		t.Errorf("%d jobs were taken: %+v (%v)", len(taken), taken, err)
	}
}

// BenchmarkClaim takes a job and gives it back, after a backlog.
func BenchmarkClaim(b *testing.B) {
	for name, tenants := range map[string][]string{"one": {"a"}, "three": {"a", "b", "c"}} {
		b.Run(name, func(b *testing.B) {
			db, err := Open(filepath.Join(b.TempDir(), "spool.db"), nil)
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			for _, tenant := range tenants {
				addBacklog(b, db, tenant, 100_000)
			}
			for b.Loop() {
				taken, _, err := db.Claim(b.Context(), store.ClaimQuery{Limit: 1, Lease: time.Minute})
				if err != nil || len(taken) != 1 {
					b.Fatal(len(taken), err)
				}
				if err := db.Ack(b.Context(), taken[0], store.Ack{Kind: store.AckRelease, Refund: true}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
