package postgres

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Update implements [store.Store].
func (db *DB) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(tx store.Tx) error) (err error) {
	if err := canceled(ctx); err != nil {
		return err
	}
	s := db.newSession()
	var unlock func()
	if err := s.within(ctx, func(ctx context.Context) (err error) {
		unlock, err = db.threads.lock(ctx, key)
		return err
	}); err != nil {
		return err
	}
	defer unlock()
	for range attempts {
		var again bool
		if again, err = db.update(ctx, s, key, fence, fn); !again || ctx.Err() != nil {
			break
		}
		s = db.newSession()
	}
	return err
}

// update runs one transaction. Again says that it collided with another one, and that the same may succeed now.
func (db *DB) update(
	ctx context.Context, s *session, key spool.ThreadKey, fence int64, fn func(tx store.Tx) error,
) (again bool, err error) {
	defer func() {
		s.end(ctx)
		if db.observe != nil {
			db.observe(s.trips)
		}
	}()
	t := newTx(ctx, db, s, key)
	t.pending = append(db.begin(lockedMode), t.lock(), t.head())
	if err := t.call(fence, fn); err != nil {
		return collided(t.failed), err
	}
	db.live.tellOf(t.tickets) // while the disk is waited for
	// A caller that gives up during the commit would not know whether it happens.
	t.ctx = context.WithoutCancel(ctx)
	err = t.finish(statement{sql: "COMMIT"})
	return collided(err), uncertain(err)
}

// tx is a transaction that holds the thread's lock. Its changes wait in pending.
type tx struct {
	view

	dirty  dirt
	runs   runCache
	counts counts             // the changes of the tally
	audit  []*wire.AuditEntry // they are written at the end
	// tickets are those that the transaction adds and that are due at once.
	tickets []wire.Job
}

var _ store.Tx = (*tx)(nil)

func newTx(ctx context.Context, db *DB, l link, key spool.ThreadKey) *tx {
	return &tx{view: view{ctx: ctx, db: db, link: l, key: key}}
}

// lock takes the thread's lock. A transaction without a thread needs none.
func (t *tx) lock() statement {
	if t.key.ID == "" {
		return statement{sql: "SELECT"}
	}
	return statement{
		sql:  "SELECT pg_advisory_xact_lock(?)",
		args: []any{lockNumber("thread", t.db.dialect.schema, string(t.key.Tenant), string(t.key.ID))},
	}
}

// call checks the fence and runs fn. The first statements travel with the first read of fn, or with the fence's. The
// first one after the lock is held reads the time and the thread, because a statement sees what was committed before
// it.
func (t *tx) call(fence int64, fn func(tx store.Tx) error) error {
	if t.key.ID != "" {
		t.pending = append(t.pending, t.owningRun())
	}
	if fence > 0 {
		if err := t.begin(); err != nil {
			return err
		}
		if !t.row.exists || t.row.Fence != fence {
			return store.ErrFenced
		}
	}
	if err := fn(t); err != nil {
		return err
	}
	return t.failed
}

// finish sends what is left of the changes, and the last statement with them. A later use of the tx panics.
func (t *tx) finish(last ...statement) error {
	t.writeThread()
	t.writeTally()
	t.writeAudit()
	err := t.read(last...)
	t.link = nil
	return err
}

// write adds a writing statement to the pending ones.
func (t *tx) write(sql string, args ...any) {
	t.pending = append(t.pending, statement{sql: sql, args: args})
}

// writeOne does the same for a statement that must change a row. Else the transaction fails with the error.
func (t *tx) writeOne(missing error, sql string, args ...any) {
	t.pending = append(t.pending, statement{sql: sql, args: args, must: missing})
}

// Write implements [store.Tx].
func (t *tx) Write(c store.Changes) error {
	if err := t.begin(); err != nil {
		return err
	}
	err := t.change(&c)
	if err != nil && t.failed == nil { // nothing is committed after an error of a change
		t.failed = err
	}
	return err
}

// change makes changes in the order of the fields.
func (t *tx) change(c *store.Changes) error {
	if c.Thread != nil {
		t.putThread(*c.Thread)
	}
	if c.DeleteThread {
		t.deleteThread()
	}
	if !t.row.exists && needsThread(c) {
		return errNoThread
	}
	for i := range c.NewRuns {
		if err := t.insertRun(&c.NewRuns[i]); err != nil {
			return err
		}
	}
	for i := range c.Runs {
		if err := t.updateRun(&c.Runs[i]); err != nil {
			return err
		}
	}
	if err := t.changeMessages(c); err != nil {
		return err
	}
	t.addEntries(c.Entries)
	for i := range c.Parks {
		if err := t.putPark(&c.Parks[i]); err != nil {
			return err
		}
	}
	for i := range c.Effects {
		t.putEffect(&c.Effects[i])
	}
	for i := range c.Usage {
		t.addUsage(&c.Usage[i])
	}
	if c.Delta != nil {
		if err := t.addDelta(c.Delta); err != nil {
			return err
		}
	}
	if err := writeJobs(t, c); err != nil {
		return err
	}
	t.addAudit(c.Audit)
	t.writeRows(c.Rows)
	return nil
}

// changeMessages moves and adds messages.
func (t *tx) changeMessages(c *store.Changes) error {
	if c.Drop != nil {
		t.dropMessages(c.Drop)
	}
	if c.Restore != 0 {
		if err := t.restoreBranch(c.Restore); err != nil {
			return err
		}
	}
	return t.addMessages(c.Messages)
}

// needsThread reports whether changes belong to a thread that must exist.
func needsThread(c *store.Changes) bool {
	return len(c.NewRuns) > 0 || len(c.Runs) > 0 || c.Drop != nil || c.Restore != 0 || len(c.Messages) > 0 ||
		len(c.Entries) > 0 || len(c.Parks) > 0 || len(c.Effects) > 0 || len(c.Usage) > 0 || c.Delta != nil
}
