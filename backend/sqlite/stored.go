package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spoolhq/spool"
)

// stored is a database that is looked at and not changed, beside a server or without one.
type stored struct {
	path     string
	evidence evidence
	// running is true while another process has the database for itself.
	running bool
	lock    *os.File // held where no other process does, so that none begins meanwhile
}

// openStored looks at a database that must be there. Each must be closed.
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

// connect returns a connection that changes nothing, and leaves the log to the next server.
func (s *stored) connect() (*conn, error) {
	// Without a log, and with nobody who could begin one, SQLite need not make the files that
	// it shares a log by. A process that shares the database has made the
	// "-shm" file already.
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
