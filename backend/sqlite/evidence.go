package sqlite

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spoolhq/spool"
)

// acceptHint ends the message of each refusal that AcceptLoss overrides.
const acceptHint = ". Put back what was there, or restore a backup. --accept-loss (Options.AcceptLoss) goes on with what is left"

// evidence is the state of a database's files before SQLite opens them. SQLite deletes a log that it
// cannot use, so the log must be examined before.
type evidence struct {
	path string
	size int64 // of the database; -1 if it does not exist
	wal  walFile
	// state is the sidecar, or nil if no process has ever had the database exclusively.
	state *sidecar
	// main is the identity in the database file without its log, or nil if it was not read.
	main *identity
	// holed is true if the log is damaged in its middle.
	holed bool
}

// gather examines the files. Only a process that has the database exclusively may read main and the
// log, because another process may be writing to them.
func gather(path string, exclusive bool) (e evidence, err error) {
	if e, err = glance(path); err != nil {
		return e, err
	}
	if !exclusive {
		return e, e.settle()
	}
	if e.size <= 0 {
		return e, nil
	}
	e.main = rawIdentity(path)
	if e.wal.sound {
		e.holed, err = e.wal.holed(path)
	}
	return e, err
}

// glance reads the sizes of the files and the sidecar.
func glance(path string) (e evidence, err error) {
	e = evidence{path: path, size: -1}
	if e.state, err = readSidecar(path); err != nil {
		return e, err
	}
	info, err := os.Stat(path)
	switch {
	case err == nil:
		e.size = info.Size()
	case !errors.Is(err, fs.ErrNotExist):
		return e, spool.Wrap(spool.Unavailable, "the database cannot be read", err)
	}
	e.wal, err = readWAL(path)
	return e, err
}

// settle repeats the look until the sidecar is the same before and after it, because the process that
// has the database may be emptying its log or closing the database.
func (e *evidence) settle() error {
	const tries = 100
	for range tries {
		state, err := readSidecar(e.path)
		if err != nil {
			return err
		}
		if state == nil && e.state == nil || state != nil && e.state != nil && *state == *e.state {
			return nil
		}
		<-time.After(time.Millisecond)
		if *e, err = glance(e.path); err != nil {
			return err
		}
	}
	return spool.Errorf(spool.Unavailable, "the sidecar of %s changes all the time", e.path)
}

// problem returns a sentence that says why the database must not be opened, or "" if it may be opened.
func (e *evidence) problem() string {
	switch {
	case e.size <= 0 && e.state != nil && e.state.Database != "":
		return e.path + " is " + e.nothing() + ", and " + e.path + sidecarSuffix + " says that there was a database"
	case e.size <= 0 && e.wal.size > 0:
		return e.path + " is " + e.nothing() + ", but its log " + e.path + walSuffix + " is not, and SQLite would delete that"
	case e.size <= 0:
		return ""
	case e.state == nil, !e.state.Open:
		if text := e.another(); text != "" {
			return text
		}
		return e.copied()
	}
	if text := e.another(); text != "" || e.state.Shared {
		return text
	}
	return e.log(e.state.Log, e.state.Salt)
}

func (e *evidence) nothing() string {
	if e.size < 0 {
		return "missing"
	}
	return "empty"
}

// another returns a problem if another database has replaced the one in the sidecar.
func (e *evidence) another() string {
	if e.state == nil || e.state.Database == "" || e.main == nil || e.main.id == e.state.Database {
		return ""
	}
	return e.path + " is not the database that was here before, says " + e.path + sidecarSuffix +
		". To begin with a backup, remove the files " + e.besides() + " first"
}

func (e *evidence) besides() string {
	base := filepath.Base(e.path)
	return base + walSuffix + ", " + base + "-shm and " + base + sidecarSuffix
}

// copied returns a problem if the database was copied while a process was using it. The copy has no
// sidecar, so the database itself has to say so.
func (e *evidence) copied() string {
	if e.main == nil || !e.main.inUse {
		return ""
	}
	if e.wal.size == 0 {
		return e.path +
			" was copied, without its log, from a server that was running: its last writes are missing. `spool backup` makes whole copies"
	}
	return e.log(true, e.main.salt)
}

// log returns a problem if the log is missing, damaged, or of another database. A salt of 0 is unknown.
func (e *evidence) log(needed bool, salt uint32) string {
	wal := e.path + walSuffix
	switch {
	case e.wal.size == 0 && needed:
		return wal +
			" is missing or empty, and the process before did not close the database: its last writes were in there, " +
			"unless another program, such as sqlite3, has opened the database since and put them into it"
	case e.wal.size == 0:
		return ""
	case !e.wal.sound && needed:
		return wal + " is damaged at its beginning, so SQLite would take it for an empty one"
	case e.wal.sound && salt != 0 && !e.wal.follows(salt):
		return wal + " is not the log that belongs to " + e.path
	case e.holed:
		return wal + " is damaged, and whole writes come after the damage, which SQLite would drop"
	}
	return ""
}

// refusal returns the error for a database that must not be opened, or nil.
func (e *evidence) refusal() error {
	if text := e.problem(); text != "" {
		return &spool.Error{Code: spool.Conflict, Message: text + acceptHint}
	}
	return nil
}

// setAside moves the log away if it is not the database's own, and copies it if it is but is damaged.
// It deletes nothing that could be recovered. It returns the new path of the log.
func (e *evidence) setAside() (lost string, err error) {
	foreign := e.size <= 0 || e.another() != "" || e.state != nil && e.state.Open && !e.state.Shared &&
		e.wal.sound && e.state.Salt != 0 && !e.wal.follows(e.state.Salt)
	if e.main != nil && e.main.inUse && e.wal.sound {
		foreign = !e.wal.follows(e.main.salt)
	}
	if e.wal.size > 0 && (foreign || e.holed || !e.wal.sound) {
		if lost, err = freeName(e.path + walSuffix + ".lost"); err != nil {
			return "", err
		}
		if foreign || !e.wal.sound {
			err = os.Rename(e.path+walSuffix, lost)
		} else {
			err = copyFile(e.path+walSuffix, lost)
		}
	}
	for _, suffix := range []string{"-shm", sidecarSuffix} {
		if err == nil {
			err = os.Remove(e.path + suffix)
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	return lost, spool.Wrap(spool.Unavailable, "what is damaged cannot be put aside", err)
}

// freeName returns a name under which no file exists.
func freeName(name string) (string, error) {
	for n := range 1000 {
		try := name
		if n > 0 {
			try += strconv.Itoa(n)
		}
		if _, err := os.Lstat(try); errors.Is(err, fs.ErrNotExist) {
			return try, nil
		}
	}
	return "", fmt.Errorf("there are 1000 files %s", name)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}
