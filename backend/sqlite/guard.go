package sqlite

import (
	"errors"
	"io/fs"
	"os"

	"github.com/spoolhq/spool"
)

// guard keeps the sidecar of a database that this process has for itself. It is used by one
// goroutine at a time: by Open, then by the writer's, then by Close.
type guard struct {
	path  string
	state sidecar
	// after is called behind each step that changes a file. Tests set it.
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

// opening notes in the sidecar that the database is open. It does not change the sidecar of a
// process that has died, which is still right about the log.
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

// save writes the sidecar. Another process may have marked it as shared meanwhile.
func (g *guard) save() error {
	if s, err := readSidecar(g.path); err == nil && s != nil && s.Shared {
		g.state.Shared = true
	}
	err := g.state.write(g.path)
	g.step("sidecar")
	return err
}

// begin moves the log into the file and begins a new one, whose salt it writes into the
// sidecar and the file.
func (g *guard) begin(c *conn) error {
	i, err := readIdentity(c)
	if err != nil {
		return err
	}
	g.state.Database = i.id
	// A log that begins with a write has a random salt. One that begins with a checkpoint
	// counts from zero, as that of every other database would.
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

// empty moves the log into the file and empties it. It reports whether it could: another
// connection may still read from the log.
//
// While the log is empty, the sidecar says that the log may be missing. One small write begins
// the next log at once, and from then on a missing log is noticed.
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
		return done, spool.Errorf(spool.Internal, "the log of the database has no header behind a commit")
	}
	g.state.Log, g.state.Salt = true, wal.salt
	return done, g.save()
}

// count writes a small transaction. It must change something: SQLite writes nothing for a row
// that stays as it is. A copy of the two files has no sidecar, so the file knows the salt too.
func (g *guard) count(c *conn) error {
	err := c.exec("UPDATE database_file SET in_use = in_use + 1, wal_salt = ?", int64(g.state.Salt))
	g.step("commit")
	return err
}

// renew writes the salt of a log down that has begun anew many times since it was emptied.
// A process that is never idle does not empty it, and [walFile.follows] has a bound.
func (g *guard) renew(c *conn) error {
	wal, err := readWAL(g.path)
	if err != nil || !wal.sound || wal.salt-g.state.Salt < maxResets/4 {
		return err
	}
	g.state.Salt = wal.salt
	return errors.Join(g.save(), g.count(c))
}

// drain moves the log into the file and empties it, and leaves a sidecar by which there need
// be no log.
func (g *guard) drain(c *conn) (done bool, err error) {
	// The first one takes nothing away, so that little is left to the second one, before
	// which the sidecar is written.
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

// release says in the sidecar that SQLite may delete the log.
func (g *guard) release() error {
	g.state.Log = false
	return g.save()
}

// abandon closes a connection that could not be used, or not emptied of its log. SQLite
// moves the log into the file and deletes it, which the sidecar must say before. Where it
// cannot be written, because the disk is full, the log stays.
func (g *guard) abandon(c *conn) error {
	if !g.state.Open {
		return c.close()
	}
	g.state.Salt = 0 // of the next log, which another program may begin
	err := g.release()
	if err != nil {
		err = errors.Join(err, keepLog(c))
	}
	return errors.Join(err, c.close())
}

// keepLog has SQLite neither delete nor shorten the log when the connection is closed.
func keepLog(c *conn) error {
	return errors.Join(unavailable(c.raw.KeepLog()), c.pragma("journal_size_limit = -1"))
}

// finish closes the connection, the last one of this process that writes, with all of the
// log in the file.
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
	// SQLite deletes the log when nobody else has the database open.
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

// markShared marks the sidecar, if there is one, of a database that this process does not have
// for itself.
func markShared(path string, e *evidence) error {
	if e.state == nil || e.state.Shared {
		return nil
	}
	e.state.Shared = true
	return e.state.write(path)
}

// checkpoint moves the log into the file as far as its readers allow, and waits for none of
// them. It reports whether all of it was moved, and for the mode TRUNCATE whether the log is
// empty.
func checkpoint(c *conn, mode string) (done bool, err error) {
	if err := c.pragma("busy_timeout = 0"); err != nil {
		return false, err
	}
	err = c.query("PRAGMA wal_checkpoint("+mode+")", func(r *row) error {
		busy, inLog, moved := r.int(), r.int(), r.int()
		done = busy == 0 && inLog == moved
		return nil
	})
	return done, errors.Join(err, c.pragma(busyTimeout))
}
