package sqlite

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spoolhq/spool"
)

// TestRoom looks for room where there is some, and where there is none: every write to
// /dev/full fails as on a full disk.
func TestRoom(t *testing.T) {
	t.Parallel()

	folder := t.TempDir()
	db, err := Open(filepath.Join(folder, "spool.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	left := filepath.Join(folder, "spool.db.room") // by a process that was killed
	if err := os.WriteFile(left, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := db.Check(t.Context()); err != nil {
		t.Errorf("with room: %v", err)
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("the file is still there: %v", err)
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no /dev/full")
	}
	defer func() { _ = full.Close() }()
	if err := noRoom(fill(full, roomNeeded)); spool.CodeOf(err) != spool.Unavailable ||
		spool.MessageOf(err) != "the disk has no room: starts are refused" {
		t.Errorf("a full disk: %v", err)
	}
	db.path = filepath.Join(folder, "gone", "spool.db")
	if err := db.Check(t.Context()); spool.CodeOf(err) != spool.Unavailable {
		t.Errorf("a folder that is gone: %v", err)
	}
	db.path = filepath.Join(folder, "spool.db")
}
