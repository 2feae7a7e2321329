package sqlite

import (
	"context"
	"path/filepath"
	"testing"
)

// TestPragmas reads back what keeps a promise: that a commit is on disk, and that what was
// deleted is overwritten.
func TestPragmas(t *testing.T) {
	t.Parallel()

	db, err := Open(filepath.Join(t.TempDir(), "spool.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	check := func(c *conn, name string, want int) {
		t.Helper()
		got := -1
		err := c.query("PRAGMA "+name, func(r *row) error {
			got = r.Int()
			return nil
		})
		if err != nil || got != want {
			t.Errorf("%s is %d, want %d (%v)", name, got, want, err)
		}
	}
	err = db.queue(context.Background(), func(tx *tx) error {
		check(tx.c, "synchronous", 2)
		check(tx.c, "fullfsync", 1)
		check(tx.c, "secure_delete", 1)
		check(tx.c, "busy_timeout", 10000)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if _, err := checkpoint(db.writer.c, "PASSIVE"); err != nil { // nobody else writes
		t.Error(err)
	}
	check(db.writer.c, "busy_timeout;", 10000) // another text: SQLite reads the value when it prepares the statement
	err = db.pool.read(t.Context(), func(c *conn) error {
		check(c, "query_only", 1)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
