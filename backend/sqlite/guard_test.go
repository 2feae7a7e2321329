package sqlite

import (
	"bytes"
	"context"
	"fmt"
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

// write makes n threads, each in a transaction of its own, with a title of some length.
func write(t *testing.T, db *DB, from, n int) {
	t.Helper()
	for i := from; i < from+n; i++ {
		key := spool.ThreadKey{Tenant: "tenant", ID: spool.ThreadID(fmt.Sprint("t", i))}
		err := db.Update(context.Background(), key, 0, func(tx store.Tx) error {
			return tx.Write(store.Changes{
				Thread: &wire.Thread{State: wire.Idle, Title: strings.Repeat(fmt.Sprint("title ", i, " "), 60)},
			})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// copyFolder copies what a crash would leave of the files in a folder. It must not be used
// while another process has the database open: it ends the locks of this one.
func copyFolder(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

func exclusive(t *testing.T, path string, o Options) *DB {
	t.Helper()
	o.Exclusive = true
	db, err := Open(path, &o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func countThreads(t *testing.T, db *DB) int64 {
	t.Helper()
	n, err := db.CountThreads(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// crashes are folders as crashes leave them, by a name, file by file. Each is made once.
var crashes struct {
	sync.Mutex
	of map[string]map[string][]byte
}

// crashed returns a folder as a crash leaves it, with 30 threads: the first ten are in the
// database, and the others in the log.
func crashed(t *testing.T) (dir, path string) {
	t.Helper()
	return crashedAs(t, "one")
}

// crashedAs is crashed for one of several databases.
func crashedAs(t *testing.T, name string) (dir, path string) {
	t.Helper()
	crashes.Lock()
	defer crashes.Unlock()
	if crashes.of[name] == nil {
		if crashes.of == nil {
			crashes.of = make(map[string]map[string][]byte)
		}
		crashes.of[name] = crash(t)
	}
	dir = t.TempDir()
	for file, b := range crashes.of[name] {
		if err := os.WriteFile(filepath.Join(dir, file), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, filepath.Join(dir, "spool.db")
}

// crash makes a folder of those.
func crash(t *testing.T) map[string][]byte {
	t.Helper()
	dir := t.TempDir()
	if err := exclusive(t, filepath.Join(dir, "spool.db"), Options{}).Close(); err != nil {
		t.Fatal(err)
	}
	db := exclusive(t, filepath.Join(dir, "spool.db"), Options{})
	write(t, db, 0, 10)
	neverIdle(t, db)
	if _, err := db.guard.empty(db.writer.c); err != nil { // nobody else writes
		t.Fatal(err)
	}
	write(t, db, 10, 20)
	left := make(map[string][]byte)
	for _, suffix := range []string{"", walSuffix, "-shm", ".lock", sidecarSuffix} {
		b, err := os.ReadFile(filepath.Join(dir, "spool.db"+suffix))
		if err != nil {
			t.Fatal(err)
		}
		left["spool.db"+suffix] = b
	}
	return left
}

// TestLoss: what was lost, damaged or exchanged behind a server's back is noticed by the
// next start, which says what to do, changes nothing, and can be told to go on.
func TestLoss(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		closed bool // the server was not killed, but stopped
		damage func(t *testing.T, path string)
		want   string // in the refusal; "": it starts
		left   int64  // threads that are there then, or with AcceptLoss
		aside  bool   // the log is put aside
	}{
		"nothing":         {left: 30, damage: func(*testing.T, string) {}},
		"nothing, closed": {closed: true, left: 30, damage: func(*testing.T, string) {}},
		"a torn tail": {left: 29, damage: func(t *testing.T, path string) {
			t.Helper()
			change(t, path+walSuffix, func(b []byte) []byte { return b[:len(b)-100] })
		}},
		"a flipped tail": {left: 29, damage: func(t *testing.T, path string) {
			t.Helper()
			change(t, path+walSuffix, func(b []byte) []byte { b[len(b)-100] ^= 1; return b })
		}},
		"no log": {left: 10, want: "spool.db-wal is missing or empty", damage: func(t *testing.T, path string) {
			t.Helper()
			remove(t, path+walSuffix)
		}},
		"no log, no index": {left: 10, want: "spool.db-wal is missing or empty", damage: func(t *testing.T, path string) {
			t.Helper()
			remove(t, path+walSuffix)
			remove(t, path+"-shm")
		}},
		"an empty log": {left: 10, want: "spool.db-wal is missing or empty", damage: func(t *testing.T, path string) {
			t.Helper()
			change(t, path+walSuffix, func([]byte) []byte { return nil })
		}},
		"a flipped header": {
			left: 10, want: "is damaged at its beginning", aside: true,
			damage: func(t *testing.T, path string) {
				t.Helper()
				change(t, path+walSuffix, func(b []byte) []byte { b[17] ^= 1; return b })
			},
		},
		"a flipped frame": {
			left: 12, want: "whole writes come after the damage", aside: true,
			damage: func(t *testing.T, path string) {
				t.Helper()
				flipFrame(t, path, 12)
			},
		},
		"the log of another": {
			left: 10, want: "is not the log that belongs to", aside: true,
			damage: func(t *testing.T, path string) {
				t.Helper()
				_, other := crashedAs(t, "other")
				copyOver(t, other+walSuffix, path+walSuffix)
			},
		},
		"emptied": {left: 0, want: "spool.db is empty, and ", aside: true, damage: func(t *testing.T, path string) {
			t.Helper()
			change(t, path, func([]byte) []byte { return nil })
		}},
		"removed": {left: 0, want: "spool.db is missing, and ", aside: true, damage: func(t *testing.T, path string) {
			t.Helper()
			remove(t, path)
		}},
		"emptied, no sidecar": {
			left: 0, want: "SQLite would delete that", aside: true,
			damage: func(t *testing.T, path string) {
				t.Helper()
				change(t, path, func([]byte) []byte { return nil })
				remove(t, path+sidecarSuffix)
			},
		},
		"another database": {
			left: 10, want: "is not the database that was here before", aside: true,
			damage: func(t *testing.T, path string) {
				t.Helper()
				_, other := crashedAs(t, "other")
				copyOver(t, other, path)
			},
		},
		"another database, closed": {
			closed: true, left: 10, want: "is not the database that was here before",
			damage: func(t *testing.T, path string) {
				t.Helper()
				_, other := crashedAs(t, "other")
				copyOver(t, other, path)
			},
		},
		"copied alone": {left: 10, want: "was copied, without its log", damage: func(t *testing.T, path string) {
			t.Helper()
			remove(t, path+walSuffix)
			remove(t, path+"-shm")
			remove(t, path+sidecarSuffix)
		}},
		"copied with its log": {left: 30, damage: func(t *testing.T, path string) {
			t.Helper()
			remove(t, path+"-shm")
			remove(t, path+sidecarSuffix)
		}},
		"an old copy over a closed one": {
			closed: true, left: 10, want: "was copied, without its log",
			damage: func(t *testing.T, path string) {
				t.Helper()
				dir, running := crashed(t) // the same database
				copyOver(t, running, path)
				s, err := readSidecar(filepath.Join(dir, "spool.db"))
				if err != nil {
					t.Fatal(err)
				}
				s.Open, s.Log = false, false
				if err := s.write(path); err != nil {
					t.Fatal(err)
				}
			},
		},
		"a damaged sidecar": {left: 30, want: "spool.db.state is damaged", damage: func(t *testing.T, path string) {
			t.Helper()
			change(t, path+sidecarSuffix, func(b []byte) []byte { return b[:9] })
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, path := crashed(t)
			if c.closed {
				if err := exclusive(t, path, Options{}).Close(); err != nil {
					t.Fatal(err)
				}
			}
			c.damage(t, path)
			before := files(t, dir)
			db, err := Open(path, &Options{Exclusive: true})
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
			} else {
				if message := spool.MessageOf(err); spool.CodeOf(err) != spool.Conflict ||
					!strings.Contains(message, c.want) || !strings.Contains(message, "--accept-loss") {
					t.Fatalf("open: got error %v, want a conflict with %q that says how to go on", err, c.want)
				}
				if after := files(t, dir); after != before {
					t.Errorf("the refusal changed files:\n%s\nbefore:\n%s", after, before)
				}
				db = exclusive(t, path, Options{AcceptLoss: true})
			}
			if n := countThreads(t, db); n != c.left {
				t.Errorf("%d threads are left, want %d", n, c.left)
			}
			if _, err := os.Stat(path + walSuffix + ".lost"); (err == nil) != c.aside {
				t.Errorf("the log that was put aside: %v", err)
			}
			write(t, db, 100, 1)
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			db = exclusive(t, path, Options{})
			if n := countThreads(t, db); n != c.left+1 {
				t.Errorf("%d threads after the next start, want %d", n, c.left+1)
			}
		})
	}
}

// TestCrashAtEveryStep: a process may die between any two of the steps that change files,
// and the next one opens what is there with all of its threads.
func TestCrashAtEveryStep(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	path := filepath.Join(dir, "spool.db")
	steps, committed := 0, int64(0)
	after := func(step string) {
		steps++
		left := copyFolder(t, dir)
		db, err := Open(filepath.Join(left, "spool.db"), &Options{Exclusive: true})
		if err != nil {
			t.Errorf("a crash at step %d, after %s: %v", steps, step, err)
			return
		}
		if n := countThreads(t, db); n != committed {
			t.Errorf("a crash at step %d, after %s: %d threads of %d", steps, step, n, committed)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
	for range 2 { // a new file, and one that was closed
		db, err := open(path, &Options{Exclusive: true}, after)
		if err != nil {
			t.Fatal(err)
		}
		neverIdle(t, db)
		write(t, db, int(committed), 5)
		committed += 5
		for range 2 {
			if done, err := db.guard.empty(db.writer.c); err != nil || !done {
				t.Fatal(done, err)
			}
		}
		write(t, db, int(committed), 5)
		committed += 5
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	// One that had crashed.
	dir = copyFolder(t, dir)
	path = filepath.Join(dir, "spool.db")
	db, err := open(path, &Options{Exclusive: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	neverIdle(t, db)
	write(t, db, int(committed), 5)
	committed += 5
	dir = copyFolder(t, dir)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if db, err = open(filepath.Join(dir, "spool.db"), &Options{Exclusive: true}, after); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if steps < 40 {
		t.Errorf("only %d steps were seen", steps)
	}
}

// neverIdle keeps the writer from emptying the log by itself, however slow the machine is.
func neverIdle(t *testing.T, db *DB) {
	t.Helper()
	err := db.queue(t.Context(), func(*tx) error {
		db.writer.keeper.idle = time.Hour
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestRefusalKeepsLog: a start that fails for another reason closes the database, which
// moves the log of a crash into it. The next start does not miss that log.
func TestRefusalKeepsLog(t *testing.T) {
	t.Parallel()

	_, path := crashed(t)
	c, err := dial(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := copyFolder(t, filepath.Dir(path))
	if err := c.close(); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "spool.db")
	set := func(steps string) {
		c, err := dial(path)
		if err != nil {
			t.Fatal(err)
		}
		keep := keepLog(c)
		if err := c.exec(steps); err != nil || keep != nil {
			t.Fatal(err, keep)
		}
		if err := c.close(); err != nil {
			t.Fatal(err)
		}
	}
	set("DELETE FROM schema_migration")
	if _, err := Open(path, &Options{Exclusive: true}); err == nil || !strings.Contains(err.Error(), "already exists") {
		t.Fatalf("a step that fails: got error %v", err)
	}
	set("INSERT INTO schema_migration VALUES (100, 0), (101, 0)")
	if n := countThreads(t, exclusive(t, path, Options{})); n != 30 {
		t.Errorf("%d threads of 30", n)
	}
}

// TestShared: processes that share a file, or die with it, are not refused.
func TestShared(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	path := filepath.Join(dir, "spool.db")
	own := exclusive(t, path, Options{})
	write(t, own, 0, 5)
	other, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	write(t, other, 5, 5)
	if done, err := checkpoint(other.writer.c, "TRUNCATE"); err != nil || !done {
		t.Fatal(done, err)
	}
	write(t, other, 10, 5)
	left := copyFolder(t, dir)
	if n := countThreads(t, exclusive(t, filepath.Join(left, "spool.db"), Options{})); n != 15 {
		t.Errorf("%d threads of 15 after a crash of both", n)
	}
	if err := own.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, other, 15, 5)
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if n := countThreads(t, exclusive(t, path, Options{})); n != 20 {
		t.Errorf("%d threads of 20", n)
	}
}

func change(t *testing.T, name string, fn func(b []byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, fn(b), 0o600); err != nil {
		t.Fatal(err)
	}
}

// flipFrame flips a bit of the page that ends the log's n-th transaction from the end of its
// first ten threads on.
func flipFrame(t *testing.T, path string, threads int) {
	t.Helper()
	change(t, path+walSuffix, func(b []byte) []byte {
		marker := []byte(fmt.Sprint("title ", threads, " title ", threads))
		at := bytes.Index(b, marker)
		if at < 0 {
			t.Fatalf("the log lacks thread %d", threads)
		}
		b[at] ^= 1
		return b
	})
}

func remove(t *testing.T, name string) {
	t.Helper()
	if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
}

func copyOver(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// files lists what is in a folder, but for the lock, which says nothing.
func files(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list strings.Builder
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), ".lock") {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&list, "%s %d %x\n", entry.Name(), len(b), crc(b))
	}
	return list.String()
}

func crc(b []byte) [2]uint32 {
	w := walFile{}
	w.parse([walHeaderSize]byte{})
	return walSums(w.order, [2]uint32{}, b)
}
