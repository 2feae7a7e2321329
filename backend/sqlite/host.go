package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// TransactLimit is the longest time for which the function of [DB.Transact] may hold the database.
const TransactLimit = 5 * time.Second

// Transaction is a host's transaction on the file: see [DB.Transact].
//
// Texts, numbers, blobs and times can be values. A time is stored as a text in UTC, such as
// 2026-01-02T15:04:05.000000Z, and read as a time from a column declared DATE, DATETIME or TIMESTAMP. Values
// with names are not supported. A row that a unique index or another constraint refuses is a [spool.Conflict]
// error, and the transaction goes on.
type Transaction struct {
	*sql.Tx

	session *session
}

// Transact runs fn in a transaction of the host on the file, with the host's own tables. If fn returns nil, all
// is committed and durable when Transact returns. If fn fails or panics, nothing is left of it. With [Tx], an
// engine starts runs in the same transaction.
//
// All tables, indexes, views and triggers of the host have names that begin with "app_", and Spool never uses
// such a name. The host makes them in a Transact, with CREATE TABLE IF NOT EXISTS. fn sees and changes only
// these: a statement on Spool's tables, and one that begins or ends a transaction, sets a pragma or attaches a
// file, is an [spool.Invalid] error. Foreign keys are not enforced. [Backup] copies the host's tables, [Check]
// checks that SQLite can read them, and migrations leave them alone.
//
// fn has the file's only writer: all runs wait for it with their next write. So it should be short, and wait
// for nothing outside the database. When ctx ends, or after [TransactLimit], the writer takes the database back:
// the running statement is interrupted, all is rolled back, statements and starts that follow or still run fail,
// and Transact returns a [spool.Canceled] or [spool.Unavailable] error when fn has returned. fn runs once, on the
// caller's goroutine. It must not commit or roll back itself, and not call the engine or the store except by [Tx]:
// another write waits for the end of the transaction, so a function that waits for one is rolled back after
// TransactLimit. While an update or a start runs, the transaction has no other use: a statement then, a second
// update, and a return of fn are [spool.Invalid] errors.
func (db *DB) Transact(ctx context.Context, fn func(tx *Transaction) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := &session{
		ctx: ctx, database: db.hostTx(), rules: db.pool.rules, cancel: cancel, begun: make(chan struct{}),
		ended: make(chan error, 1),
	}
	answer := make(chan error, 1)
	go func() {
		answer <- db.writer.submit(ctx, &op{fn: s.serve, alone: true, done: make(chan error, 1)})
	}()
	select {
	case <-s.begun:
	case err := <-answer:
		return err
	}
	returned := false
	defer func() {
		if !returned { // fn panics, or ends its goroutine
			s.ended <- errUnwound
			<-answer //nolint:errcheck // it is errUnwound
		}
	}()
	err := s.run(ctx, fn)
	returned = true
	s.ended <- err
	return <-answer
}

// Read runs fn over one state of the host's tables. It delays no write. The rules of [DB.Transact] hold, and fn
// can change nothing.
func (db *DB) Read(ctx context.Context, fn func(tx *sql.Tx) error) error {
	return db.pool.snapshot(ctx, func(c *conn) (err error) {
		s := &session{ctx: ctx, rules: db.pool.rules, c: c}
		defer s.close(nil, errOver)
		return s.run(ctx, func(tx *Transaction) error { return fn(tx.Tx) })
	})
}

// Tx returns a host's transaction for an engine: see [DB.Transact].
func Tx(tx *Transaction) store.HostTx { return store.NewHostTx(tx.session.database, tx.session.update) }

var (
	errTooLong = &spool.Error{
		Code: spool.Unavailable, Message: "the transaction took longer than " + TransactLimit.String() +
			" and was rolled back: its function must not wait for other work",
	}
	errUnwound = &spool.Error{Code: spool.Internal, Message: "the function did not return"}
	errEnded   = &spool.Error{
		Code: spool.Invalid, Message: "the function must not commit or roll back its transaction: return nil or an error",
	}
)

// hostTx is the [store.Backend.HostTx].
func (db *DB) hostTx() string { return "sqlite " + db.path }

// run runs fn with a transaction of database/sql over the session.
func (s *session) run(ctx context.Context, fn func(tx *Transaction) error) error {
	pool := sql.OpenDB(s)
	defer pool.Close()
	tx, err := pool.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // gives the connection back if fn panics
	if err := fn(&Transaction{Tx: tx, session: s}); err != nil {
		return err
	}
	if err := tx.Rollback(); errors.Is(err, sql.ErrTxDone) { // it only gives the connection back
		return errEnded
	}
	return nil
}

// serve lets the caller of Transact use the connection, and returns when that has ended. The writer calls it.
func (s *session) serve(t *tx) error {
	t.wrote = true // the writer then rolls back all that a failed function did
	s.t, s.c = t, t.c
	limit := time.NewTimer(TransactLimit)
	defer limit.Stop()
	close(s.begun)
	select {
	case err := <-s.ended:
		return s.close(err, errOver)
	case <-s.ctx.Done():
		err := &spool.Error{
			Code: spool.Canceled, Message: "the context of the transaction has ended, so it was rolled back", Err: s.ctx.Err(),
		}
		return s.close(err, err)
	case <-limit.C:
		s.cancel(errTooLong)
		return s.close(errTooLong, errTooLong)
	}
}

// update is the update of [store.NewHostTx].
func (s *session) update(ctx context.Context, key spool.ThreadKey, fn func(tx store.Tx) error) (err error) {
	t, err := s.beginUpdate(ctx, key)
	if err != nil {
		return err
	}
	keep := false
	defer func() { err = s.endUpdate(t, keep, err) }() // also if fn panics
	err = t.call(&op{fn: func(t *tx) error { return fn(t) }})
	keep = err == nil
	return err
}

// beginUpdate returns the transaction of an update, which has a savepoint. It has the connection only for each
// statement, so that the writer can take the connection back from a function that does not return.
func (s *session) beginUpdate(ctx context.Context, key spool.ThreadKey) (*tx, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	s.updating = true
	lent := *s.c
	lent.lender = s
	return &tx{view: view{ctx: ctx, c: &lent, key: key, now: s.t.now}, careful: true}, nil
}

// endUpdate keeps or undoes what an update has written, and returns err or why that is not possible.
func (s *session) endUpdate(t *tx, keep bool, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.updating = false
	if s.over != nil { // the writer rolls all back
		t.c = nil
		return s.over
	}
	t.c = s.c // mu is held
	if lost := t.end(keep); lost != nil {
		s.lost = lost
		return errors.Join(err, lost)
	}
	if keep {
		s.t.deleted = s.t.deleted || t.deleted
		for _, c := range t.counts {
			s.t.counts.add(c)
		}
	}
	return err
}
