//go:build unix

package sqlite

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/spoolhq/spool"
)

// lock takes the lock of the file at path for as long as the process lives. The kernel releases the
// lock with the last descriptor, so a lock file that is left over means nothing.
func lock(path string) (*os.File, error) {
	f, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, spool.Wrap(spool.Unavailable, "the lock file cannot be opened", err)
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	switch {
	case err == nil:
		return f, nil
	case errors.Is(err, unix.EWOULDBLOCK):
		err = spool.Errorf(spool.Conflict, "another process uses the data directory %s (%s is locked)",
			filepath.Dir(path), filepath.Base(f.Name()))
	default:
		err = spool.Wrap(spool.Unavailable, "the lock file cannot be locked", err)
	}
	return nil, errors.Join(err, f.Close())
}

// unlock releases a lock. A nil f is allowed. Closing the file is not enough, because a forked child
// that has not yet executed its program has a copy of the descriptor.
func unlock(f *os.File) error {
	if f == nil {
		return nil
	}
	return errors.Join(unix.Flock(int(f.Fd()), unix.LOCK_UN), f.Close())
}
