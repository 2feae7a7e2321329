package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/spoolhq/spool"
)

// Options says how a file is opened. The zero value is a good one.
type Options struct {
	// Clock is the clock that all times are read from. Defaults to the machine's.
	Clock spool.Clock
	// Exclusive says that this process is the only one to use the file, and has Open
	// refuse it otherwise. Whoever held a lease before must then be dead, so Open ends
	// all leases: runs that were under way move on at once, and not when their leases
	// would have lapsed.
	//
	// The lock is on a file of the same name with ".lock" behind it, and ends with the
	// process, however that ends. Only exclusive opens look at it.
	//
	// Defaults to false.
	Exclusive bool
}

// DB is an open file. It is a [spool.Store] and a [spool.Queue], and safe for concurrent
// use.
type DB struct {
	path   string
	clock  spool.Clock
	lock   *os.File
	writer *writer
	pool   *pool

	closing  sync.Once
	closeErr error
}

var (
	_ spool.Store = (*DB)(nil)
	_ spool.Queue = (*DB)(nil)
)

// Open opens the file at path, and makes it and its tables if they are not there. The
// folder must exist. Only its owner may read and write a file that was made. A nil o is
// allowed.
//
// Open returns a [spool.Conflict] error when another process has the file exclusively and
// this one wants it so too, or when the tables are of a later version than this package
// knows.
func Open(path string, o *Options) (_ *DB, err error) {
	if o == nil {
		o = &Options{}
	}
	if path == "" || path == ":memory:" {
		return nil, spool.Errorf(spool.Invalid, "path must name a file")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, spool.Wrap(spool.Invalid, "path has no absolute form", err)
	}
	db := &DB{path: abs, clock: o.Clock}
	if db.clock == nil {
		db.clock = spool.SystemClock{}
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, unlock(db.lock))
		}
	}()
	if o.Exclusive {
		if db.lock, err = lock(abs); err != nil {
			return nil, err
		}
	}
	if err := create(abs); err != nil {
		return nil, err
	}
	c, err := dial(abs)
	if err != nil {
		return nil, err
	}
	if err := db.prepare(c, o.Exclusive); err != nil {
		return nil, errors.Join(err, c.close())
	}
	db.pool = newPool(abs, max(4, runtime.GOMAXPROCS(0)))
	db.writer = newWriter(c, db.clock)
	return db, nil
}

// creating is held while a file is made, and passed by every Open before it dials.
//
// The descriptor that made the file is closed at once. Closing it ends all locks that the
// process has on the file, also those of another connection, so there must be none yet.
var creating sync.Mutex

// create makes an empty file for its owner alone, unless there is one. SQLite gives the
// files beside it the same mode.
func create(path string) error {
	creating.Lock()
	defer creating.Unlock()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	switch {
	case err == nil:
		err = f.Close()
	case errors.Is(err, fs.ErrExist):
		return nil
	}
	return spool.Wrap(spool.Unavailable, "the file cannot be made", err)
}

// prepare brings the tables up to date.
func (db *DB) prepare(c *conn, exclusive bool) error {
	if err := useWAL(c); err != nil {
		return err
	}
	if err := migrate(c, db.path); err != nil {
		return err
	}
	if !exclusive {
		return nil
	}
	return endLeases(c, now(db.clock))
}

// useWAL sets the journal mode, which stays with the file. The first time it needs the
// file for itself, and other connections that open it too are not waited for by SQLite.
func useWAL(c *conn) error {
	const tries = 100
	for n := 0; ; n++ {
		var mode string
		err := c.query("PRAGMA journal_mode = WAL", func(r *row) error {
			mode = r.text()
			return nil
		})
		switch {
		case err == nil && mode == "wal":
			return nil
		case err == nil:
			return spool.Errorf(spool.Invalid, "the file system does not allow the WAL journal mode")
		case n == tries:
			return err
		}
		<-time.After(20 * time.Millisecond)
	}
}

// endLeases makes all threads and jobs free at once.
func endLeases(c *conn, at time.Time) error {
	if err := c.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := c.exec("UPDATE thread SET lease_until = 0 WHERE lease_until <> 0")
	if err == nil {
		err = c.exec("UPDATE job SET due_at = ?, claimed = 0, token = token + 1 WHERE claimed = 1", at)
	}
	if err == nil {
		err = c.exec("COMMIT")
	}
	if err != nil {
		return errors.Join(fmt.Errorf("end leases: %w", err), c.exec("ROLLBACK"))
	}
	return nil
}

// Backend returns the file's ports. Run streams and the bus are left to the engine.
func (db *DB) Backend() spool.Backend { return spool.Backend{Store: db, Queue: db} }

// Close waits for the writes under way, refuses those that wait, and closes the file.
func (db *DB) Close() error {
	db.closing.Do(func() {
		err := db.writer.close()
		db.closeErr = errors.Join(err, db.pool.close(), unlock(db.lock))
	})
	return db.closeErr
}

// now reads the clock as precisely as times are stored.
func now(clock spool.Clock) time.Time { return clock.Now().UTC().Truncate(time.Microsecond) }

// canceled returns the error for a ctx that has ended, nil for another.
func canceled(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return &spool.Error{Code: spool.Canceled, Message: "canceled", Err: ctx.Err()}
}
