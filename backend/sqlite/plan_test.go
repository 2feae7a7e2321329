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
)

// TestPlans has every statement prepared by using it, and checks that none reads a whole
// table or sorts more than what belongs to one run.
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
		{"AND root_id = ? AND", "run_nested (tenant=? AND thread_id=? AND root_id=?"},
		{"AND place > 0 ORDER BY place", "run_waiting (tenant=? AND thread_id=?"},
		{"FROM thread INDEXED BY thread_owner", "thread_owner (tenant=? AND owner=? AND (updated_at,id)<"},
		{"tenant = ? AND (updated_at, id) <", "thread_updated (tenant=? AND (updated_at,id)<"},
		{"FROM job WHERE due_at <= ? ORDER BY", "job_due (due_at<?"},
		{"FROM job WHERE due_at > ? ORDER BY", "job_due (due_at>?"},
		{"FROM job INDEXED BY job_claimed", "job_claimed"},
		{"FROM job INDEXED BY job_tenant_due\n", "job_tenant_due (tenant=? AND due_at<?"},
		{"WITH RECURSIVE holder", "SEARCH job USING COVERING INDEX job_tenant_due (tenant>?"},
		{"WITH RECURSIVE holder", "SEARCH job USING COVERING INDEX job_tenant_due (tenant=?"},
		{"ORDER BY lease_until", "job_run (tenant=? AND thread_id=? AND run_id=?"},
		{"ORDER BY lease_until", "thread_active (lease_until<?"},
		{"INDEXED BY thread_idle", "thread_idle (updated_at<?"},
		{"INDEXED BY thread_idle", "job_run (tenant=? AND thread_id=?"},
		{"INDEXED BY thread_updated", "thread_updated (tenant=? AND updated_at<?"},
		{"FROM job_dead INDEXED BY job_dead_id WHERE id = ?", "job_dead_id (tenant=? AND id=?"},
		{"DELETE FROM job_dead WHERE tenant = ? AND ord IN", "(tenant=? AND ord=?"},
		{"FROM tally", "(tenant=?"},
		{"FROM audit WHERE tenant = ?", "PRIMARY KEY (tenant=?"},
		{"FROM audit INDEXED BY audit_thread", "audit_thread (tenant=? AND thread_id=?"},
		{"DELETE FROM audit", "audit_at (at<?"},
	} {
		if strings.Contains(p.query, rule.in) && !strings.Contains(p.steps, rule.want) {
			t.Errorf("%s\nis planned as %s\nwant %s", p.query, p.steps, rule.want)
		}
	}
	if strings.Contains(p.steps, "TEMP B-TREE") && !strings.Contains(p.query, "FROM park") &&
		!strings.Contains(p.query, "FROM effect") && !strings.Contains(p.query, "FROM usage_line") &&
		!strings.Contains(p.query, "INDEXED BY run_thread") {
		t.Errorf("%s\nsorts: %s", p.query, p.steps)
	}
	// Stats counts; a claim goes through what its own query has found.
	if strings.Contains(strings.NewReplacer("SCAN holder", "", "SCAN json_each", "").Replace(p.steps), "SCAN") && !strings.Contains(p.query, "count(*)") {
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
			_, _, _ = r.int(), r.int(), r.int()
			p.steps += r.text() + "; "
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
	read := func(v spool.View) error {
		_, err := v.Thread()
		errs := []error{err}
		keep := func(err error) { errs = append(errs, err) }
		_, err = v.Run("r")
		keep(err)
		_, err = v.Runs(1)
		keep(err)
		_, err = v.Waiting()
		keep(err)
		_, err = v.Nested("r")
		keep(err)
		for _, q := range []spool.MessageQuery{
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
		} {
			_, err = v.Messages(q)
			keep(err)
		}
		_, err = v.Message("m")
		keep(err)
		_, err = v.Branches()
		keep(err)
		for _, q := range []spool.EntryQuery{
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
		_, err = v.Usage()
		keep(err)
		agent := spool.AgentID("")
		for _, q := range []spool.UsageQuery{
			{},
			{Run: "r"},
			{Run: "r", Last: true, Limit: 1},
			{Agent: &agent, Kind: spool.UsageStep, Counted: true, Last: true, Limit: 1},
		} {
			_, err = v.UsageRows(q)
			keep(err)
		}
		return errors.Join(errs...)
	}
	err := db.Update(ctx, key, 0, func(tx spool.Tx) error {
		return errors.Join(
			tx.PutThread(spool.Thread{State: spool.Queued, RunID: "r"}),
			tx.InsertRun(spool.RunRow{Run: spool.Run{ID: "r", State: spool.Queued}}),
			tx.UpdateRun(spool.RunRow{Run: spool.Run{ID: "r", State: spool.Running}}),
			tx.AppendMessages(&spool.Message{ID: "m"}),
			tx.AppendEntries(spool.NewEntry("A", "r", nil)),
			tx.PutPark(spool.Park{RunID: "r", ToolCallID: "c"}),
			tx.PutEffect(spool.Effect{RunID: "r", Step: 1, ToolCallID: "c"}),
			tx.AddUsage(spool.UsageRow{RunID: "r"}),
			tx.Enqueue(spool.Job{RunID: "r", Key: "a"}),
			tx.Enqueue(spool.Job{RunID: "r", Key: "b"}),
			tx.CancelJob("b"),
		)
	})
	if err == nil {
		err = db.Update(ctx, key, 0, func(tx spool.Tx) error {
			if spool.CodeOf(tx.InsertRun(spool.RunRow{Run: spool.Run{ID: "r2", State: spool.Queued}})) != spool.Conflict {
				return errors.New("a second run was accepted")
			}
			return errors.Join(read(tx), tx.AppendEntries(spool.NewEntry("A", "r", nil)))
		})
	}
	if err == nil {
		err = db.View(ctx, key, read)
	}
	_, err2 := db.Threads(ctx, key.Tenant, spool.ThreadQuery{})
	_, err3 := db.Threads(ctx, key.Tenant, spool.ThreadQuery{Before: time.Now(), BeforeID: "t"})
	_, err7 := db.Threads(ctx, key.Tenant, spool.ThreadQuery{State: spool.Queued, Title: "t", UpdatedAfter: time.Now(), UpdatedBefore: time.Now()})
	_, err8 := db.Threads(ctx, key.Tenant, spool.ThreadQuery{Owner: "o", Before: time.Now(), BeforeID: "t"})
	_, err9 := db.Threads(ctx, key.Tenant, spool.ThreadQuery{Labels: map[string]string{"k": "v"}})
	_, err4 := db.Stranded(ctx, 1)
	err5 := useAdmin(ctx, db, key.Tenant)
	_, err6 := db.Stats(ctx, "")
	_, missing := db.FindStart(ctx, key.Tenant, "key")
	if err := errors.Join(err, err2, err3, err4, err5, err6, err7, err8, err9); err != nil || spool.CodeOf(missing) != spool.NotFound {
		t.Fatal(err, missing)
	}
	err = db.Update(ctx, key, 0, func(tx spool.Tx) error {
		if _, err := tx.TakeDead(1); spool.CodeOf(err) != spool.NotFound {
			return errors.New("a job was dead")
		}
		if err := tx.AddDead(spool.Job{RunID: "r"}, 1, "cause"); err != nil {
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(ctx, key, 0, func(tx spool.Tx) error {
		for range 2 * claimWindow {
			if err := tx.Enqueue(spool.Job{RunID: "r", DueAt: time.Now().Add(-time.Hour)}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Waiting(ctx); err != nil {
		t.Fatal(err)
	}
	for _, end := range []func(d spool.Delivery) error{
		func(d spool.Delivery) error { return db.Extend(ctx, d, 0) },
		func(d spool.Delivery) error { return db.Release(ctx, d, 0, true) },
		func(d spool.Delivery) error { return db.DeadLetter(ctx, d, "cause") },
		func(d spool.Delivery) error {
			if err := db.Ack(ctx, d); !errors.Is(err, spool.ErrFenced) {
				return err
			}
			return nil
		},
	} {
		taken, _, err := db.Claim(ctx, spool.ClaimQuery{Limit: 1})
		if len(taken) == 0 { // the last one is for a job that is gone
			taken = []spool.Delivery{{}}
		}
		if err := errors.Join(err, end(taken[0])); err != nil {
			t.Fatal(err)
		}
	}
	err = db.Update(ctx, key, 0, func(tx spool.Tx) error {
		return errors.Join(tx.DropMessages("m", 1), tx.RestoreBranch(1), tx.DeleteThread())
	})
	if err != nil {
		t.Fatal(err)
	}
}
