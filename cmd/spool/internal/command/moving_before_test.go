package command

import (
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/postgres"
	"github.com/spoolhq/spool/backend/sqlite"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/internal/testing/pgtest"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// TestMoveBefore imports what `spool export` of commit b2fc5f86 wrote, the last one before the baseline of the schema.
// The server was `spool serve` with the demo model, and was stopped. Its thread "done" has an ended run and one that
// took its place, with a call. In "waiting" a run asks for an approval, and another one waits behind it. Today's
// program takes the answer, and both runs end.
func TestMoveBefore(t *testing.T) {
	t.Parallel()

	clock := spooltest.NewClock()
	clock.Advance(time.UnixMicro(1795936183406154).Sub(clock.Now())) // of the last commit, before the question expires
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		data := t.TempDir()
		importsBefore(t, "--data", data)
		db, err := sqlite.Open(filepath.Join(data, databaseName), &sqlite.Options{Exclusive: true, Clock: clock})
		if err != nil {
			t.Fatal(err)
		}
		answersBefore(t, db.Backend())
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		url := pgtest.Database(t, nil)
		importsBefore(t, "--database", url)
		db, err := postgres.Open(t.Context(), url, &postgres.Options{Clock: clock})
		if err != nil {
			t.Fatal(err)
		}
		answersBefore(t, db.Backend())
	})
}

func importsBefore(t *testing.T, to ...string) {
	t.Helper()
	got := command(nil, append(append([]string{"import"}, to...), filepath.Join("testdata", "b2fc5f86.jsonl"))...)
	if got.code != exitOK || !strings.Contains(got.stderr, "added 2 kinds of shared rows, 2 threads") {
		t.Fatalf("import: %+v", got)
	}
}

// answersBefore answers the question that waits, and checks both threads once their runs have ended.
func answersBefore(t *testing.T, b store.Backend) {
	t.Helper()

	var s setup
	s.demo()
	s.engine.Log = slog.New(slog.DiscardHandler)
	e, err := engine.New(b, s.engine)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	worked := make(chan error, 1)
	go func() { worked <- e.Work(ctx, engine.WorkOptions{}) }()
	t.Cleanup(func() {
		cancel()
		if err := testwait.For(t, worked, "the end of the worker"); err != nil {
			t.Error(err)
		}
		if err := b.Store.Close(); err != nil {
			t.Error(err)
		}
	})

	done, waiting := spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "done"},
		spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "waiting"}
	snapshot := func(key spool.ThreadKey) *wire.Snapshot {
		t.Helper()
		s, err := e.Snapshot(t.Context(), key, nil)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	at := slices.IndexFunc(snapshot(waiting).ActiveEvents,
		func(e wire.Entry) bool { return e.Type == wire.EntryInputRequired })
	if at < 0 {
		t.Fatalf("nothing waits: %+v", snapshot(waiting))
	}
	var asked wire.InputRequired
	if err := json.Unmarshal(snapshot(waiting).ActiveEvents[at].Payload, &asked); err != nil {
		t.Fatal(err)
	}
	r, err := e.Respond(t.Context(), waiting,
		wire.Response{ToolCallID: asked.ToolCallID, Approved: true, Digest: asked.Digest, By: "ann"})
	if err != nil || !r.Delivered {
		t.Fatalf("the answer: %+v, %v", r, err)
	}
	limit := testwait.Context(t, "the end of the run that waited and of the one behind it")
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	goesOn := func(r wire.Run) bool { return r.State != wire.Completed }
	for slices.ContainsFunc(snapshot(waiting).Runs, goesOn) {
		select {
		case <-tick.C:
		case <-limit.Done():
			t.Fatalf("%v: %+v", context.Cause(limit), snapshot(waiting))
		}
	}

	h := &spooltest.History{Settled: true}
	for key, want := range map[spool.ThreadKey][]string{
		done: {"use clock with {}", "I call clock.", "2026-11-29T07:09:39Z", "clock answered"},
		waiting: {
			"use send_email", "I call send_email.", "No email was sent to ann@example.com", "send_email answered", "And then?",
			"You said: And then?",
		},
	} {
		s := snapshot(key)
		for i, m := range s.Messages {
			if text, err := m.Content.MarshalJSON(); err != nil || i >= len(want) || !strings.Contains(string(text), want[i]) {
				t.Errorf("message %d of %s is %s, want one with %q", i, key.ID, text, want)
			}
		}
		if s.Thread.State != wire.Completed || len(s.Messages) != len(want) || len(s.Runs) != 2 {
			t.Errorf("the thread %s: %+v", key.ID, s)
		}
		if err := h.Read(t.Context(), b.Store, key); err != nil {
			t.Fatal(err)
		}
	}
	spooltest.Check(t, h)
	branches, err := e.Branches(t.Context(), done)
	if err != nil || len(branches) != 1 || branches[0].Preview != "hello" {
		t.Errorf("the branches: %+v, %v", branches, err)
	}
}
