package sqlite

import (
	"context"
	"encoding/json"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// oneCall is a model that calls a tool once and then says something.
type oneCall struct{}

func (oneCall) Stream(_ context.Context, r spool.ModelRequest) iter.Seq2[spool.ModelEvent, error] {
	return func(yield func(spool.ModelEvent, error) bool) {
		if r.Messages[len(r.Messages)-1].Role == spool.RoleUser {
			_ = yield(spool.ToolCallStart{ID: "c", Name: "look"}, nil) &&
				yield(spool.ToolCallEnd{ID: "c", Name: "look", Args: "{}"}, nil) &&
				yield(spool.Finish{Reason: spool.FinishToolCalls}, nil)
			return
		}
		for range 50 {
			if !yield(spool.TextDelta{Text: "and so on "}, nil) {
				return
			}
		}
		yield(spool.Finish{Reason: spool.FinishStop}, nil)
	}
}

// What a run with one tool call has the writer do at the most. The commits are those of the
// start, of the claims of job and run, of the draft, of the calls, of the answer with the end,
// and of the job's end. The bytes of thread and tenant take two statements: a commit of calls
// changes nothing else of the thread's row. The deltas of the start, the claim, the answer to the
// calls and the end take one each.
const (
	mostStatements = 61
	mostCommits    = 6
)

// TestCostOfARun counts, so that nobody makes a run more expensive without noticing: statements
// are a third of its CPU.
func TestCostOfARun(t *testing.T) {
	t.Parallel()

	db, err := Open(filepath.Join(t.TempDir(), "spool.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	look := spool.Tool{
		ToolSpec: spool.ToolSpec{Name: "look"},
		Call: func(context.Context, spool.ToolCall) (json.RawMessage, error) {
			return json.RawMessage(`"nothing"`), nil
		},
	}
	e, err := engine.New(db.Backend(), engine.Config{
		SingleProcess: true,
		Agents:        []spool.Agent{{Name: "agent", Model: "m", Tools: []spool.Tool{look}}},
		Models:        map[string]spool.Model{"m": oneCall{}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	run := func(thread spool.ThreadID) {
		t.Helper()
		key := spool.ThreadKey{Tenant: "acme", ID: thread}
		started, err := e.Run(t.Context(), key,
			wire.StartRequest{StartOptions: wire.StartOptions{Agent: "agent"}, Prompt: "look"})
		if err != nil || !started.Accepted {
			t.Fatal(started, err)
		}
		taken, _, err := db.Claim(t.Context(), store.ClaimQuery{Limit: 1, Lease: time.Minute, Agents: []string{"agent"}})
		if err != nil || len(taken) != 1 {
			t.Fatal(taken, err)
		}
		if done, err := e.HandleJob(t.Context(), taken[0].Job); err != nil || !done.Accepted {
			t.Fatal(done, err)
		}
		err = db.View(t.Context(), key, func(v store.View) error {
			run, err := store.FindRun(v, started.RunID)
			if err == nil && (run.State != wire.Completed || run.Steps != 2) {
				t.Errorf("the run is %s with %d steps", run.State, run.Steps)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	run("first") // a tenant's first rows are made, and all statements prepared
	before := runs(t, db)
	run("second")
	after := runs(t, db)
	statements, commits := int64(0), int64(0)
	for _, query := range slices.Sorted(maps.Keys(after)) {
		n := after[query] - before[query]
		if n == 0 {
			continue
		}
		t.Logf("%d %s", n, strings.Join(strings.Fields(query), " "))
		statements += n
		if query == "COMMIT" {
			commits = n
		}
	}
	statements, commits = statements-2, commits-1 // but for the look at the counts
	if statements > mostStatements || commits > mostCommits {
		t.Errorf("a run takes %d statements and %d commits, and took %d and %d", statements, commits, mostStatements,
			mostCommits)
	}
}

// runs returns how often each statement of the writer has been run.
func runs(t *testing.T, db *DB) map[string]int64 {
	t.Helper()
	counts := make(map[string]int64)
	err := db.queue(context.Background(), func(tx *tx) error {
		for query, s := range tx.c.stmts {
			counts[query] = s.Runs()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return counts
}
