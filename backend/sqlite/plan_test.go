package sqlite

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// TestPlans has every statement prepared by using it, and checks that none reads a whole
// table or sorts more than what belongs to one run or thread, or is stranded.
func TestPlans(t *testing.T) {
	t.Parallel()

	db, err := Open(filepath.Join(t.TempDir(), "spool.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	useEverything(t, db)

	var plans []plan
	for _, c := range append(db.pool.idle, db.starts.idle...) {
		plans = append(plans, explain(t, c)...)
	}
	err = db.queue(context.Background(), func(tx *tx) error {
		plans = append(plans, explain(t, tx.c)...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(plans) < 30 {
		t.Errorf("only %d statements were seen", len(plans))
	}
	for _, p := range plans {
		p.check(t)
	}
}

type plan struct{ query, steps string }

func (p plan) check(t *testing.T) {
	t.Helper()
	for _, rule := range []struct{ in, want string }{
		{"SELECT seq,", "SEARCH"},
		{"INDEXED BY entry_run", "entry_run (tenant=? AND thread_id=? AND run_id=?"},
		{"INDEXED BY entry_type", "entry_type (tenant=? AND thread_id=? AND type=?"},
		{"AND dropped IS NULL AND id = ?", "message_id (tenant=? AND thread_id=? AND id=?"},
		{"AND dropped = ? AND id = ?", "message_id (tenant=? AND thread_id=? AND id=?"},
		{"INDEXED BY message_turn", "message_turn (tenant=? AND thread_id=? AND after_seq>? AND after_seq<?)"},
		{"INDEXED BY message_branch", "message_branch (tenant=? AND thread_id=? AND dropped=?"},
		{"AND role = 'system'", "message_summary (tenant=? AND thread_id=?"},
		{"FROM branch b", "message_branch (tenant=? AND thread_id=? AND dropped=?"},
		{"INDEXED BY usage_run", "usage_run (tenant=? AND thread_id=? AND run_id=?"},
		{"AND start_key = ? AND", "run_start_key (tenant=? AND start_key=?"},
		{"FROM run WHERE tenant = ? AND thread_id = ? ORDER BY ord DESC LIMIT ?", "run_thread"},
		{"AND root_id = ? AND root_id", "run_nested (tenant=? AND thread_id=? AND root_id=?"},
		{"AND place > 0 ORDER BY place", "run_waiting (tenant=? AND thread_id=?"},
		{
			"thread_owner WHERE tenant = ? AND owner = ? AND owner <> '' AND (updated_at",
			"thread_owner (tenant=? AND owner=? AND (updated_at,id)<",
		},
		{"SELECT id AS found FROM thread", "USING COVERING INDEX thread_"},
		{"CROSS JOIN thread ON", "SEARCH thread USING PRIMARY KEY (tenant=? AND id=?)"},
		{"FROM thread WHERE tenant = ? AND (updated_at, id) <", "thread_updated (tenant=? AND (updated_at,id)<"},
		{"FROM wanted CROSS JOIN job INDEXED BY job_due", "job_due (queue=? AND lane=? AND due_at<?"},
		{"CROSS JOIN job AS j INDEXED BY job_due", "SEARCH j USING COVERING INDEX job_due (queue=? AND lane=?)"},
		{
			"CROSS JOIN job AS j INDEXED BY job_tenant_due",
			"SEARCH j USING COVERING INDEX job_tenant_due (queue=? AND lane=? AND tenant=?)",
		},
		{"SELECT min(due) FROM", "job_due (queue=? AND lane=? AND due_at>?"},
		{"WHERE queue = queues.q) FROM queues", "job_due (queue=?)"},
		{"SELECT q, (SELECT min(lane) FROM job", "job_due (queue=? AND lane>?)"},
		{"SELECT min(queue) FROM job", "job_due (queue>?)"},
		{"SELECT tenant, subject, count(*)", "SCAN job USING COVERING INDEX job_claimed"},
		{"FROM job INDEXED BY job_tenant_due\n", "job_tenant_due (queue=? AND lane=? AND tenant=? AND due_at<?"},
		{"AND tenant = ? AND subject = ? AND due_at <= ?", "job_subject_due (queue=? AND lane=? AND tenant=? AND subject=? AND due_at<?"},
		{", person(q, l, subject)", "SEARCH job USING COVERING INDEX job_subject_due (queue=? AND lane=? AND tenant=?)"},
		{
			", person(q, l, subject)",
			"SEARCH job USING COVERING INDEX job_subject_due (queue=? AND lane=? AND tenant=? AND subject>?",
		},
		{
			", person(q, l, subject)",
			"SEARCH job USING COVERING INDEX job_subject_due (queue=? AND lane=? AND tenant=? AND subject=?",
		},
		{", holder(q, l, tenant)", "SEARCH job USING COVERING INDEX job_tenant_due (queue=? AND lane=?)"},
		{", holder(q, l, tenant)", "SEARCH job USING COVERING INDEX job_tenant_due (queue=? AND lane=? AND tenant>?"},
		{", holder(q, l, tenant)", "SEARCH job USING COVERING INDEX job_tenant_due (queue=? AND lane=? AND tenant=?"},
		{"INDEXED BY thread_active", "job_run (tenant=? AND thread_id=? AND run_id=?"},
		{"INDEXED BY thread_active", "thread_active (lease_until<?"},
		{"INDEXED BY thread_idle", "thread_idle (updated_at<?"},
		{"AND job.run_id > ''", "job_run (tenant=? AND thread_id=? AND run_id>?"},
		{"INDEXED BY thread_updated WHERE tenant = ? AND state IN", "thread_updated (tenant=? AND updated_at<?"},
		{"FROM job NOT INDEXED", "INTEGER PRIMARY KEY (rowid=?)"},
		{"INDEXED BY job_named", "job_named (tenant=? AND thread_id=? AND queue=? AND subject=? AND first_due>?)"},
		{"INDEXED BY job_first_due WHERE tenant = ? AND first_due >=", "job_first_due (tenant=? AND first_due>?)"},
		{"DELETE FROM job WHERE tenant = ? AND thread_id = ?", "job_run (tenant=? AND thread_id=? AND run_id>?"},
		{"FROM job_dead INDEXED BY job_dead_id", "job_dead_id (tenant=? AND id=?"},
		{"FROM keyed_value WHERE tenant = ?", "PRIMARY KEY (tenant=? AND kind=?"},
		{"UPDATE keyed_value", "PRIMARY KEY (tenant=? AND kind=? AND key=?"},
		{"DELETE FROM keyed_value WHERE tenant = ?", "PRIMARY KEY (tenant=? AND kind=? AND key=?"},
		{"INDEXED BY keyed_value_expires", "keyed_value_expires (expires_at>? AND expires_at<?"},
		{"DELETE FROM job_dead WHERE tenant = ? AND ord IN", "(tenant=? AND ord=?"},
		{"FROM tally", "(tenant=?"},
		{"FROM delta WHERE tenant = ?", "PRIMARY KEY (tenant=? AND thread_id=?"},
		{
			"FROM delta WHERE tenant = ? AND thread_id = ? AND version >", "PRIMARY KEY (tenant=? AND thread_id=? AND version>?",
		},
		{"FROM thread INDEXED BY thread_expired", "thread_expired (tenant=? AND (updated_at,id)<"},
		{"INDEXED BY park_expired", "park_expired (tenant=?"},
		{"INDEXED BY park_age", "park_age (tenant=?"},
		{"INDEXED BY park_expiry", "park_expiry (tenant=? AND expires_at>?"},
		{"FROM run r WHERE", "sqlite_autoindex_run_1 (tenant=? AND id=?)"},
		{"FROM run c WHERE", "SEARCH c USING INDEX sqlite_autoindex_run_1 (tenant=? AND id=?)"},
		{"FROM thread t WHERE t.tenant = park.tenant", "SEARCH t USING PRIMARY KEY (tenant=? AND id=?)"},
		{"FROM run WHERE tenant = ? AND id IN", "sqlite_autoindex_run_1 (tenant=? AND id=?)"},
		{"FROM thread WHERE tenant = ? AND id IN", "PRIMARY KEY (tenant=? AND id=?)"},
		{"FROM audit WHERE tenant = ?", "PRIMARY KEY (tenant=?"},
		{"FROM audit INDEXED BY audit_thread", "audit_thread (tenant=? AND thread_id=?"},
		{"DELETE FROM audit", "audit_at (at<?"},
	} {
		if strings.Contains(p.query, rule.in) && !strings.Contains(p.steps, rule.want) {
			t.Errorf("%s\nis planned as %s\nwant %s", p.query, p.steps, rule.want)
		}
	}
	if strings.Contains(p.steps, "TEMP B-TREE") && !strings.Contains(p.query, "FROM park WHERE") &&
		!strings.Contains(p.query, "FROM effect") && !strings.Contains(p.query, "FROM usage_line") &&
		!strings.Contains(p.query, "INDEXED BY run_thread") && !strings.Contains(p.query, "INDEXED BY thread_active") &&
		!strings.Contains(p.query, "CROSS JOIN thread ON") && !strings.Contains(p.query, "INDEXED BY job_run") &&
		!strings.Contains(p.query, "INDEXED BY job_dead_thread") {
		t.Errorf("%s\nsorts: %s", p.query, p.steps)
	}
	// Stats counts; a claim goes through what its own query has found.
	found := strings.NewReplacer("SCAN (subquery-1)", "", "SCAN holder", "", "SCAN person", "", "SCAN json_each", "",
		"SCAN wanted", "", "SCAN queues", "", "SCAN lanes", "")
	if strings.Contains(found.Replace(p.steps), "SCAN") && !strings.Contains(p.query, "count(*)") {
		t.Errorf("%s\nreads a whole table: %s", p.query, p.steps)
	}
}

// explain returns the plans of all statements that a connection has prepared.
func explain(t *testing.T, c *conn) (plans []plan) {
	t.Helper()
	for _, query := range slices.Sorted(maps.Keys(c.stmts)) {
		switch verb, _, _ := strings.Cut(query, " "); verb {
		case "SELECT", "INSERT", "UPDATE", "DELETE", "WITH":
		default:
			continue
		}
		if strings.Contains(query, "schema") { // what Open asks once, of a few rows
			continue
		}
		p := plan{query: query}
		err := c.query("EXPLAIN QUERY PLAN "+query, func(r *row) error {
			_, _, _ = r.Int(), r.Int(), r.Int()
			p.steps += r.Text() + "; "
			return nil
		}, make([]any, strings.Count(query, "?"))...)
		if err != nil {
			t.Fatalf("explain %s: %v", query, err)
		}
		plans = append(plans, p)
	}
	return plans
}

// useEverything calls every method that has a statement of its own.
func useEverything(t *testing.T, db *DB) {
	t.Helper()
	ctx, key := context.Background(), spool.ThreadKey{Tenant: "tenant", ID: "t"}
	read := func(v store.View) error {
		_, err := v.Thread()
		errs := []error{err}
		keep := func(err error) { errs = append(errs, err) }
		for _, q := range []wire.RunQuery{{ID: "r"}, {Limit: 1}, {Waiting: true}, {RootID: "r"}} {
			for _, q.Whole = range []bool{false, true} {
				_, err = v.Runs(q)
				keep(err)
			}
		}
		for _, q := range []store.MessageQuery{
			{Role: spool.RoleSystem, Limit: 1},
			{},
			{After: "m"},
			{Agent: new(spool.AgentID("a"))},
			{Before: "m"},
			{SinceSeq: 1},
			{Limit: 1},
			{Role: spool.RoleUser, Limit: 1},
			{After: "m", Before: "m", SinceSeq: 1, Role: spool.RoleUser, Limit: 1},
			{Branch: 1},
			{Branch: 1, After: "m", Before: "m", Limit: 1},
			{Turns: true},
			{Turns: true, After: "m", SinceSeq: 1, BeforeSeq: 2, Limit: 1},
			{ID: "m"},
		} {
			_, err = v.Messages(q)
			keep(err)
		}
		_, err = v.Branches()
		keep(err)
		for _, q := range []store.EntryQuery{
			{},
			{After: 1, Limit: 1},
			{Last: true, Limit: 1},
			{Run: "r", Last: true},
			{Type: "A", Last: true},
			{Run: "r", Type: "A", Last: true, Limit: 1},
			{After: 1, Type: "A"},
			{After: 1, Run: "r"},
		} {
			_, err = v.Entries(q)
			keep(err)
		}
		_, err = v.Parks("r")
		keep(err)
		_, err = v.Effects("r", 1)
		keep(err)
		for _, q := range []store.DeltaQuery{{}, {After: 1, Limit: 1}} {
			_, err = v.Deltas(q)
			keep(err)
		}
		agent := spool.AgentID("")
		for _, q := range []wire.UsageQuery{
			{},
			{Sums: true},
			{Run: "r"},
			{Run: "r", Last: true, Limit: 1},
			{Agent: &agent, Kind: spool.UsageStep, Counted: true, Last: true, Limit: 1},
		} {
			_, err = v.Usage(q)
			keep(err)
		}
		return errors.Join(errs...)
	}
	asked := spool.ThreadKey{Tenant: key.Tenant, ID: "asked"}
	err := db.Update(ctx, asked, 0, func(tx store.Tx) error { // so that the list of open parks reads what they belong to
		return tx.Write(store.Changes{
			Thread:  &wire.Thread{State: wire.WaitingForInput},
			NewRuns: []store.RunRow{{Run: wire.Run{ID: "asked", State: wire.WaitingForInput}}},
			Parks:   []store.Park{{RunID: "asked", ToolCallID: "c", State: wire.ParkOpen, ExpiresAt: tx.Now().Add(time.Hour)}},
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(ctx, key, 0, func(tx store.Tx) error {
		return tx.Write(store.Changes{
			Thread:     &wire.Thread{State: wire.Queued, RunID: "r"},
			NewRuns:    []store.RunRow{{Run: wire.Run{ID: "r", State: wire.Queued}}},
			Runs:       []store.RunRow{{Run: wire.Run{ID: "r", State: wire.Running}}},
			Messages:   []*spool.Message{{ID: "m"}},
			Entries:    []*wire.Entry{wire.NewEntry("A", "r", nil)},
			Parks:      []store.Park{{RunID: "r", ToolCallID: "c"}},
			Effects:    []store.Effect{{RunID: "r", Step: 1, ToolCallID: "c"}},
			Usage:      []wire.UsageRow{{RunID: "r"}},
			Delta:      &store.SnapshotDelta{},
			CancelJobs: []string{"b"},
			Jobs:       []wire.Job{{RunID: "r", Key: "a"}, {RunID: "r", Key: "b"}},
		})
	})
	if err == nil {
		err = db.Update(ctx, key, 0, func(tx store.Tx) error {
			return errors.Join(read(tx), tx.Write(store.Changes{Entries: []*wire.Entry{wire.NewEntry("A", "r", nil)}}))
		})
	}
	second := db.Update(ctx, key, 0, func(tx store.Tx) error {
		return tx.Write(store.Changes{NewRuns: []store.RunRow{{Run: wire.Run{ID: "r2", State: wire.Queued}}}})
	})
	if !errors.Is(second, store.ErrActiveRun) {
		t.Errorf("a second run: %v", second)
	}
	if err == nil {
		err = db.View(ctx, key, read)
	}
	for _, q := range []wire.ThreadQuery{
		{},
		{Before: time.Now(), BeforeID: "t"},
		{State: wire.Queued, Title: "t", UpdatedAfter: time.Now(), UpdatedBefore: time.Now()},
		{Title: "t"},
		{Owner: "o", Title: "t"},
		{Owner: "o", Before: time.Now(), BeforeID: "t"},
		{Labels: map[string]string{"k": "v"}},
		{Expired: true, Before: time.Now(), BeforeID: "t"},
		{Expired: true, Owner: "o", Before: time.Now(), BeforeID: "t"},
	} {
		q.Tenant = key.Tenant
		_, err2 := db.Threads(ctx, q)
		err = errors.Join(err, err2)
	}
	_, err3 := db.Stats(ctx, wire.StatsQuery{Queue: true})
	if err := errors.Join(err, err3, useAdmin(ctx, db, key.Tenant)); err != nil {
		t.Fatal(err)
	}
	useQueue(t, db, key)
	if err := db.Update(ctx, asked, 0, func(tx store.Tx) error {
		return tx.Write(store.Changes{DeleteThread: true})
	}); err != nil {
		t.Fatal(err)
	}
	err = db.Update(ctx, key, 0, func(tx store.Tx) error {
		err := tx.Write(store.Changes{Drop: &store.Drop{From: "m", Seq: 1}})
		return errors.Join(err, tx.Write(store.Changes{Restore: 1}), tx.Write(store.Changes{DeleteThread: true}))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// useQueue claims a few of many jobs in all ways, and ends the claims in all ways.
func useQueue(t *testing.T, db *DB, key spool.ThreadKey) {
	t.Helper()
	ctx := context.Background()
	missing := db.Update(ctx, key, 0, func(tx store.Tx) error { return tx.Write(store.Changes{TakeDead: []int64{1}}) })
	if spool.CodeOf(missing) != spool.NotFound {
		t.Fatal(missing)
	}
	var jobs []wire.Job
	for range 2 * claimWindow {
		jobs = append(jobs, wire.Job{RunID: "r", Agent: "a", DueAt: time.Now().Add(-time.Hour)})
	}
	err := db.Update(ctx, key, 0, func(tx store.Tx) error {
		return tx.Write(store.Changes{
			Jobs: jobs, Dead: []wire.QueuedJob{{Job: wire.Job{RunID: "r"}, Attempts: 1, Cause: "cause"}},
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []store.AckKind{store.AckExtend, store.AckRelease, store.AckDead, store.AckDone} {
		for _, agents := range [][]string{nil, {"a"}} {
			taken, _, err := db.Claim(ctx, store.ClaimQuery{Limit: 1, Lease: time.Minute, Agents: agents})
			if err != nil || len(taken) != 1 {
				t.Fatal(taken, err)
			}
			if err := db.Ack(ctx, taken[0], store.Ack{Kind: kind, Refund: true, Cause: "cause"}); err != nil {
				t.Fatal(err)
			}
		}
	}
}
