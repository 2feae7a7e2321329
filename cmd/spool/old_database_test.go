package main

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite" // the driver that loads the dump

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/sqlite"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
)

// The dump is of a database that `spool serve` of commit 783d7e9 left when it was killed.
// Its runs were queued, in the middle of a model call or of a nested run, or parked. Today's
// program, with the same demo agents, executes all of them to their end.
func TestOldDatabase(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "spool.db")
	restore(t, path, filepath.Join("testdata", "783d7e9.sql"))
	synctest.Test(t, func(t *testing.T) {
		killed := time.UnixMicro(1795382790414532) // before the first park expires
		<-time.After(time.Until(killed) + time.Second)
		o := &oldDatabase{T: t}
		o.open(path)

		// Runs that were queued or running need nobody.
		const said = "(demo model, not a language model)"
		for _, id := range append(numbered("q", 24), "running", "deepslow") {
			o.ends(id, said)
		}
		o.ends("done", said)
		o.ends("budget", "")
		// Parked runs still take the answer to the digest that was shown.
		for _, id := range []string{"parked", "nested", "answered"} {
			o.approve(id)
			o.ends(id, "No email was sent to ")
		}
		o.branch("done", "hello again")
		o.check()
	})
	if r, err := sqlite.Check(t.Context(), path); err != nil || len(r.Problems) > 0 || r.Threads != 31 {
		t.Errorf("the database: %+v, %v", r, err)
	}
}

// restore makes a database of a dump.
func restore(t *testing.T, path, dump string) {
	t.Helper()
	text, err := os.ReadFile(dump)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), string(text))
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

func numbered(prefix string, n int) (ids []string) {
	for i := range n {
		ids = append(ids, fmt.Sprint(prefix, i+1))
	}
	return ids
}

// oldDatabase is an engine with the demo agents over the database, and what it has done.
type oldDatabase struct {
	*testing.T

	store   spool.Store
	before  []spooltest.ThreadDump // by their ids
	engine  *engine.Engine
	history spooltest.History
	end     func()
}

func (o *oldDatabase) open(path string) {
	o.Helper()
	db, err := sqlite.Open(path, &sqlite.Options{Exclusive: true})
	if err != nil {
		o.Fatal(err)
	}
	var s setup
	s.demo()
	s.engine.Log = slog.New(slog.DiscardHandler)
	for i := range s.engine.Agents {
		a := &s.engine.Agents[i]
		o.remember(a.Tools)
		for _, p := range a.Spawn.Profiles {
			o.remember(p.Tools)
		}
	}
	o.store = db
	if o.before = o.read(); len(o.before) != 31 {
		o.Fatalf("the dump has %d threads, and not 31", len(o.before))
	}
	if o.engine, err = engine.New(o.history.Record(db.Backend()), s.engine); err != nil {
		o.Fatal(err)
	}
	done := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { done <- o.engine.Work(ctx, engine.WorkOptions{}) }()
	o.end = func() {
		cancel()
		if err := <-done; err != nil {
			o.Error(err)
		}
	}
}

func (o *oldDatabase) remember(tools []spool.Tool) {
	for i := range tools {
		tools[i] = o.history.Tool(tools[i])
	}
}

func (o *oldDatabase) snapshot(id string) *spool.Snapshot {
	o.Helper()
	s, err := o.engine.Snapshot(o.Context(), oldKey(id), nil)
	if err != nil {
		o.Fatal(err)
	}
	return s
}

// ends waits until each run of a thread is completed. The thread's last message has the text then.
func (o *oldDatabase) ends(id, text string) {
	o.Helper()
	s := o.snapshot(id)
	for range 600 {
		if !slices.ContainsFunc(s.Runs, func(r spool.Run) bool { return r.Active() || r.State == spool.Queued }) {
			break
		}
		<-time.After(time.Second)
		s = o.snapshot(id)
	}
	for _, r := range s.Runs {
		if r.State != spool.Completed {
			o.Errorf("run %s of %s is %s: %s", r.ID, id, r.State, r.Error)
		}
	}
	if last := s.Messages[len(s.Messages)-1]; s.Thread.State != spool.Completed || !strings.Contains(last.Text(), text) {
		o.Errorf("thread %s is %s, and its last message is %q", id, s.Thread.State, last.Text())
	}
}

