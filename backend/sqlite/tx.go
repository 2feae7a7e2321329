package sqlite

import (
	"context"
	"time"

	"github.com/spoolhq/spool"
)

// Update implements [spool.Store]. The function runs on the writer's goroutine.
func (db *DB) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(tx spool.Tx) error) error {
	return db.writer.do(ctx, key, fence, func(t *tx) error { return fn(t) })
}

// View implements [spool.Store].
func (db *DB) View(ctx context.Context, key spool.ThreadKey, fn func(v spool.View) error) error {
	return db.pool.snapshot(ctx, func(c *conn) error {
		return fn(&view{ctx: ctx, c: c, key: key, now: now(db.clock)})
	})
}

// view reads one thread. Its methods are with their subjects: thread, run, message,
// entry, park, usage.
type view struct {
	ctx context.Context //nolint:containedctx // a view lives within one call; nil: cannot be canceled
	c   *conn
	key spool.ThreadKey
	now time.Time
}

// Now implements [spool.View].
func (v *view) Now() time.Time { return v.now }

// query runs a statement on behalf of the view. The first two arguments are the
// thread's key.
func (v *view) query(query string, scan func(r *row) error, args ...any) error {
	if v.ctx != nil {
		if err := canceled(v.ctx); err != nil {
			return err
		}
	}
	return v.c.query(query, scan, args...)
}

// tx is one op's share of the writer's transaction.
type tx struct {
	view

	saved   bool  // the savepoint is open
	failed  error // the first failure of the store, after which nothing is written
	deleted bool  // the thread was deleted

	// The thread's row is read once and written once, at the end: nearly every
	// transaction needs it, and several of its methods change it.
	row threadRow
}

// call checks the fence and runs the op's function.
func (t *tx) call(o *op) error {
	if o.fence > 0 {
		if err := t.load(); err != nil {
			return err
		}
		if !t.row.exists || t.row.Fence != o.fence {
			return spool.ErrFenced
		}
	}
	if err := o.fn(t); err != nil {
		return err
	}
	if t.failed != nil {
		return t.failed
	}
	return t.flush()
}

// change runs a statement that writes, and returns how many rows it has changed. The
// first one opens the savepoint: an op that only reads has none.
func (t *tx) change(query string, args ...any) (int64, error) {
	if t.failed != nil {
		return 0, t.failed
	}
	if !t.saved {
		if err := t.c.exec("SAVEPOINT op"); err != nil {
			t.failed = err
			return 0, err
		}
		t.saved = true
	}
	n, err := t.c.change(query, args...)
	// A row that a unique index refused is an answer. After anything else SQLite may have
	// rolled back everything, and a statement would be a transaction of its own.
	if err != nil && !isUnique(err) {
		t.failed = err
	}
	return n, err
}

func (t *tx) write(query string, args ...any) error {
	_, err := t.change(query, args...)
	return err
}

// end keeps or takes back what the op has written. An error says that the whole
// transaction is lost.
func (t *tx) end(keep bool) error {
	c := t.c
	t.c = nil // who still uses the tx now finds out
	if !t.saved {
		return nil
	}
	if !keep {
		if err := c.exec("ROLLBACK TO op"); err != nil {
			return err
		}
	}
	return c.exec("RELEASE op")
}
