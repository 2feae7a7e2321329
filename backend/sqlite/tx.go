package sqlite

import (
	"context"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// Update implements [store.Store]. The function runs on the writer's goroutine.
func (db *DB) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(tx store.Tx) error) error {
	return db.writer.do(ctx, key, fence, func(t *tx) error { return fn(t) })
}

// View implements [store.Store].
func (db *DB) View(ctx context.Context, key spool.ThreadKey, fn func(v store.View) error) error {
	return db.pool.snapshot(ctx, func(c *conn) error {
		return fn(&view{ctx: ctx, c: c, key: key, now: now(db.clock)})
	})
}

// view reads one thread. Its methods are in the files of their subjects: thread, run, message, entry,
// park, usage.
type view struct {
	ctx context.Context //nolint:containedctx // a view lives within one call; nil: cannot be canceled
	c   *conn
	key spool.ThreadKey
	now time.Time
}

// Now implements [store.View].
func (v *view) Now() time.Time { return v.now }

// query runs a statement for the view. The first two arguments are the thread's key.
func (v *view) query(query string, scan func(r *row) error, args ...any) error {
	if v.ctx != nil {
		if err := canceled(v.ctx); err != nil {
			return err
		}
	}
	return v.c.query(query, scan, args...)
}

// tx is the transaction of one op. The ops of a batch share one transaction of the database.
type tx struct {
	view

	careful bool  // the op has a savepoint of its own
	saved   bool  // the savepoint is open
	wrote   bool  // a statement has changed something, or may have
	failed  error // the first failure of the store; nothing is written after it
	deleted bool  // the thread was deleted

	// The thread's row is read once, and written once at the end, because nearly every transaction
	// needs it and several methods change it.
	row threadRow

	runs   []storedRun // the stored values of the runs that the transaction has read or written
	counts counts      // the op's changes of the tally
}

// call checks the fence and runs the op's function.
func (t *tx) call(o *op) error {
	if o.fence > 0 {
		if err := t.load(); err != nil {
			return err
		}
		if !t.row.exists || t.row.Fence != o.fence {
			return store.ErrFenced
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

// change runs a writing statement and returns how many rows it has changed.
func (t *tx) change(query string, args ...any) (int64, error) {
	if t.failed != nil {
		return 0, t.failed
	}
	if err := t.c.checkOpen(); err != nil { // SQLite has rolled the transaction back because a reading statement failed
		t.failed, t.wrote = err, true
		return 0, err
	}
	if t.careful && !t.saved {
		if err := t.c.exec("SAVEPOINT op"); err != nil {
			t.failed, t.wrote = err, true
			return 0, err
		}
		t.saved = true
	}
	n, err := t.c.change(query, args...)
	switch {
	case err == nil:
		t.wrote = t.wrote || n > 0
	case isUnique(err): // not a failure of the store: the statement has done nothing
	default:
		t.failed, t.wrote = err, true
	}
	return n, err
}

func (t *tx) write(query string, args ...any) error {
	_, err := t.change(query, args...)
	return err
}

// end keeps the op's writes, or rolls them back to its savepoint. An error says that the whole
// transaction is lost.
func (t *tx) end(keep bool) error {
	c := t.c
	t.c = nil // a later use of the tx then panics
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

// errLost says that SQLite has rolled the transaction of a batch back.
var errLost = &spool.Error{Code: spool.Unavailable, Message: "the store lost the transaction"}
