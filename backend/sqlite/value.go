package sqlite

import (
	"context"

	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/store"
)

// expired is the condition that a row is as if it did not exist. Its value is the time.
const expired = "(keyed_value.expires_at > 0 AND keyed_value.expires_at <= ?)"

// The statements that write a row. Each changes no row if the stored version is not the expected one.
const (
	newValue = "INSERT INTO keyed_value (" + form.ValueColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (tenant, kind, key) DO UPDATE SET
			value = excluded.value, version = excluded.version, updated_at = excluded.updated_at, expires_at = excluded.expires_at
		WHERE ` + expired
	putValue = "INSERT INTO keyed_value (" + form.ValueColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (tenant, kind, key) DO UPDATE SET
			value = excluded.value, version = iif(` + expired + `, excluded.version, version + 1),
			updated_at = excluded.updated_at, expires_at = excluded.expires_at`
	changeValue = `UPDATE keyed_value SET value = ?, version = version + 1, updated_at = ?, expires_at = ?
		WHERE tenant = ? AND kind = ? AND key = ? AND version = ? AND NOT ` + expired
	removeValue = "DELETE FROM keyed_value WHERE tenant = ? AND kind = ? AND key = ? AND version = ? AND NOT " + expired
	dropValue   = "DELETE FROM keyed_value WHERE tenant = ? AND kind = ? AND key = ?"
	dropExpired = dropValue + " AND " + expired
)

// putRow inserts, replaces or removes a row of the transaction's tenant.
func (t *tx) putRow(r *store.Row) error {
	tenant := t.key.Tenant
	var n int64
	var err error
	switch {
	case r.Value == nil && r.Version == store.AnyVersion:
		return t.write(dropValue, tenant, r.Kind, r.Key)
	case r.Value == nil && r.Version == 0:
		return t.noRow(r)
	case r.Value == nil:
		n, err = t.change(removeValue, tenant, r.Kind, r.Key, r.Version, t.now)
	case r.Version == store.AnyVersion:
		n, err = t.change(putValue, tenant, r.Kind, r.Key, r.Value, form.NewVersion(), t.now, r.ExpiresAt, t.now)
	case r.Version == 0:
		n, err = t.change(newValue, tenant, r.Kind, r.Key, r.Value, form.NewVersion(), t.now, r.ExpiresAt, t.now)
	default:
		n, err = t.change(changeValue, r.Value, t.now, r.ExpiresAt, tenant, r.Kind, r.Key, r.Version, t.now)
	}
	if err == nil && n == 0 {
		err = store.ErrRowChanged
	}
	return err
}

// noRow removes a row that has expired, and returns [store.ErrRowChanged] for one that has not.
func (t *tx) noRow(r *store.Row) error {
	if err := t.write(dropExpired, t.key.Tenant, r.Kind, r.Key, t.now); err != nil {
		return err
	}
	return t.query("SELECT 1 FROM keyed_value WHERE tenant = ? AND kind = ? AND key = ?", func(*row) error {
		return store.ErrRowChanged
	}, t.key.Tenant, r.Kind, r.Key)
}

// Rows implements [store.Store].
func (db *DB) Rows(ctx context.Context, q store.RowQuery) ([]store.Row, error) {
	where := form.ValueConditions(q)
	query := "SELECT " + form.ValueColumns + " FROM keyed_value WHERE " + where.Text + " AND NOT " + expired +
		" ORDER BY key LIMIT ?"
	rows := []store.Row{}
	err := db.starts.read(ctx, func(c *conn) error {
		return c.query(query, each(&rows, form.ScanValue), append(where.Args, now(db.clock), bound(q.Limit))...)
	})
	return rows, err
}
