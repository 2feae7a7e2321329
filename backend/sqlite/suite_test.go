package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/spoolhq/spool/backend/sqlite"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
)

var features = spooltest.Features{Durable: true, CrossProcess: true}

func TestStore(t *testing.T) {
	t.Parallel()
	spooltest.TestStore(t, opener(t), features)
}

func TestQueue(t *testing.T) {
	t.Parallel()
	spooltest.TestQueue(t, opener(t), features)
}

// opener opens a file for each test, and the same one again for the same test.
func opener(t *testing.T) spooltest.Open {
	t.Helper()
	dir := memoryDir(t)
	empty, err := emptyFile()
	if err != nil {
		t.Fatal(err)
	}
	return func(t *testing.T, clock store.Clock) store.Backend {
		t.Helper()
		file := filepath.Join(dir, strings.ReplaceAll(t.Name(), "/", "-")+".db")
		if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
			if err := os.WriteFile(file, empty, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return open(t, file, &sqlite.Options{Clock: clock}).Backend()
	}
}

// memoryDir returns a folder in memory, where the system has one: the suites open hundreds of
// files, and what an fsync does to a disk is the matter of TestKill, TestLoss and the
// measurements.
func memoryDir(t *testing.T) string {
	t.Helper()
	const shared = "/dev/shm"
	if dir, err := os.MkdirTemp(shared, "spool-sqlite-"); err == nil { //nolint:usetesting // in memory
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		return dir
	}
	return t.TempDir()
}

// emptyFile returns a file that has its tables, which take longer to make than most tests
// do. How they are made is the matter of TestSchema.
var emptyFile = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "spool-sqlite-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "empty.db")
	db, err := sqlite.Open(file, nil)
	if err != nil {
		return nil, err
	}
	if err := db.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
})

func open(t *testing.T, path string, o *sqlite.Options) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return db
}

func TestArchive(t *testing.T) {
	t.Parallel()
	spooltest.TestArchive(t, opener(t))
}
