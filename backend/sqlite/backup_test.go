package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// sound fails the test for a database with problems, and returns what was found.
func sound(t *testing.T, path string) Report {
	t.Helper()
	r, err := Check(t.Context(), path)
	if err != nil || len(r.Problems) > 0 {
		t.Fatalf("%s: problems %q and error %v", path, r.Problems, err)
	}
	return r
}

// TestBackup: a backup of a database that is written to without a pause ends, is whole, and
// is a database of its own that a server can begin with.
func TestBackup(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	path, to := filepath.Join(dir, "spool.db"), filepath.Join(t.TempDir(), "backup.db")
	db := exclusive(t, path, Options{})
	write(t, db, 0, 100)
	big := strings.Repeat("x", 8<<20) // more than one step
	if err := db.Update(t.Context(), spool.ThreadKey{Tenant: "tenant", ID: "big"}, 0, func(tx store.Tx) error {
		return tx.Write(store.Changes{
			Thread:  &wire.Thread{State: wire.Idle},
			Entries: []*wire.Entry{wire.NewEntry("A", "", big)},
		})
	}); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 1000; ; n++ {
			select {
			case <-stop:
				return
			default:
				write(t, db, n, 1)
			}
		}
	})
	calls, last := 0, 0
	err := Backup(t.Context(), path, to, func(done, total int) {
		if done < last || done > total {
			t.Errorf("progress %d of %d after %d", done, total, last)
		}
		calls, last = calls+1, done
	})
	close(stop)
	wg.Wait()
	if err != nil || calls < 2 {
		t.Fatalf("%d calls, %v", calls, err)
	}
	r := sound(t, to)
	if r.Threads < 101 || !r.Closed || r.Running || r.ID == "" || r.ID == sound(t, path).ID {
		t.Errorf("the backup: %+v", r)
	}
	if list := files(t, filepath.Dir(to)); strings.Count(list, "\n") != 1 {
		t.Errorf("files beside the backup:\n%s", list)
	}
	info, err := os.Stat(to)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the mode of the backup: %v, %v", info.Mode(), err)
	}
	if err := Backup(t.Context(), path, to, nil); spool.CodeOf(err) != spool.Conflict {
		t.Errorf("a second backup to the same file: got error %v, want a conflict", err)
	}
	if n := countThreads(t, exclusive(t, to, Options{})); n != r.Threads {
		t.Errorf("a server over the backup has %d threads, want %d", n, r.Threads)
	}
}

// TestBackupStopped: a backup needs no server. It takes what a crash left in the log along,
// and leaves the files as they are.
func TestBackupStopped(t *testing.T) {
	t.Parallel()

	dir, path := crashed(t)
	wal := func() walFile {
		w, err := readWAL(path)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	before := wal()
	to := filepath.Join(t.TempDir(), "backup.db")
	if err := Backup(t.Context(), path, to, nil); err != nil {
		t.Fatal(err)
	}
	if n := sound(t, to).Threads; n != 30 {
		t.Errorf("%d threads of 30", n)
	}
	if r := sound(t, path); r.Closed || r.Running || r.LogBytes == 0 {
		t.Errorf("the crashed one: %+v", r)
	}
	if wal() != before {
		t.Error("the log was changed")
	}
	if err := exclusive(t, path, Options{}).Close(); err != nil {
		t.Fatal(err)
	}
	list := files(t, dir)
	if r := sound(t, path); !r.Closed {
		t.Errorf("the closed one: %+v", r)
	}
	if files(t, dir) != list {
		t.Error("the check changed files")
	}
	// What is damaged is not made to look whole.
	dir, path = crashed(t)
	remove(t, path+walSuffix)
	to = filepath.Join(dir, "backup.db")
	if err := Backup(t.Context(), path, to, nil); spool.CodeOf(err) != spool.Conflict ||
		!strings.Contains(spool.MessageOf(err), "missing or empty") {
		t.Errorf("a backup without the log: got error %v, want a conflict", err)
	}
}

func TestBackupCanceled(t *testing.T) {
	t.Parallel()

	_, path := crashed(t)
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Backup(ctx, path, filepath.Join(dir, "backup.db"), nil); spool.CodeOf(err) != spool.Canceled {
		t.Errorf("got error %v", err)
	}
	if list := files(t, dir); list != "" {
		t.Errorf("it left\n%s", list)
	}
}

// TestCheck: each kind of damage is told.
func TestCheck(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		damage func(t *testing.T, path string)
		want   string
	}{
		"no log": {want: "is missing or empty", damage: func(t *testing.T, path string) {
			t.Helper()
			remove(t, path+walSuffix)
		}},
		"emptied": {want: "is empty, and", damage: func(t *testing.T, path string) {
			t.Helper()
			change(t, path, func([]byte) []byte { return nil })
		}},
		"removed": {want: "is missing, and", damage: func(t *testing.T, path string) {
			t.Helper()
			remove(t, path)
		}},
		"another": {want: "is the database of another program", damage: func(t *testing.T, path string) {
			t.Helper()
			statement(t, path, "PRAGMA application_id = 7")
		}},
		"a later one": {want: "has had the migration 999", damage: func(t *testing.T, path string) {
			t.Helper()
			statement(t, path, "INSERT INTO schema_migration VALUES (999, 0)")
		}},
		"strays": {want: "1 rows of the table branch belong to no thread", damage: func(t *testing.T, path string) {
			t.Helper()
			statement(t, path, "INSERT INTO branch VALUES ('tenant', 'gone', 1, '', '', 0)")
		}},
		"an index": {want: "SQLite says: ", damage: damageIndex},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, path := crashed(t)
			c.damage(t, path)
			r, err := Check(t.Context(), path)
			if err != nil || !strings.Contains(strings.Join(r.Problems, "\n"), c.want) {
				t.Errorf("problems %q and error %v, want %q", r.Problems, err, c.want)
			}
		})
	}
	if _, err := Check(t.Context(), filepath.Join(t.TempDir(), "spool.db")); spool.CodeOf(err) != spool.NotFound {
		t.Errorf("no database: got error %v", err)
	}
}

// TestCheckBesideServer: a check of a database that a server writes to finds it whole, and
// the server goes on.
func TestCheckBesideServer(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "spool.db")
	db := quick(t, path, time.Millisecond, time.Millisecond)
	for n := range 20 {
		write(t, db, n, 1)
		if r := sound(t, path); !r.Running || r.Threads != int64(n+1) {
			t.Fatalf("%+v after %d threads", r, n+1)
		}
	}
}

func statement(t *testing.T, path, text string) {
	t.Helper()
	c, err := dial(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(keepLog(c), c.exec(text), c.close()); err != nil {
		t.Fatal(err)
	}
}

// damageIndex writes zeros over the root of an index.
func damageIndex(t *testing.T, path string) {
	t.Helper()
	if err := exclusive(t, path, Options{}).Close(); err != nil {
		t.Fatal(err)
	}
	c, err := dial(path)
	if err != nil {
		t.Fatal(err)
	}
	root := 0
	err = c.query("SELECT rootpage FROM sqlite_schema WHERE name = 'thread_updated'", func(r *row) error {
		root = r.Int()
		return nil
	})
	if err := errors.Join(err, c.close()); err != nil || root == 0 {
		t.Fatal(root, err)
	}
	change(t, path, func(b []byte) []byte {
		clear(b[(root-1)*4096 : root*4096])
		return b
	})
}
