package sqlite_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/sqlite"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/spooltest"
)

// upgraded is an engine over a database that an older version has left.
type upgraded struct {
	*testing.T
	db     *sqlite.DB
	engine *engine.Engine

	mu    sync.Mutex
	calls map[string]int // of tools, by name and arguments
}

// TestUpgrade: what the version before the list of migrations has left, waiting, queued or
// in the middle of its work, goes on in this version and comes to its end.
func TestUpgrade(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "spool.db")
	load(t, path, filepath.Join("testdata", "schema_10.sql"))
	clock := spooltest.NewClock() // the parks expire 15 minutes after its time
	clock.Advance(10 * time.Second)
	u := &upgraded{T: t, calls: make(map[string]int)}
	u.db = open(t, path, &sqlite.Options{Exclusive: true, Clock: clock})
	u.begin()

	// Nobody need do anything for those that were queued or running. The step that was saved
	// is not done again.
	u.ends("queued", "user hello", "assistant hi")
	u.ends("running", "user look slowly", "assistant ", "tool ", "assistant looked")
	u.ends("done", "user hello", "assistant hi")

	// Those that waited are still to be answered, by the digest that people were shown.
	u.becomes("cut", spool.WaitingForInput)
	for _, id := range []string{"cut", "parked", "half", "nested", "line"} {
		u.answer(id)
	}
	u.ends("cut", "user touch", "assistant ", "tool ", "assistant touched it")
	u.ends("parked", "user send mail", "assistant ", "tool ", "assistant mailed")
	u.ends("half", "user send two", "assistant ", "tool ", "assistant both mailed")
	u.ends("nested", "user delegate", "user send for me", "assistant ", "assistant ", "tool ", "assistant sent for you", "tool ", "assistant delegated")
	u.ends("line", "user send mail", "assistant ", "tool ", "assistant mailed", "user next", "assistant next done")

	want := map[string]int{`send {"to":"ann"}`: 3, `send {"to":"bob"}`: 1, `send {"to":"eve"}`: 1, `touch {}`: 1}
	if diff := cmp.Diff(want, u.calls); diff != "" {
		t.Errorf("the calls of tools (-want +got):\n%s", diff)
	}
	if r, err := sqlite.Check(t.Context(), path); err != nil || len(r.Problems) > 0 || r.Threads != 8 {
		t.Errorf("the database: %+v, %v", r, err)
	}
}

// load makes a database of a dump.
func load(t *testing.T, path, dump string) {
	t.Helper()
	text, err := os.ReadFile(dump)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := raw.ExecContext(t.Context(), string(text)); err != nil {
		t.Fatal(err)
	}
	if err := raw.Close(); err != nil {
		t.Fatal(err)
	}
}

// begin starts an engine with the agent of the dump, and a worker.
func (u *upgraded) begin() {
	u.Helper()
	use := func(id spool.ToolCallID, name, args string) spooltest.Call {
		return spooltest.Call{ID: id, Name: name, Args: args}
	}
	turns := map[string][]spooltest.Turn{
		"send mail":   {spooltest.Use(use("c1", "send", `{"to":"ann"}`)), spooltest.Say("mailed")},
		"send two":    {spooltest.Use(use("c1", "send", `{"to":"ann"}`), use("c2", "send", `{"to":"bob"}`)), spooltest.Say("both mailed")},
		"delegate":    {spooltest.Use(use("c1", engine.SpawnTool, `{"name":"helper","instructions":"send for me"}`)), spooltest.Say("delegated")},
		"send for me": {spooltest.Use(use("c1", "send", `{"to":"eve"}`)), spooltest.Say("sent for you")},
		"next":        {spooltest.Say("next done")},
		"look slowly": {spooltest.Use(use("c1", "look", "{}")), spooltest.Say("looked")},
		"touch":       {spooltest.Use(use("c1", "touch", "{}")), spooltest.Say("touched it")},
		"hello":       {spooltest.Say("hi")},
	}
	model := spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		prompt := ""
		for _, m := range r.Messages {
			if m.Role == spool.RoleUser {
				prompt = m.Text()
			}
		}
		return turns[prompt][spooltest.StepOf(r)]
	})
	send, look, touch := u.tool("send"), u.tool("look"), u.tool("touch")
	send.Approval = spool.AlwaysApprove
	tools := []spool.Tool{send, look, touch}
	var err error
	u.engine, err = engine.New(u.db.Backend(), engine.Config{
		Log:    slog.New(slog.DiscardHandler),
		Models: map[string]spool.Model{"m": model},
		Agents: []engine.Agent{{
			Name: "a", Model: "m", Tools: tools,
			Spawn: &engine.Spawn{Profiles: map[string]engine.Profile{"helper": {Tools: tools}}},
		}},
	})
	if err != nil {
		u.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- u.engine.Work(ctx, engine.WorkOptions{}) }()
	u.Cleanup(func() {
		cancel()
		if err := testwait.For(u, done, "the end of the worker"); err != nil {
			u.Error(err)
		}
	})
}

