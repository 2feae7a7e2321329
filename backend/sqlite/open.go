package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// Options says how a file is opened. The zero value works.
type Options struct {
	// Clock is the source of all times. Defaults to the machine's clock.
	Clock store.Clock
	// Exclusive says that this process is the only one to use the file. Open refuses the file if
	// another process has it exclusively. Since every earlier holder of a lease must be dead, Open ends
	// all leases: unfinished runs continue at once, and not only when their leases would have lapsed.
	//
	// The lock is on a file with the suffix ".lock", and ends with the process, however the process
	// ends. Only exclusive opens use the lock.
	//
	// Only with Exclusive, Open notices a log (WAL) that was lost or damaged, and a file that was
	// copied without its log. For this it keeps a sidecar, a file with the suffix ".state".
	//
	// Defaults to false.
	Exclusive bool
	// AcceptLoss opens a database with the data that is left, even if its log is missing, damaged or
	// another database's, or if the database is not the one that was there before. A log that does not
	// fit is renamed to end in ".lost". Defaults to false.
	AcceptLoss bool
	// Log gets warnings: about an accepted loss, and about a log that cannot be emptied. Defaults to
	// none.
	Log *slog.Logger
}

// DB is an open file. It is a [store.Store].
type DB struct {
	path   string
	clock  store.Clock
	lock   *os.File
	guard  *guard // nil for a file that other processes use too
	writer *writer
	pool   *pool
	// starts has the read connections for starts and claims, which must not wait for the views of
	// hundreds of reconnecting clients.
	starts *pool

	closing  sync.Once
	closeErr error
}

var _ store.Store = (*DB)(nil)

// Open opens the file at path, and creates it and its tables if they do not exist. The folder must
// exist. Only the file's owner may read and write a new file. A nil o is allowed.
//
// Open returns a [spool.Conflict] error in these cases: both this process and another one want the file
// exclusively; the tables are of a later version than this package knows, or from before the first
// schema that it opens; the file is another program's; or the log or the file itself was lost, and
// AcceptLoss is false. Open returns a [spool.Invalid] error if the file is a symbolic link.
func Open(path string, o *Options) (*DB, error) { return open(path, o, nil) }

// open does the work of Open. Tests pass a function that it calls after each step that changes a file.
func open(path string, o *Options, after func(step string)) (_ *DB, err error) {
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
	if err := refuseLinks(abs); err != nil {
		return nil, err
	}
	db := &DB{path: abs, clock: o.Clock}
	if db.clock == nil {
		db.clock = store.SystemClock{}
	}
	log := o.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
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
	e, err := examine(abs, o, log)
	if err != nil {
		return nil, err
	}
	if err := create(abs); err != nil {
		return nil, err
	}
	c, err := dial(abs)
	if err != nil {
		return nil, notDatabase(err, abs)
	}
	all, err := loadMigrations()
	if err == nil {
		err = checkOpens(c, all, abs)
	}
	if err != nil && e.wal.size > 0 { // left by a process that was killed
		err = errors.Join(err, keepLog(c))
	}
	if o.Exclusive {
		db.guard = newGuard(abs, e, after)
	} else if err == nil {
		err = markShared(abs, e)
	}
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	if err := db.prepare(c, all); err != nil {
		return nil, errors.Join(err, db.closeWriter(c, false))
	}
	if err := c.raw.GatherLog(); err != nil {
		return nil, errors.Join(unavailable(err), db.closeWriter(c, false))
	}
	rules, err := readRules(c)
	if err == nil {
		err = rules.guard(c)
	}
	if err != nil {
		return nil, errors.Join(err, db.closeWriter(c, false))
	}
	db.pool = newPool(abs, max(4, runtime.GOMAXPROCS(0)), rules)
	db.starts = newPool(abs, startReads, rules)
	db.writer = newWriter(c, db.clock, newKeeper(db.guard, log))
	return db, nil
}

