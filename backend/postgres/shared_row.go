package postgres

import (
	"context"

	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/store"
)

// expiredRow is the condition of a row that is as if it did not exist. Its value is the time.
const expiredRow = "(stored.expires_at <> 0 AND stored.expires_at <= ?)"

// writeRows inserts, replaces or removes rows.
func (t *tx) writeRows(rows []store.Row) {
	for i := range rows {
		if r := &rows[i]; r.Value == nil {
			t.removeRow(r)
		} else {
			t.putRow(r)
		}
	}
}

func (t *tx) putRow(r *store.Row) {
	const set = "value = excluded.value, updated_at = excluded.updated_at, expires_at = excluded.expires_at"
	const insert = `INSERT INTO spool.shared_row AS stored (` + form.ValueColumns + `)
		VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (tenant, kind, key) DO UPDATE SET ` + set
	values := []any{t.key.Tenant, r.Kind, r.Key, r.Value, form.NewVersion(), t.now, r.ExpiresAt}
	switch r.Version {
	case store.AnyVersion:
		t.write(insert+", version = CASE WHEN "+expiredRow+" THEN excluded.version ELSE stored.version + 1 END",
			append(values, t.now)...)
	case 0:
		t.writeOne(store.ErrRowChanged, insert+", version = excluded.version WHERE "+expiredRow, append(values, t.now)...)
	default:
		t.writeOne(store.ErrRowChanged, `UPDATE spool.shared_row AS stored
			SET value = ?, version = stored.version + 1, updated_at = ?, expires_at = ?
			WHERE tenant = ? AND kind = ? AND key = ? AND version = ? AND NOT `+expiredRow,
			r.Value, t.now, r.ExpiresAt, t.key.Tenant, r.Kind, r.Key, r.Version, t.now)
	}
}

func (t *tx) removeRow(r *store.Row) {
	const remove = "DELETE FROM spool.shared_row AS stored WHERE tenant = ? AND kind = ? AND key = ?"
	args := []any{t.key.Tenant, r.Kind, r.Key}
	switch r.Version {
	case store.AnyVersion:
		t.write(remove, args...)
	case 0: // there must be none: the statement counts as a change if there is none
		t.pending = append(t.pending, statement{
			sql: `SELECT 1 / (CASE WHEN EXISTS (SELECT 1 FROM spool.shared_row AS stored
				WHERE tenant = ? AND kind = ? AND key = ? AND NOT ` + expiredRow + `) THEN 0 ELSE 1 END)`,
			args: append(args, t.now), must: store.ErrRowChanged, counted: true,
		})
	default:
		t.writeOne(store.ErrRowChanged, remove+" AND version = ? AND NOT "+expiredRow, append(args, r.Version, t.now)...)
	}
}

// Rows implements [store.Store].
func (db *DB) Rows(ctx context.Context, q store.RowQuery) ([]store.Row, error) {
	where := form.ValueConditions(q)
	query := "SELECT " + form.ValueColumns + " FROM spool.shared_row AS stored WHERE " + where.Text +
		" AND (expires_at = 0 OR expires_at > " + nowExpr + ") ORDER BY key LIMIT ?"
	rows := []store.Row{}
	err := db.read(ctx, query, eachForm(&rows, form.ScanValue), append(where.Args, db.clockArg(), bound(q.Limit))...)
	return rows, err
}
