package sqlite

import (
	"errors"
	"io/fs"
	"os"

	"github.com/spoolhq/spool"
)

// guard keeps the sidecar of a database that this process has exclusively. One goroutine at a time uses
// it: first Open's, then the writer's, then Close's.
type guard struct {
	path  string
	state sidecar
	// after is called after each step that changes a file. Tests set it.
	after func(step string)
}

func newGuard(path string, e *evidence, after func(string)) *guard {
	g := &guard{path: path, after: after}
	if e.state != nil {
		g.state = *e.state
	}
	if g.state.Database == "" && e.main != nil {
		g.state.Database = e.main.id
	}
	return g
}

// opening records in the sidecar that the database is open. It does not change the
// sidecar of a process that has died, because such a sidecar still describes the log correctly.
func (g *guard) opening() error {
	if g.state.Open {
		return nil
	}
	g.state.Open, g.state.Log, g.state.Salt = true, false, 0
	return g.save()
}

func (g *guard) step(name string) {
	if g.after != nil {
		g.after(name)
	}
}

// save writes the sidecar. It keeps the mark of another process that shares the database.
func (g *guard) save() error {
	if s, err := readSidecar(g.path); err == nil && s != nil && s.Shared {
		g.state.Shared = true
	}
	err := g.state.write(g.path)
	g.step("sidecar")
	return err
}

// begin moves the log into the database and begins a new log. It writes the new log's salt into the
// sidecar and the database.
func (g *guard) begin(c *conn) error {
	i, err := readIdentity(c)
	if err != nil {
		return err
	}
	g.state.Database = i.id
	// A log that begins with a write has a random salt. A log that begins with a checkpoint counts its
	// salt from zero, like the logs of other databases.
	if err := g.count(c); err != nil {
		return err
	}
	if _, err := g.empty(c); err != nil {
		return err
	}
	if err := c.exec("UPDATE database_file SET wal_salt = ?", int64(g.state.Salt)); err != nil {
		return err
	}
	g.step("commit")
	_, err = checkpoint(c, "PASSIVE")
	g.step("checkpoint")
	return err
}

// empty moves the log into the database and empties it. It returns false if another connection still
// reads the log.
//
// While the log is empty, the sidecar says that the log may be missing. So empty begins the next log at
// once with a small write. From then on, a missing log is noticed.
func (g *guard) empty(c *conn) (done bool, err error) {
	if done, err = g.drain(c); err != nil {
		return false, err
	}
	if err := g.count(c); err != nil {
		return done, err
	}
	wal, err := readWAL(g.path)
	if err != nil {
		return done, err
	}
	if !wal.sound {
		return done, spool.Errorf(spool.Internal, "the log of the database has no header after a commit")
	}
	g.state.Log, g.state.Salt = true, wal.salt
	return done, g.save()
}

// count writes a small transaction. It must change a value, because SQLite writes nothing for an
// unchanged row. It also stores the salt in the database, because a copy of database and log has no
// sidecar.
func (g *guard) count(c *conn) error {
	err := c.exec("UPDATE database_file SET in_use = in_use + 1, wal_salt = ?", int64(g.state.Salt))
	g.step("commit")
	return err
}

// renew records the present salt of a log that has begun anew many times since it was emptied. This is
// needed because a process that is never idle does not empty its log, and [walFile.follows] accepts
// only a bounded number of new beginnings.
func (g *guard) renew(c *conn) error {
	wal, err := readWAL(g.path)
	if err != nil || !wal.sound || wal.salt-g.state.Salt < maxResets/4 {
		return err
	}
	g.state.Salt = wal.salt
	return errors.Join(g.save(), g.count(c))
}

// drain moves the log into the database and empties it. Afterwards the sidecar says that the log may be
// missing.
func (g *guard) drain(c *conn) (done bool, err error) {
	// The first checkpoint does not shorten the log. It leaves little work for the second one, before
	// which the sidecar has to be written.
	if _, err := checkpoint(c, "PASSIVE"); err != nil {
		return false, err
	}
	g.step("checkpoint")
	if err := g.release(); err != nil {
		return false, err
	}
	done, err = checkpoint(c, "TRUNCATE")
	g.step("truncate")
	return done, err
}

// release records in the sidecar that SQLite may delete the log.
func (g *guard) release() error {
	g.state.Log = false
	return g.save()
}

// abandon closes a connection that could not be used, or whose log could not be emptied. SQLite then
// moves the log into the database and deletes it, so the sidecar must allow that before. If the sidecar
// cannot be written, for example because the disk is full, the log stays.
func (g *guard) abandon(c *conn) error {
	if !g.state.Open {
		return c.close()
	}
	g.state.Salt = 0 // the salt of the next log, which another program may begin
	err := g.release()
	if err != nil {
		err = errors.Join(err, keepLog(c))
	}
	return errors.Join(err, c.close())
}

// keepLog prevents SQLite from deleting or shortening the log when the connection is closed.
func keepLog(c *conn) error {
	return errors.Join(unavailable(c.raw.KeepLog()), c.pragma("journal_size_limit = -1"))
}

// finish closes this process's last writing connection after the whole log was moved into the database.
func (g *guard) finish(c *conn) error {
	err := c.exec("UPDATE database_file SET in_use = 0")
	g.step("commit")
	done := false
	if err == nil {
		done, err = g.drain(c)
	}
	if err != nil || !done {
		return errors.Join(err, g.abandon(c))
	}
	if err := c.close(); err != nil {
		return err
	}
	g.step("close")
	g.state.Open = false
	// SQLite deletes the log if no other process has the database open.
	_, err = os.Stat(g.path + walSuffix)
	if alone := errors.Is(err, fs.ErrNotExist); !alone {
		return g.save()
	}
	g.state.Shared = false
	return g.saveClosed()
}

func (g *guard) saveClosed() error {
	err := g.state.write(g.path)
	g.step("sidecar")
	return err
}

// markShared marks the sidecar, if any, of a database that this process does not have exclusively.
func markShared(path string, e *evidence) error {
	if e.state == nil || e.state.Shared {
		return nil
	}
	e.state.Shared = true
	return e.state.write(path)
}

// checkpoint moves as much of the log into the database as the log's readers allow, without waiting for
// them. It reports whether it moved the whole log and, in the mode TRUNCATE, whether the log is empty.
func checkpoint(c *conn, mode string) (done bool, err error) {
	if err := c.pragma("busy_timeout = 0"); err != nil {
		return false, err
	}
	err = c.query("PRAGMA wal_checkpoint("+mode+")", func(r *row) error {
		busy, inLog, moved := r.Int(), r.Int(), r.Int()
		done = busy == 0 && inLog == moved
		return nil
	})
	return done, errors.Join(err, c.pragma(busyTimeout))
}