// refuseLinks refuses files that are symbolic links. With a link, a user that may write to the folder
// could have the database created or read elsewhere.
func refuseLinks(path string) error {
	for _, suffix := range []string{"", walSuffix, "-shm", "-journal", ".lock", sidecarSuffix, sidecarSuffix + ".new"} {
		info, err := os.Lstat(path + suffix)
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return spool.Errorf(spool.Invalid,
				"%s is a symbolic link, and a database must be a file itself: name the file that it leads to", path+suffix)
		}
	}
	return nil
}

// examine refuses a database that has lost data, unless the options accept that.
func examine(path string, o *Options, log *slog.Logger) (*evidence, error) {
	e, refusal := gather(path, o.Exclusive)
	if refusal == nil {
		refusal = e.refusal()
	}
	if refusal == nil {
		return &e, nil
	}
	if !o.AcceptLoss || spool.CodeOf(refusal) != spool.Conflict {
		return nil, refusal
	}
	lost, err := e.setAside()
	if err != nil {
		return nil, err
	}
	log.Warn("the database is opened with what is left of it", "problem", spool.MessageOf(refusal), "log", lost)
	e, err = gather(path, o.Exclusive)
	return &e, err
}

// startReads is the number of connections that read for starts and claims.
const startReads = 2

// creating is held while a file is created. Every Open takes it before it dials.
//
// The descriptor that created the file is closed at once. Closing it releases all locks that the
// process has on the file, also those of another connection, so no connection may have a lock yet.
var creating sync.Mutex

// create creates an empty file that only its owner may use, unless the file exists. SQLite gives the
// same mode to the files that belong to it.
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

// checkOpens refuses a file that is not ours, or whose schema this program does not know. It changes nothing.
func checkOpens(c *conn, all []migration, file string) error {
	if err := checkOwner(c, file); err != nil {
		return err
	}
	return checkKnown(c, all, file)
}

// prepare brings the tables up to date.
func (db *DB) prepare(c *conn, all []migration) error {
	if db.guard != nil {
		if err := db.guard.opening(); err != nil {
			return err
		}
	}
	if err := useWAL(c); err != nil {
		return err
	}
	if err := migrate(c, all); err != nil {
		return err
	}
	if db.guard == nil {
		return nil
	}
	if err := db.guard.begin(c); err != nil {
		return err
	}
	return endLeases(c, now(db.clock))
}

// useWAL sets the journal mode, which is stored in the file. The first time, SQLite needs the file for
// itself, and does not wait for other connections that open it at the same time.
func useWAL(c *conn) error {
	const tries = 100
	for n := 0; ; n++ {
		var mode string
		err := c.query("PRAGMA journal_mode = WAL", func(r *row) error {
			mode = r.Text()
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

// endLeases ends the leases of all threads and jobs.
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

// Backend returns the file as a backend without run streams and wake-ups. Several processes may share it,
// unless it is open exclusively.
func (db *DB) Backend() store.Backend {
	return store.Backend{Store: db, Shared: db.guard == nil, HostTx: db.hostTx()}
}

// Close waits for the writes in progress, refuses the waiting ones, and closes the file.
func (db *DB) Close() error {
	db.closing.Do(func() {
		db.writer.stop()
		db.closeErr = errors.Join(db.pool.close(), db.starts.close(), db.closeWriter(db.writer.c, true), unlock(db.lock))
	})
	return db.closeErr
}

// closeWriter closes the connection that writes. Whole is false if the connection could not be used.
func (db *DB) closeWriter(c *conn, whole bool) error {
	switch {
	case db.guard == nil:
		return c.close()
	case whole:
		return db.guard.finish(c)
	default:
		return db.guard.abandon(c)
	}
}

// now returns the clock's time with the precision of stored times.
func now(clock store.Clock) time.Time { return clock.Now().UTC().Truncate(time.Microsecond) }

// canceled returns an error if ctx has ended.
func canceled(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return &spool.Error{Code: spool.Canceled, Message: "canceled", Err: ctx.Err()}
}