func (u *upgraded) tool(name string) spool.Tool {
	return spool.Tool{
		ToolSpec: spool.ToolSpec{Name: name, Description: name, Parameters: json.RawMessage(`{"type":"object"}`)},
		Call: func(_ context.Context, c spool.ToolCall) (json.RawMessage, error) {
			u.mu.Lock()
			defer u.mu.Unlock()
			u.calls[name+" "+string(c.Args)]++
			return json.RawMessage(`"` + name + `"`), nil
		},
	}
}

// becomes waits, not for ever, until a thread is in a state and nothing is left to do for it.
func (u *upgraded) becomes(id string, state spool.State) *spool.Snapshot {
	u.Helper()
	end := time.After(30 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		s, err := u.engine.Snapshot(u.Context(), key(id), nil)
		if err != nil {
			u.Fatal(err)
		}
		waiting := false
		for _, r := range s.Runs {
			waiting = waiting || r.State == spool.Queued
		}
		if s.Thread.State == state && !waiting {
			return s
		}
		select {
		case <-tick.C:
		case <-end:
			u.Fatalf("the thread %s is %s, and not %s: %+v", id, s.Thread.State, state, s.Runs)
		}
	}
}

// ends waits until all runs of a thread are completed, and compares its messages.
func (u *upgraded) ends(id string, want ...string) {
	u.Helper()
	s := u.becomes(id, spool.Completed)
	for _, r := range s.Runs {
		if r.State != spool.Completed {
			u.Errorf("the run %s is %s: %s", r.ID, r.State, r.Error)
		}
	}
	var got []string
	err := u.db.View(u.Context(), key(id), func(v spool.View) error {
		messages, err := v.Messages(spool.MessageQuery{})
		for _, m := range messages {
			got = append(got, string(m.Role)+" "+m.Text())
		}
		entries, err2 := v.Entries(spool.EntryQuery{})
		for i, e := range entries {
			if e.Seq != int64(i+1) {
				u.Errorf("entry %d of %s has seq %d", i+1, id, e.Seq)
			}
		}
		return errors.Join(err, err2)
	})
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		u.Errorf("the messages of %s, %v (-want +got):\n%s", id, err, diff)
	}
}

// answer approves what a thread waits for.
func (u *upgraded) answer(id string) {
	u.Helper()
	s, err := u.engine.Snapshot(u.Context(), key(id), nil)
	if err != nil {
		u.Fatal(err)
	}
	answered := 0
	for _, e := range s.ActiveEvents {
		var asked spool.InputRequired
		if e.Type != spool.EntryInputRequired || json.Unmarshal(e.Payload, &asked) != nil || asked.Digest == "" {
			continue
		}
		r, err := u.engine.Respond(u.Context(), key(id), engine.Response{
			ToolCallID: asked.ToolCallID, Approved: true, Digest: asked.Digest, By: "ann",
		})
		switch {
		case err == nil && r.Delivered:
			answered++
		case err != nil || !strings.Contains(r.Reason, "answered"):
			u.Errorf("the answer to %s of %s: %+v, %v", asked.ToolCallID, id, r, err)
		}
	}
	if answered != 1 {
		u.Errorf("%d parks of %s were answered", answered, id)
	}
}