// approve approves the call that a thread waits for.
func (o *oldDatabase) approve(id string) {
	o.Helper()
	var got []engine.RespondResult
	for _, e := range o.snapshot(id).ActiveEvents {
		var asked spool.InputRequired
		if e.Type != spool.EntryInputRequired || json.Unmarshal(e.Payload, &asked) != nil {
			continue
		}
		r, err := o.engine.Respond(o.Context(), oldKey(id), engine.Response{
			ToolCallID: asked.ToolCallID, Approved: true, Digest: asked.Digest, By: "ann",
		})
		if err != nil {
			o.Error(err)
		}
		got = append(got, r)
	}
	if len(got) == 0 || !got[len(got)-1].Delivered {
		o.Errorf("the answers of %s: %+v", id, got)
	}
}

// branch compares the prompt that an edit took out of view.
func (o *oldDatabase) branch(id, prompt string) {
	o.Helper()
	branches, err := o.engine.Branches(o.Context(), oldKey(id))
	if err != nil || len(branches) != 1 {
		o.Fatalf("branches of %s: %+v, %v", id, branches, err)
	}
	b, err := o.engine.Branch(o.Context(), oldKey(id), branches[0].ID, nil)
	if err != nil || len(b.Messages) != 2 || b.Messages[0].Text() != prompt {
		o.Errorf("the branch of %s: %+v, %v", id, b, err)
	}
}

// read returns what the store has of all threads.
func (o *oldDatabase) read() (threads []spooltest.ThreadDump) {
	o.Helper()
	list, err := o.store.Threads(o.Context(), spool.ThreadQuery{Tenant: spool.DefaultTenant})
	if err != nil {
		o.Fatal(err)
	}
	var h spooltest.History
	for _, t := range list {
		if err := h.Read(o.Context(), o.store, t.Key()); err != nil {
			o.Fatal(err)
		}
	}
	slices.SortFunc(h.Threads, func(a, b spooltest.ThreadDump) int { return cmp.Compare(a.Thread.ID, b.Thread.ID) })
	return h.Threads
}

// check stops the worker, and checks the history. Commits and threads are checked apart: the
// commits before the dump are not known.
func (o *oldDatabase) check() {
	o.Helper()
	o.end()
	for i, now := range o.read() {
		was := o.before[i]
		if len(now.Messages) < len(was.Messages) || len(now.Entries) < len(was.Entries) {
			o.Errorf("thread %s has lost messages or entries: it had %d and %d, and has %d and %d", was.Thread.ID,
				len(was.Messages), len(was.Entries), len(now.Messages), len(now.Entries))
			continue
		}
		if diff := gocmp.Diff(was.Messages, now.Messages[:len(was.Messages)]); diff != "" {
			o.Errorf("messages of %s have changed (-before +now):\n%s", was.Thread.ID, diff)
		}
		if diff := gocmp.Diff(was.Entries, now.Entries[:len(was.Entries)]); diff != "" {
			o.Errorf("entries of %s have changed (-before +now):\n%s", was.Thread.ID, diff)
		}
		if diff := gocmp.Diff(was.Branches, now.Branches); diff != "" {
			o.Errorf("branches of %s have changed (-before +now):\n%s", was.Thread.ID, diff)
		}
		o.history.Threads = append(o.history.Threads, now)
	}
	spooltest.Check(o, &spooltest.History{Threads: o.history.Threads, Executions: o.history.Executions, Settled: true})
	o.history.Threads = nil
	spooltest.Check(o, &o.history)
	if err := o.store.Close(); err != nil {
		o.Error(err)
	}
}

func oldKey(id string) spool.ThreadKey {
	return spool.ThreadKey{Tenant: spool.DefaultTenant, ID: spool.ThreadID(id)}
}
