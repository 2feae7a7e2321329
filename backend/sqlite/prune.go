package sqlite

import (
	"context"
	"math"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/store"
)

// Prune implements [store.Store].
func (db *DB) Prune(ctx context.Context, q store.PruneQuery) (n int, err error) {
	var query string
	var args []any
	switch q.Kind {
	case store.PruneAudit:
		query = `DELETE FROM audit WHERE (tenant, seq) IN (
			SELECT tenant, seq FROM audit INDEXED BY audit_at WHERE at < ? ORDER BY at LIMIT ?)`
		args = []any{lessThan(q.Before, 0), bound(q.Limit)}
	case store.PruneDead:
		query, args = pruneDead(q)
	case store.PruneRows:
		query = `DELETE FROM keyed_value WHERE (tenant, kind, key) IN (
			SELECT tenant, kind, key FROM keyed_value INDEXED BY keyed_value_expires
			WHERE expires_at > 0 AND expires_at <= ? AND expires_at < ? ORDER BY expires_at LIMIT ?)`
		args = []any{now(db.clock), lessThan(q.Before, math.MaxInt64), bound(q.Limit)}
	default:
		return 0, spool.Errorf(spool.Invalid, "there is nothing of the kind %q to prune", q.Kind)
	}
	err = db.queue(ctx, func(t *tx) error {
		gone, err := t.change(query, args...)
		n = int(gone)
		return err
	})
	return n, err
}

func pruneDead(q store.PruneQuery) (query string, args []any) {
	query, args = "SELECT ord FROM job_dead INDEXED BY job_dead_died WHERE tenant = ?", []any{q.Tenant, q.Tenant}
	if q.JobID != 0 {
		query = "SELECT ord FROM job_dead INDEXED BY job_dead_id WHERE tenant = ? AND id = ?"
		args = append(args, q.JobID)
	}
	query += " AND died_at < ? ORDER BY died_at, id LIMIT ?"
	return "DELETE FROM job_dead WHERE tenant = ? AND ord IN (" + query + ")",
		append(args, lessThan(q.Before, math.MaxInt64), bound(q.Limit))
}

// lessThan returns the bound with which a stored time is compared by less-than, and another one for the zero
// time.
func lessThan(before time.Time, always int64) int64 {
	if before.IsZero() {
		return always
	}
	return form.Micros(form.RoundedUp(before))
}
