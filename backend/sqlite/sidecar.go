package sqlite

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spoolhq/spool"
)

// sidecarSuffix ends the name of the file that says how the database was left.
const sidecarSuffix = ".state"

// sidecar is the small file beside the database. SQLite takes a log (WAL) that is missing or
// damaged for an empty one, and silently loses its contents. The sidecar says whether there must
// be a log, and which.
//
// Only a process that has the file exclusively writes one. It writes it when it opens and
// closes the file, when it empties the log, and now and then while it cannot, never for a
// commit.
type sidecar struct {
	Version int `json:"version"`
	// Database is the id of the database. Empty: the process that made this sidecar has not
	// come far enough to know it.
	Database string `json:"database"`
	// Open is true from when a process opens the file until it has closed it with all of the
	// log in it.
	Open bool `json:"open"`
	// Log is true while the log may have writes that the file lacks.
	Log bool `json:"log"`
	// Salt is the first salt of the log when this was written. 0: not known.
	Salt uint32 `json:"salt"`
	// Shared is true once a process opened the file without having it for itself. SQLite then
	// begins logs that are not noted here, so only Database is checked.
	Shared bool `json:"shared"`
}

const sidecarVersion = 1

// readSidecar returns nil when there is no sidecar.
func readSidecar(path string) (*sidecar, error) {
	name := path + sidecarSuffix
	text, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil //nolint:nilnil // documented
	case err != nil:
		return nil, spool.Wrap(spool.Unavailable, "the sidecar of the database cannot be read", err)
	}
	var s sidecar
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, &spool.Error{Code: spool.Conflict, Message: name + " is damaged, so nothing says whether " + filepath.Base(path) +
			walSuffix + " is complete" + acceptHint, Err: err}
	}
	if s.Version > sidecarVersion {
		return nil, spool.Errorf(spool.Invalid, "%s is of a later version of the program: use that", name)
	}
	return &s, nil
}

// write puts the sidecar in the place of the one before, durably.
func (s *sidecar) write(path string) error {
	s.Version = sidecarVersion
	text, err := json.Marshal(s)
	if err != nil {
		return spool.Wrap(spool.Internal, "the sidecar cannot be encoded", err)
	}
	name := path + sidecarSuffix
	err = writeDurably(name+".new", append(text, '\n'))
	if err == nil {
		err = os.Rename(name+".new", name)
	}
	if err == nil {
		err = syncDir(filepath.Dir(name))
	}
	return spool.Wrap(spool.Unavailable, "the sidecar of the database cannot be written", err)
}

func writeDurably(name string, text []byte) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// syncDir makes it durable that a file of the folder is there, or is not.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" { // folders cannot be opened there
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
