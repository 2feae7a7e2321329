package sqlite

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// until waits, not for ever, until a condition holds.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	end := time.After(20 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatal("it never happened that", what)
		}
	}
}

// quick opens a database whose log is emptied soon.
func quick(t *testing.T, path string, idle, erase time.Duration) *DB {
	t.Helper()
	db := exclusive(t, path, Options{})
	db.writer.stop()
	k := newKeeper(db.guard, slog.New(slog.DiscardHandler))
	k.idle, k.erase = idle, erase
	db.writer = newWriter(db.writer.c, db.clock, k)
	return db
}

// TestIdle: when nobody writes any more, all is in the file, and the log is as good as empty.
func TestIdle(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "spool.db")
	db := quick(t, path, 20*time.Millisecond, time.Hour)
	write(t, db, 0, 50)
	until(t, "the log was emptied", func() bool {
		wal, err := readWAL(path)
		return err == nil && wal.size < 3*(4096+walFrameHeader)
	})
}

// TestBusySalt: a log that begins anew again and again, without an idle moment in which it is
// emptied, stays the one that the sidecar and the file name.
func TestBusySalt(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "spool.db")
	db := quick(t, path, 200*time.Millisecond, time.Hour)
	write(t, db, 0, 1)
	wal, err := readWAL(path)
	if err != nil {
		t.Fatal(err)
	}
	// As if the log had begun anew that often since.
	db.writer.stop()
	db.guard.state.Salt = wal.salt - maxResets/2
	db.writer = newWriter(db.writer.c, db.clock, db.writer.keeper)
	n := 1
	until(t, "the salt was written down", func() bool {
		write(t, db, n, 1) // nobody is idle
		n++
		s, err := readSidecar(path)
		if err != nil {
			t.Fatal(err)
		}
		return s.Log && s.Salt-wal.salt < 10
	})
}

// TestDeletionErases: what a deleted thread said is in none of the files soon after, also
// while others go on writing.
func TestDeletionErases(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	db := quick(t, filepath.Join(dir, "spool.db"), time.Hour, 20*time.Millisecond)
	key := spool.ThreadKey{Tenant: "tenant", ID: "t"}
	secret := bytes.Repeat([]byte("the secret of the thread "), 1000)
	found := func() bool {
		for _, name := range []string{"spool.db", "spool.db" + walSuffix} {
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(b, secret[:25]) {
				return true
			}
		}
		return false
	}
	update := func(fn func(tx store.Tx) error) {
		t.Helper()
		if err := db.Update(context.Background(), key, 0, fn); err != nil {
			t.Fatal(err)
		}
	}
	update(func(tx store.Tx) error {
		return tx.Write(store.Changes{
			Thread:  &wire.Thread{State: wire.Idle, Title: string(secret[:25])},
			Entries: []*wire.Entry{wire.NewEntry("A", "", string(secret)), wire.NewEntry("A", "", string(secret[:100]))},
		})
	})
	if !found() {
		t.Fatal("the test does not find what is there")
	}
	update(func(tx store.Tx) error { return tx.Write(store.Changes{DeleteThread: true}) })
	n := 0
	until(t, "the deleted thread was erased", func() bool {
		write(t, db, n, 1) // nobody is idle
		n++
		return !found()
	})
}
