package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/store"
)

// View implements [store.Store]. The transaction begins with the first read.
func (db *DB) View(ctx context.Context, key spool.ThreadKey, fn func(v store.View) error) error {
	return db.viewing(ctx, func(l link) error {
		v := &view{ctx: ctx, db: db, link: l, key: key}
		v.pending = append(db.begin(snapshotMode), v.head())
		defer func() { v.link = nil }() // a later use of the view then panics
		return fn(v)
	})
}

// view reads one thread. Its other methods are in the files of their subjects.
type view struct {
	ctx  context.Context //nolint:containedctx // a view lives within one call
	db   *DB
	link link
	key  spool.ThreadKey

	// pending are the statements that travel with the next read.
	pending []statement
	// failed is the first error of the server. The transaction is lost after it.
	failed error

	// What the head of the transaction has read.
	now time.Time
	row threadRow
}

var _ store.View = (*view)(nil)

// head returns the statement that reads the time and the thread's row. In a transaction that holds the thread's
// lock, it is executed once the lock is held.
func (v *view) head() statement {
	return statement{
		sql: "SELECT " + nowExpr + ", t.id IS NOT NULL, " + form.ThreadColumns + `, t.bytes, t.bytes_summed, t.last_version
			FROM (VALUES (1)) AS one LEFT JOIN spool.thread t ON t.tenant = ? AND t.id = ?`,
		args: []any{v.db.clockArg(), v.key.Tenant, v.key.ID},
		scan: func(r *row) {
			v.now = r.Time()
			v.row.exists = r.Bool()
			v.row.stored = v.row.exists
			v.row.Thread = form.ScanThread(r)
			v.row.bytes, v.row.summed, v.row.version = r.Int64(), r.Int64(), r.Int64()
		},
	}
}

// read sends the pending statements and more in one round trip.
func (v *view) read(more ...statement) error {
	if v.failed != nil {
		return v.failed
	}
	batch := slices.Concat(v.pending, more)
	v.pending = nil
	if len(batch) == 0 {
		return nil
	}
	unread, err := splitErrors(v.link.send(v.ctx, batch))
	if err != nil {
		v.failed = err
		return err
	}
	return unread
}

// query runs one reading statement.
func (v *view) query(sql string, scan func(r *row), args ...any) error {
	return v.read(statement{sql: sql, args: args, scan: scan})
}

// begin makes sure that the head of the transaction was read.
func (v *view) begin() error {
	if v.now.IsZero() {
		return v.read()
	}
	return v.failed
}

// Now implements [store.View]. It returns the zero time if the store fails, which the next call reports.
func (v *view) Now() time.Time {
	_ = v.begin() // as above
	return v.now
}
