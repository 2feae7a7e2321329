//go:build unix

package sqlite_test

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/sqlite"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// childEnv names the file that a child of TestKill writes to.
const childEnv = "SPOOL_SQLITE_TEST_CHILD"

const killThreads = 8

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		if err := child(path, os.Stdout); err != nil {
			_, _ = fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// child appends to several threads for as long as it lives, and says which entry was
// acknowledged. Each transaction writes an entry, a message and a job, which must be there
// together.
func child(path string, out io.Writer) error {
	db, err := sqlite.Open(path, &sqlite.Options{Exclusive: true})
	if err != nil {
		return err
	}
	errs := make(chan error)
	var mu sync.Mutex
	for caller := range 2 * killThreads {
		go func() {
			id := "t" + strconv.Itoa(caller%killThreads)
			for {
				var seq int64
				err := db.Update(context.Background(), key(id), 0, func(tx store.Tx) error {
					e := wire.NewEntry("A", "", strings.Repeat("x", 200))
					if _, err := tx.Thread(); err != nil {
						if err := tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}}); err != nil {
							return err
						}
					}
					if err := tx.Write(store.Changes{Entries: []*wire.Entry{e}}); err != nil {
						return err
					}
					seq = e.Seq
					name := id + "-" + strconv.FormatInt(seq, 10)
					return tx.Write(store.Changes{
						Messages: []*spool.Message{{ID: spool.MessageID(name), Role: spool.RoleUser}},
						Jobs:     []wire.Job{{RunID: "r", Agent: "a", Key: name}},
					})
				})
				if err != nil {
					errs <- err
					return
				}
				mu.Lock()
				_, err = fmt.Fprintln(out, id, seq)
				mu.Unlock()
				if err != nil {
					errs <- err
					return
				}
			}
		}()
	}
	return <-errs
}

// TestKill kills a writing process again and again, and looks whether anything that it
// had acknowledged is missing.
func TestKill(t *testing.T) {
	t.Parallel()

	if testing.Short() {
		t.Skip("starts processes")
	}
	path := filepath.Join(t.TempDir(), "spool.db")
	acked := make(map[string]int64)
	for round := range 10 {
		// At another point of the work each time, from the very first commits on.
		runAndKill(t, path, 1+round*round*5, acked)
		check(t, path, acked)
	}
}

// runAndKill has a child write until it has acknowledged so many entries, and kills it.
func runAndKill(t *testing.T, path string, lines int, acked map[string]int64) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(testwait.Context(t, "the child"), self, "-test.run=^$")
	cmd.Env = append(os.Environ(), childEnv+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := bufio.NewScanner(out)
	for n := 0; read.Scan(); n++ {
		if n == lines {
			// While the child writes, the file is its own.
			if _, err := sqlite.Open(path, &sqlite.Options{Exclusive: true}); spool.CodeOf(err) != spool.Conflict {
				t.Errorf("open beside the child: got error %v, want a conflict", err)
			}
			if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
		// What it said before it died counts, also what is still in the pipe. The last
		// line may be cut off.
		id, number, found := strings.Cut(read.Text(), " ")
		seq, err := strconv.ParseInt(number, 10, 64)
		if found && err == nil {
			acked[id] = max(acked[id], seq)
		}
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != -1 {
		t.Fatalf("the child ended by itself: %v", err)
	}
}

// check opens the file as the next process would.
func check(t *testing.T, path string, acked map[string]int64) {
	t.Helper()
	db, err := sqlite.Open(path, &sqlite.Options{Exclusive: true})
	if err != nil {
		t.Fatalf("open after the kill: %v", err)
	}
	for i := range killThreads {
		id := "t" + strconv.Itoa(i)
		seqs := entries(t, db, id)
		for at, seq := range seqs {
			if seq != int64(at+1) {
				t.Fatalf("thread %s: entry %d has seq %d", id, at+1, seq)
			}
		}
		if int64(len(seqs)) < acked[id] {
			t.Fatalf("thread %s has %d entries, and %d was acknowledged", id, len(seqs), acked[id])
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = raw.Close() }()
	var integrity string
	if err := raw.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&integrity); err != nil ||
		integrity != "ok" {
		t.Fatalf("integrity_check: %s, error %v", integrity, err)
	}
	// Nothing is there by half: each entry has its message, its job and its number in the
	// thread's row.
	var entries, messages, jobs, numbers int
	err = raw.QueryRowContext(t.Context(), `SELECT (SELECT count(*) FROM entry), (SELECT count(*) FROM message),
		(SELECT count(*) FROM job), (SELECT coalesce(sum(last_seq), 0) FROM thread)`).Scan(&entries, &messages, &jobs,
		&numbers)
	if err != nil || entries == 0 || messages != entries || jobs != entries || numbers != entries {
		t.Fatalf("got %d entries, %d messages, %d jobs, numbers up to %d, error %v", entries, messages, jobs, numbers, err)
	}
}
