package sqlite

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// TestCommitsAreDurable reads back what makes a commit survive a power cut, from the
// connection that writes.
func TestCommitsAreDurable(t *testing.T) {
	t.Parallel()

	db, err := Open(filepath.Join(t.TempDir(), "spool.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	const full = 2
	var synchronous int64
	var journal string
	err = db.queue(context.Background(), func(tx *tx) error {
		if err := tx.c.query("PRAGMA synchronous", func(r *row) error { synchronous = r.Int64(); return nil }); err != nil {
			return err
		}
		return tx.c.query("PRAGMA journal_mode", func(r *row) error { journal = r.Text(); return nil })
	})
	if err != nil || synchronous != full || journal != "wal" {
		t.Errorf("synchronous is %d and the journal is %q, %v", synchronous, journal, err)
	}
}

// TestCommitThatFails has SQLite refuse a commit after statements that all went well. Nobody
// is told that it is durable, and the next one is.
func TestCommitThatFails(t *testing.T) {
	t.Parallel()

	db, err := Open(filepath.Join(t.TempDir(), "spool.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	// A key to a row that is not there is looked at by the commit.
	err = db.queue(context.Background(), func(tx *tx) error {
		return tx.write("CREATE TABLE pointer (thread_id INTEGER REFERENCES database_file (only_row) DEFERRABLE INITIALLY DEFERRED)")
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.writer.c.pragma("foreign_keys = ON"); err != nil { // nobody else writes
		t.Fatal(err)
	}
	key := spool.ThreadKey{Tenant: "acme", ID: "t"}
	refuse := false
	write := func() error {
		refuse = !refuse
		return db.Update(t.Context(), key, 0, func(v store.Tx) error {
			if refuse {
				inner, ok := v.(*tx)
				if !ok {
					t.Fatalf("a transaction is a %T", v)
				}
				if err := inner.write("INSERT INTO pointer VALUES (2)"); err != nil {
					return err
				}
			}
			return v.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}})
		})
	}
	if err := write(); spool.CodeOf(err) != spool.Unavailable {
		t.Errorf("the commit that failed: %v", err)
	}
	there := func() error {
		return db.View(t.Context(), key, func(v store.View) error { _, err := v.Thread(); return err })
	}
	if err := there(); spool.CodeOf(err) != spool.NotFound {
		t.Errorf("after it: %v", err)
	}
	if err := write(); err != nil {
		t.Errorf("the next commit: %v", err)
	}
	if err := there(); err != nil {
		t.Errorf("after the next one: %v", err)
	}
}
