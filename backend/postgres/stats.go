package postgres

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Stats implements [store.Store]. One transaction reads all sums.
func (db *DB) Stats(ctx context.Context, q wire.StatsQuery) (wire.Stats, error) {
	var stats wire.Stats
	batch := db.begin(snapshotMode)
	if q.Tally {
		batch = append(batch, tallyOf(q.Tenant, &stats.Tally))
	}
	batch = append(batch, db.statsOfQueue(q, &stats)...)
	if q.Storage {
		batch = append(append(batch, db.gauges(&stats.Storage)...), streamPartitions(&stats.Storage))
	}
	batch = append(batch, statement{sql: "COMMIT"})
	err := db.viewing(ctx, func(l link) error { return l.send(ctx, batch) })
	if err != nil {
		return wire.Stats{}, err
	}
	if q.Storage {
		used := db.pool.Stat()
		stats.Storage = append(stats.Storage,
			wire.Gauge{Name: "connections", Value: float64(used.TotalConns())},
			wire.Gauge{Name: "connections_in_use", Value: float64(used.AcquiredConns())})
	}
	return stats, nil
}

// gauges returns the statements that read what the server measures: rows that a vacuum has to remove, and how long
// the oldest transaction of the database has been open, because it keeps such rows. A user without the role
// pg_read_all_stats sees only its own transactions.
func (db *DB) gauges(gauges *[]wire.Gauge) []statement {
	scan := each(gauges, func(r *row) wire.Gauge {
		return wire.Gauge{Name: r.Text(), Of: r.Text(), Value: float64(r.Int64()) / 1000}
	})
	return []statement{
		{
			sql: `SELECT 'dead_tuples', relname::text, n_dead_tup * 1000 FROM pg_stat_user_tables
				WHERE schemaname = ? AND relname NOT LIKE 'stream_item_%' ORDER BY relname`,
			args: []any{db.dialect.schema}, scan: scan,
		},
		{
			sql: `SELECT 'oldest_transaction_seconds', '',
					coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)) * 1000, 0)::bigint
				FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
			scan: scan,
		},
	}
}

// Prune implements [store.Store].
func (db *DB) Prune(ctx context.Context, q store.PruneQuery) (int, error) {
	switch q.Kind {
	case store.PruneAudit:
		return db.pruneAudit(ctx, q)
	case store.PruneRows:
		return db.pruneRows(ctx, q)
	case store.PruneDead:
		return db.pruneDead(ctx, q)
	default:
		return 0, spool.Errorf(spool.Invalid, "kind: there is nothing of the kind %q to prune", q.Kind)
	}
}

// pruneAudit skips rows that another process prunes at the same time.
func (db *DB) pruneAudit(ctx context.Context, q store.PruneQuery) (int, error) {
	if q.Before.IsZero() {
		return 0, nil
	}
	return db.remove(ctx, `WITH old AS MATERIALIZED (
			SELECT tenant, seq FROM spool.audit WHERE at < ? ORDER BY at, tenant, seq LIMIT ? FOR UPDATE SKIP LOCKED
		) DELETE FROM spool.audit AS a USING old WHERE a.tenant = old.tenant AND a.seq = old.seq`,
		form.RoundedUp(q.Before), bound(q.Limit))
}

func (db *DB) pruneRows(ctx context.Context, q store.PruneQuery) (int, error) {
	expired := "expires_at <> 0 AND expires_at <= " + nowExpr
	args := []any{db.clockArg()}
	if !q.Before.IsZero() {
		expired += " AND expires_at < ?"
		args = append(args, form.RoundedUp(q.Before))
	}
	return db.remove(ctx, `WITH old AS MATERIALIZED (
			SELECT tenant, kind, key FROM spool.shared_row WHERE `+expired+` ORDER BY expires_at, tenant, kind, key LIMIT ?
			FOR UPDATE SKIP LOCKED
		) DELETE FROM spool.shared_row AS r USING old WHERE r.tenant = old.tenant AND r.kind = old.kind AND r.key = old.key`,
		append(args, bound(q.Limit))...)
}

// remove runs a deleting statement and returns how many rows it has removed.
func (db *DB) remove(ctx context.Context, sql string, args ...any) (n int, err error) {
	err = db.run(ctx, statement{
		sql: "WITH gone AS (" + sql + " RETURNING 1) SELECT count(*) FROM gone", args: args,
		scan: func(r *row) { n = r.Int() },
	})
	return n, err
}
