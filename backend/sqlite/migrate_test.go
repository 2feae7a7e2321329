package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/internal/form"
)

// TestMigrate opens a file of the first schema, with a run that is active, one that has
// ended, a park, and turns that were edited. All of it is there after the migrations, the
// active run counts as one, others can wait for it, and the turns can come back.
func TestMigrate(t *testing.T) {
	t.Parallel()

	ctx, key := context.Background(), spool.ThreadKey{Tenant: "tenant", ID: "t"}
	path := filepath.Join(t.TempDir(), "spool.db")
	firstSchema(t, path)
	db, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()

	all, err := loadMigrations()
	if err != nil {
		t.Fatal(err)
	}
	have := 0
	err = db.View(ctx, key, func(v spool.View) error {
		thread, err := v.Thread()
		if thread.RunID != "active" || thread.State != spool.Running {
			t.Errorf("the thread: %+v", thread)
		}
		run, err2 := spool.FindRun(v, "active")
		if !run.Active() || run.Wait != nil || run.Steps != 3 || run.Nonce != "" {
			t.Errorf("the run: %+v", run)
		}
		line, err3 := v.Runs(spool.RunQuery{Waiting: true, Whole: true})
		if len(line) != 0 {
			t.Errorf("%d runs wait", len(line))
		}
		parks, err4 := v.Parks("active")
		if len(parks) != 1 || parks[0].ToolCallID != "c" {
			t.Errorf("the parks: %+v", parks)
		}
		branches, err5 := v.Branches()
		want := []spool.Branch{
			{ID: 9, FromMessageID: "b", BaseMessageID: "a", MessageCount: 2, Preview: "of b"},
			{ID: 5, FromMessageID: "c", BaseMessageID: "b", BaseBranchID: 9, MessageCount: 1, Preview: "of c", CreatedAt: form.FromMicros(7), RunID: "ended"},
		}
		if diff := cmp.Diff(want, branches); diff != "" {
			t.Errorf("the branches (-want +got):\n%s", diff)
		}
		sums, err6 := v.Usage(spool.UsageQuery{Sums: true})
		if diff := cmp.Diff([]spool.UsageLine{{AgentName: "a", Model: "m", ModelID: "m-1", InputTokens: 7, OutputTokens: 9, Calls: 2}}, sums.Sums); diff != "" {
			t.Errorf("the sums of the ledger (-want +got):\n%s", diff)
		}
		ledger, err7 := v.Usage(spool.UsageQuery{})
		rows := ledger.Rows
		if len(rows) != 1 || rows[0].Kind != spool.UsageStep || rows[0].Cost != nil || rows[0].Usage.Count().TotalTokens != 16 {
			t.Errorf("the ledger: %+v", rows)
		}
		return errors.Join(err, err2, err3, err4, err5, err6, err7)
	})
	if err == nil {
		err = db.pool.read(ctx, func(c *conn) (err error) {
			have, err = version(c)
			return err
		})
	}
	if last := all[len(all)-1].version; err != nil || have != last {
		t.Fatalf("schema %d of %d, %v", have, last, err)
	}
	err = db.Update(ctx, key, 0, func(tx spool.Tx) error {
		return tx.Write(spool.Changes{NewRuns: []spool.RunRow{{Run: spool.Run{ID: "second", State: spool.Queued}}}})
	})
	if !errors.Is(err, spool.ErrActiveRun) {
		t.Errorf("a second active run: %v", err)
	}
	err = db.Update(ctx, key, 0, func(tx spool.Tx) error {
		return tx.Write(spool.Changes{
			NewRuns: []spool.RunRow{{Run: spool.Run{ID: "third", State: spool.Queued, QueuePosition: 1}, RunState: spool.RunState{Wait: &spool.Wait{}}}},
			Drop:    &spool.Drop{From: "e", Seq: 11},
			Restore: 9,
		})
	})
	if err != nil {
		t.Error(err)
	}
}

