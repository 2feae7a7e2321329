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

// sidecarSuffix is the suffix of the file that says how the last process left the database.
const sidecarSuffix = ".state"

// sidecar is a small file next to the database. SQLite treats a log (WAL) that is missing or damaged as
// empty, and silently loses its contents. The sidecar says whether a log must exist, and which one.
//
// Only a process that has the database exclusively writes a sidecar. It does so when it opens and
// closes the database, when it empties the log, and now and then while it cannot empty the log, but
// never for a commit.
type sidecar struct {
	Version int `json:"version"`
	// Database is the id of the database. It is empty if the process that created the sidecar did not
	// get far enough to know the id.
	Database string `json:"database"`
	// Open is true from the time at which a process opens the database until it has closed it with the
	// whole log moved into it.
	Open bool `json:"open"`
	// Log is true while the log may have writes that the database file lacks.
	Log bool `json:"log"`
	// Salt is the first salt of the log when the sidecar was written, or 0 if it is unknown.
	Salt uint32 `json:"salt"`
	// Shared is true once a process has opened the database without having it exclusively. Such a
	// process begins logs that no sidecar knows, so only Database is checked then.
	Shared bool `json:"shared"`
}

const sidecarVersion = 1

// readSidecar returns the sidecar of the database at path, or nil if it has none.
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
		return nil, &spool.Error{
			Code: spool.Conflict,
			Message: name + " is damaged, so nothing says whether " + filepath.Base(path) +
				walSuffix + " is complete" + acceptHint, Err: err,
		}
	}
	if s.Version > sidecarVersion {
		return nil, spool.Errorf(spool.Invalid, "%s is of a later version of the program: use that", name)
	}
	return &s, nil
}

// write replaces the sidecar durably.
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

// syncDir makes the creation or removal of a file in the folder durable.
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
