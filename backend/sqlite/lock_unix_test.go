//go:build unix

package sqlite

import (
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestUnlockWithCopy ends a lock while there is a copy of its descriptor, as a forked child has one.
func TestUnlockWithCopy(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "spool.db")
	first, err := lock(path)
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.FcntlInt(first.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(fd) }()
	if err := unlock(first); err != nil {
		t.Fatal(err)
	}
	again, err := lock(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := unlock(again); err != nil {
		t.Error(err)
	}
}