// TestMigrateRunState: what only the engine needs of a run is what its columns had before they
// became one.
func TestMigrateRunState(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "spool.db")
	firstSchema(t, path)
	all, err := loadMigrations()
	if err != nil {
		t.Fatal(err)
	}
	before := slices.IndexFunc(all, func(m migration) bool { return m.version == 24 })
	c, err := dial(path)
	if err != nil {
		t.Fatal(err)
	}
	const old = `UPDATE run SET segments = 2, start_key = 'key', deaths = 1, saved_fence = 3, saved_n = 14, stop_at = 1700000000000007,
		draft = '{"message":{"id":"m","role":"assistant","content":[]},"usage":{"outputTokens":2}}',
		settled_at = 1700000000123456, settle_claim = 1700000001000000, ending = '{"state":"FAILED","reason":"failed","error":"it \"broke\""}',
		place = 5, wait = '{"whenBusy":"enqueue","position":2,"content":"and “this”"}', host_state = '{ "a": null }', context = '{"tokens":7,"bytes":9,"messages":1}',
		root_id = 'root', nested = '{"callId":"c"}', children = 4, cost_micros = 8, currency = 'EUR', allowance = '{"budget":{"tokens":9},"spent":{}}',
		nonce = 'n', provider_options = '{"seed":7}', carried = 90000001, carried_since = 1700000002000000, alone = 1, alone_deaths = 6,
		scopes = '["read","team:\"a\""]', client = '{"context":[{"description":"d","value":"v"}]}', started_by = 'ann', created_at = 3
		WHERE id = 'ended'`
	if err := errors.Join(migrateTo(c, path, all[:before]), c.exec(old), c.close()); err != nil {
		t.Fatal(err)
	}
	db, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	want := spool.RunRow{
		Run: spool.Run{
			Tenant: "tenant", ID: "ended", ThreadID: "t", CallID: "c", RootID: "root", Agent: "a", Model: "m", State: spool.Completed, StartedBy: "ann",
			EnqueuedAt: form.FromMicros(1), StartedAt: form.FromMicros(1), Steps: 3, TokenCount: spool.TokenCount{InputTokens: 1, CachedInputTokens: 1, OutputTokens: 1, TotalTokens: 1},
			CostMicros: 8, Currency: "EUR", Allowance: &spool.Allowance{Budget: spool.Budget{Tokens: 9}}, Segments: 2, CreatedAt: form.FromMicros(3), QueuePosition: 5,
		},
		RunState: spool.RunState{
			StartKey: "key", HostState: json.RawMessage(`{ "a": null }`), ProviderOptions: json.RawMessage(`{"seed":7}`),
			Client: &spool.ClientInput{Context: []spool.ClientContext{{Description: "d", Value: "v"}}},
			Nonce:  "n", Scopes: []string{"read", `team:"a"`}, Children: 4, Saved: spool.Offset{Fence: 3, N: 14},
			Wait:    &spool.Wait{WhenBusy: spool.BusyEnqueue, Position: 2, Content: spool.TextContent("and “this”")},
			Draft:   &spool.Draft{Message: spool.Message{ID: "m", Role: spool.RoleAssistant, Content: spool.Content{}}, Usage: spool.TokenCount{OutputTokens: 2}},
			Context: &spool.ContextCount{Tokens: 7, Bytes: 9, Messages: 1}, WallTime: 90*time.Second + time.Microsecond,
			WorkerSince: form.FromMicros(1700000002000000), Deaths: 1, Isolated: true, IsolatedDeaths: 6, StopAt: form.FromMicros(1700000000000007),
			Ending:      &spool.Ending{State: spool.Failed, Reason: spool.StopFailed, Error: `it "broke"`},
			SettleClaim: form.FromMicros(1700000001000000), SettledAt: form.FromMicros(1700000000123456),
		},
	}
	err = db.View(t.Context(), spool.ThreadKey{Tenant: "tenant", ID: "t"}, func(v spool.View) error {
		got, err := spool.FindRun(v, "ended")
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("the run (-want +got):\n%s", diff)
		}
		bare, err2 := spool.FindRun(v, "active")
		if diff := cmp.Diff(spool.RunState{}, bare.RunState); diff != "" {
			t.Errorf("a run without state (-want +got):\n%s", diff)
		}
		return errors.Join(err, err2)
	})
	if err != nil {
		t.Error(err)
	}
}

// TestMigrateQueues: the jobs of a file of the last version are in the default queue, and the workers of their
// agents claim them.
func TestMigrateQueues(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "spool.db")
	firstSchema(t, path)
	all, err := loadMigrations()
	if err != nil {
		t.Fatal(err)
	}
	before := slices.IndexFunc(all, func(m migration) bool { return m.version == 25 })
	c, err := dial(path)
	if err != nil {
		t.Fatal(err)
	}
	const (
		columns = "id, tenant, thread_id, run_id, key, kind, agent, model, segment, due_at, attempts"
		values  = " VALUES (?, 'tenant', 't', 'active', ?, 'start', ?, 'm', 1, 1, 1, "
	)
	err = errors.Join(
		migrateTo(c, path, all[:before]),
		c.exec("INSERT INTO job ("+columns+", claimed, token, first_due)"+values+"0, 0, 1)", 1, "one", "a"),
		c.exec("INSERT INTO job ("+columns+", claimed, token, first_due)"+values+"0, 0, 1)", 2, "two", "b"),
		c.exec("INSERT INTO job_dead ("+columns+", cause, died_at, ord)"+values+"'no', 2, 1)", 3, "three", "a"),
		c.close(),
	)
	if err != nil {
		t.Fatal(err)
	}
	db := exclusive(t, path, Options{})
	if got := claimed(t, db, spool.ClaimQuery{Agents: []string{"b"}}); !slices.Equal(got, []string{"two"}) {
		t.Errorf("the worker of b has claimed %q", got)
	}
	if got := claimed(t, db, spool.ClaimQuery{}); !slices.Equal(got, []string{"one"}) {
		t.Errorf("the worker of all has claimed %q", got)
	}
	dead, err := db.Jobs(t.Context(), spool.JobQuery{Tenant: "tenant", State: spool.JobDead})
	if err != nil || len(dead) != 1 || dead[0].Key != "three" || dead[0].Queue != "" || dead[0].Payload != nil || dead[0].Cause != "no" {
		t.Errorf("the dead jobs: %+v, %v", dead, err)
	}
}

