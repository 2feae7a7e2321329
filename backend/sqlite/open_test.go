package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/sqlite"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

func TestOpenExclusive(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	path := filepath.Join(dir, "spool.db")
	first := open(t, path, &sqlite.Options{Exclusive: true})
	_, err := sqlite.Open(path, &sqlite.Options{Exclusive: true})
	if spool.CodeOf(err) != spool.Conflict || !strings.Contains(spool.MessageOf(err), dir) {
		t.Errorf("second open: got error %v, want a conflict that names %s", err, dir)
	}
	open(t, path, nil) // looks at no lock
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, path, &sqlite.Options{Exclusive: true})
}

// TestOpenMode: nobody but the owner reads what is said in threads, also where the folder
// is open to others. The mode of a file that is there is its owner's business.
func TestOpenMode(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("files have no such mode here")
	}

	dir := t.TempDir()
	path := filepath.Join(dir, "spool.db")
	db := open(t, path, &sqlite.Options{Exclusive: true})
	update(t, db, key("t"), func(tx store.Tx) error {
		return tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}})
	})
	for _, name := range []string{"spool.db", "spool.db-wal", "spool.db-shm", "spool.db.lock"} {
		mode(t, filepath.Join(dir, name), 0o600)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	open(t, path, nil)
	mode(t, path, 0o640)
}

func mode(t *testing.T, path string, want os.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != want {
		t.Errorf("%s has the mode %o, want %o", filepath.Base(path), got, want)
	}
}

// TestOpenEndsLeases: what a dead process held is free for the one after it, at once.
func TestOpenEndsLeases(t *testing.T) {
	t.Parallel()

	path, clock := filepath.Join(t.TempDir(), "spool.db"), spooltest.NewClock()
	before := open(t, path, &sqlite.Options{Clock: clock})
	update(t, before, key("t"), func(tx store.Tx) error {
		return tx.Write(store.Changes{
			Thread:  &wire.Thread{State: wire.Running, RunID: "r", Fence: 4, LeaseUntil: tx.Now().Add(time.Hour)},
			NewRuns: []store.RunRow{{Run: wire.Run{ID: "r", State: wire.Running}}},
			Jobs: []wire.Job{
				{RunID: "r", Agent: "a", Key: "claimed"},
				{RunID: "r", Agent: "a", Key: "delayed", DueAt: tx.Now().Add(time.Hour)},
			},
		})
	})
	old, _, err := before.Claim(context.Background(), store.ClaimQuery{Limit: 1, Lease: time.Hour})
	if err != nil || len(old) != 1 {
		t.Fatalf("claim: got %v and error %v", old, err)
	}

	// Only an exclusive open knows that nobody else is alive.
	clock.Advance(time.Second)
	if taken, _, err := open(t, path, &sqlite.Options{Clock: clock}).Claim(
		context.Background(), store.ClaimQuery{Limit: 10, Lease: time.Hour},
	); err != nil || len(taken) != 0 {
		t.Errorf("claim after a shared open: got %v and error %v, want none", taken, err)
	}
	if err := before.Close(); err != nil {
		t.Fatal(err)
	}
	after := open(t, path, &sqlite.Options{Clock: clock, Exclusive: true})
	taken, _, err := after.Claim(context.Background(), store.ClaimQuery{Limit: 10, Lease: time.Hour})
	if err != nil || len(taken) != 1 || taken[0].Key != "claimed" || taken[0].Attempt != 2 {
		t.Errorf("claim: got %v and error %v, want the second delivery of the claimed job", taken, err)
	}
	if err := after.Ack(context.Background(), old[0], store.Ack{Kind: store.AckDone}); !errors.Is(err, store.ErrFenced) {
		t.Errorf("Ack of the old claim: got error %v", err)
	}
	err = after.View(context.Background(), key("t"), func(v store.View) error {
		thread, err := v.Thread()
		if thread.Leased(v.Now()) || thread.Fence != 4 {
			t.Errorf("the thread is leased until %v under fence %d", thread.LeaseUntil, thread.Fence)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestOpenNewerSchema(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "spool.db")
	if err := open(t, path, nil).Close(); err != nil {
		t.Fatal(err)
	}
	raw := query(t, path)
	if _, err := raw.ExecContext(t.Context(), "PRAGMA user_version = 999"); err != nil {
		t.Fatal(err)
	}
	_, err := sqlite.Open(path, nil)
	if spool.CodeOf(err) != spool.Conflict || !strings.Contains(spool.MessageOf(err), "schema 999") {
		t.Errorf("got error %v, want a conflict that names the schema", err)
	}
}

func TestOpenNothing(t *testing.T) {
	t.Parallel()

	for _, path := range []string{"", ":memory:"} {
		if _, err := sqlite.Open(path, nil); spool.CodeOf(err) != spool.Invalid {
			t.Errorf("open %q: got error %v", path, err)
		}
	}
	if _, err := sqlite.Open(
		filepath.Join(t.TempDir(), "missing", "spool.db"), nil,
	); spool.CodeOf(err) != spool.Unavailable {
		t.Errorf("open in a folder that is not there: got error %v", err)
	}
	// Characters with a meaning in a URI are part of the name.
	dir := t.TempDir()
	open(t, filepath.Join(dir, "a?b#c%20d.db"), nil)
	if names, err := filepath.Glob(filepath.Join(dir, "a[?]b#c%20d.db")); err != nil || len(names) != 1 {
		t.Errorf("got files %v and error %v", names, err)
	}
}

// TestSchema checks what must hold for every table, also those that a later migration
// adds.
func TestSchema(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "spool.db")
	open(t, path, nil)
	rows, err := query(t, path).QueryContext(t.Context(), `SELECT t.name, t.strict,
			coalesce((SELECT c.name FROM pragma_table_info(t.name) c WHERE c.pk = 1), '')
		FROM pragma_table_list t WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\'`)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	tables := 0
	for rows.Next() {
		var name, first string
		var strict bool
		if err := rows.Scan(&name, &strict, &first); err != nil {
			t.Fatal(err)
		}
		tables++
		if !strict {
			t.Errorf("table %s is not strict", name)
		}
		if first != "tenant" && name != "job" && name != "schema_migration" && name != "database_file" {
			t.Errorf("the primary key of %s begins with %q, want the tenant", name, first)
		}
	}
	if rows.Err() != nil || tables < 10 {
		t.Errorf("got %d tables and error %v", tables, rows.Err())
	}
}

// query opens the file past the package.
func query(t *testing.T, path string) *sql.DB {
	t.Helper()
	raw, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = raw.Close() })
	return raw
}
