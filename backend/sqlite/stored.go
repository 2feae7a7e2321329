package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spoolhq/spool"
)

// stored is a database that is only read, whether a server runs or not.
type stored struct {
	path     string
	evidence evidence
	// running is true if another process has the database exclusively.
	running bool
	lock    *os.File // held if no other process holds it, so that none starts meanwhile
}

// openStored opens a database that must exist. The caller must close it.
func openStored(path string) (*stored, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, spool.Wrap(spool.Invalid, "path has no absolute form", err)
	}
	if err := refuseLinks(abs); err != nil {
		return nil, err
	}
	s := &stored{path: abs}
	if _, err := os.Stat(abs + ".lock"); err == nil {
		s.lock, err = lock(abs)
		s.running = spool.CodeOf(err) == spool.Conflict
		if err != nil && !s.running {
			return nil, err
		}
	}
	s.evidence, err = gather(abs, !s.running)
	if err == nil && s.evidence.size < 0 && s.evidence.problem() == "" {
		err = &spool.Error{Code: spool.NotFound, Message: "there is no database " + abs, Err: fs.ErrNotExist}
	}
	if err != nil {
		return nil, errors.Join(err, unlock(s.lock))
	}
	return s, nil
}

func (s *stored) close() error { return unlock(s.lock) }

// connect returns a connection that changes nothing, and keeps the log for the next server.
func (s *stored) connect() (*conn, error) {
	// If the database has no log and no process could begin one, SQLite need not create the files with
	// which processes share a log. A process that shares the database has already created the "-shm"
	// file.
	mode := "?mode=ro"
	if _, err := os.Lstat(s.path + "-shm"); errors.Is(err, fs.ErrNotExist) && !s.running && s.evidence.wal.size == 0 {
		mode += "&immutable=1"
	}
	c, err := connect(s.path, mode)
	if err != nil {
		return nil, err
	}
	return c, c.pragma(busyTimeout)
}
