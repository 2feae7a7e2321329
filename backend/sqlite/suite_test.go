package sqlite_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/sqlite"
	"github.com/spoolhq/spool/spooltest"
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
	dir := t.TempDir()
	return func(t *testing.T, clock spool.Clock) spool.Backend {
		t.Helper()
		name := strings.ReplaceAll(t.Name(), "/", "-") + ".db"
		return open(t, filepath.Join(dir, name), &sqlite.Options{Clock: clock}).Backend()
	}
}

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