// A migration that is merged late, after one with a higher number, is applied to a file that
// has had the higher one, and a file without a list has had what its user_version says.
func TestMigrateLate(t *testing.T) {
	t.Parallel()

	all, err := loadMigrations()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "spool.db")
	firstSchema(t, path)
	c, err := dial(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.close() }()
	with := func(more ...migration) []migration { return append(slices.Clone(all), more...) }
	late := migration{version: 901, name: "901_late.sql", sql: "CREATE TABLE late (tenant TEXT PRIMARY KEY) STRICT"}
	early := migration{version: 902, name: "902_early.sql", sql: "CREATE TABLE early (tenant TEXT PRIMARY KEY) STRICT"}
	for range 2 { // the second time there is nothing to do
		if err := migrateTo(c, path, with(early)); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := migrateTo(c, path, with(late, early)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(c.exec("SELECT tenant FROM late"), c.exec("SELECT tenant FROM early")); err != nil {
		t.Error(err)
	}
	have, err := applied(c)
	if err != nil || len(have) != len(all)+2 || !have[1] || !have[901] || !have[902] {
		t.Errorf("the file has had %v, %v", have, err)
	}
	if last, err := version(c); last != 902 || err != nil {
		t.Errorf("user_version is %d, %v", last, err)
	}
	// A program without the late one must not write to the file.
	err = migrateTo(c, path, with(early))
	if spool.CodeOf(err) != spool.Conflict || !strings.Contains(spool.MessageOf(err), "migration 901") {
		t.Errorf("a program that does not know the late migration: got error %v, want a conflict that names it", err)
	}
}

// firstSchema writes a file as the first version of the program did.
func firstSchema(t *testing.T, path string) {
	t.Helper()
	all, err := loadMigrations()
	if err != nil {
		t.Fatal(err)
	}
	if err := create(path); err != nil {
		t.Fatal(err)
	}
	c, err := dial(path)
	if err != nil {
		t.Fatal(err)
	}
	const run = `INSERT INTO run VALUES ('tenant', ?, 't', ?, '', 0, 'a', 'm', ?, '', '', 1, 1, 0, 0, 3, 0,
		1, 1, 1, 1, 1, 0, 0, 0, 0, '', '', 0, 0, '')`
	const message = `INSERT INTO message SELECT 'tenant', 't', column1, column2, '', 'user', '"of ' || column2 || '"', 1, '', 'ended', 0, column3
		FROM (VALUES (?, ?, ?))`
	err = errors.Join(
		useWAL(c),
		c.exec(all[0].sql), c.exec("PRAGMA user_version = 1"),
		c.exec("INSERT INTO thread VALUES ('tenant', 't', 'RUNNING', 'm', 'title', 1, 1, 'active', 0, 1, 0)"),
		c.exec(run, "ended", 1, spool.Completed),
		c.exec(run, "active", 2, spool.Running),
		c.exec("INSERT INTO entry VALUES ('tenant', 't', 5, 'MESSAGES_DROPPED', 'ended', '{}', 7, '', 0, 0)"),
		c.exec(message, 1, "a", nil), c.exec(message, 2, "b", int64(9)), c.exec(message, 3, "c", int64(5)),
		c.exec(message, 4, "d", int64(9)), c.exec(message, 5, "e", nil),
		c.exec("INSERT INTO usage VALUES ('tenant', 't', 2, 'ended', '', 'a', 1, 'm', 'm-1', 'finished', 7, 0, NULL, 9, NULL, 1)"),
		c.exec("INSERT INTO usage_line VALUES ('tenant', 't', '', 'a', 'm', 'm-1', 1, 7, 0, 0, 9, 0, 2)"),
		c.exec("INSERT INTO park VALUES ('tenant', 't', 'active', 'c', 1, 'tool', 1, '{}', '', 'approval', 'open', '', '', 0, 1, 2)"),
		c.close(),
	)
	if err != nil {
		t.Fatal(err)
	}
}
