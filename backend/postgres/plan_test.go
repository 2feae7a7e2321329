package postgres

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/testing/pgtest"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// TestPlansOfClaim looks at how the server executes the statements of workers while a tenant has 10,000 due jobs,
// and another agent as many: they must not read a table from its beginning to its end, and only a few pages.
func TestPlansOfClaim(t *testing.T) {
	t.Parallel()
	db := opened(t, pgtest.Database(t, tables), nil)
	enqueue(t, db, "a", "a", 10_000)
	enqueue(t, db, "a", "other", 10_000)
	for i := range 20 {
		enqueue(t, db, spool.Tenant(fmt.Sprint("t", i)), "a", 5)
	}
	ctx := testwait.Context(t, "the plans")
	if _, err := db.pool.Exec(ctx, "ANALYZE spool.job"); err != nil {
		t.Fatal(err)
	}
	some := store.ClaimQuery{Limit: 10, Agents: []string{"a", "none"}, PerTenant: 5}
	for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
		for name, s := range db.statementsOfClaim(some) {
			plan := explain(ctx, t, db, mode, s)
			if strings.Contains(plan, "Seq Scan on job") || strings.Contains(plan, "Seq Scan on public.job") {
				t.Errorf("%s with %s reads the whole table:\n%s", name, mode, plan)
			}
			if n := pages(plan); n > 600 {
				t.Errorf("%s with %s reads %d pages:\n%s", name, mode, n, plan)
			}
		}
	}
}

// statementsOfClaim returns the statements of workers by their names.
func (db *DB) statementsOfClaim(q store.ClaimQuery) map[string]statement {
	all := make(map[string]statement)
	for name, agents := range map[string][]string{"agents": q.Agents, "all agents": nil} {
		table, args := lanes(store.ClaimQuery{Agents: agents})
		args = append([]any{nil}, args...)
		all["tenants with due jobs, "+name] = statement{
			sql: "WITH RECURSIVE " + clock + ", " + table + dueParts, args: slices.Concat(args, []any{[]string{""}, []string{""}}),
		}
		all["next due job, "+name] = statement{sql: "WITH RECURSIVE " + clock + ", " + table + nextDue, args: args}
	}
	all["claim"] = statement{sql: leaseJobs, args: []any{
		nil, 4, q.Reserved, q.PerTenant, q.Limit, spare(q.Limit),
		[]string{"", "", ""},
		[]string{"=a", "=a", "=a"},
		[]string{"a", "t1", "t2"},
		[]int64{0, 0, 0},
		[]string{""},
		spare(q.Limit), true, 4 * store.MaxSubjects, q.Limit, 60_000_000,
	}}
	for name, queues := range map[string][]string{"all queues": nil, "some queues": {"", "outbox"}} {
		all["waiting in "+name] = db.waitingTenants(queues, new([]wire.WaitingTenant))
		all["waiting subjects in "+name] = db.waitingSubjects("a", queues, new([]wire.WaitingSubject))
	}
	query, args := db.jobQuery(wire.JobQuery{Tenant: "a", Limit: 20})
	all["list"] = statement{sql: query, args: args}
	all["done"] = statement{sql: "DELETE FROM spool.job WHERE id = ? AND token = ? AND tenant = ?", args: []any{1, 1, "a"}}
	all["cancel"] = statement{
		sql: "DELETE FROM spool.job WHERE tenant = ? AND key = ANY (?) AND key <> ''", args: []any{"a", []string{"1a", "x"}},
	}
	all["of a run"] = statement{
		sql: "SELECT FROM spool.job WHERE tenant = ? AND thread_id = ? AND run_id = ?", args: []any{"a", "t", "r7"},
	}
	return all
}

// TestPlansBesideEvents looks at how the server counts what refuses starts, lists who waits, and finds the events of a
// thread and a subject, while a tenant has 20,000 events: it must read only a few pages.
func TestPlansBesideEvents(t *testing.T) {
	t.Parallel()
	db := opened(t, pgtest.Database(t, tables), nil)
	enqueue(t, db, "a", "a", 20)
	ctx := testwait.Context(t, "the plans")
	err := db.run(ctx, statement{
		sql: `INSERT INTO spool.job (` + jobColumns + `, id, due_at, first_due)
			SELECT 'a', 't' || n % 2, '', '', '', '', '', 0, 's' || n % 3, 'outbox', '{}', 1000000 + n, ` + serverNow + ` - 1000, n
			FROM generate_series(1, 20000) AS g (n)`,
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.pool.Exec(ctx, "ANALYZE spool.job"); err != nil {
		t.Fatal(err)
	}
	list := func(q wire.JobQuery) statement {
		q.Tenant, q.ThreadID, q.Queue, q.Subject = "a", "t0", new("outbox"), "s0"
		query, args := db.jobQuery(q)
		return statement{sql: query, args: args}
	}
	since := time.UnixMicro(19_990)
	if jobs, err := db.Jobs(ctx, wire.JobQuery{
		Tenant: "a", ThreadID: "t0", Queue: new("outbox"), Subject: "s0", DueSince: since,
	}); err != nil || len(jobs) != 2 || !jobs[0].FirstDue.Equal(time.UnixMicro(19_992)) { // 19,992 and 19,998
		t.Errorf("the last events are %+v (%v)", jobs, err)
	}
	starts := wire.StatsQuery{Queue: true, NeedsAgent: true}
	ofTenant := wire.StatsQuery{Queue: true, NeedsAgent: true, Tenant: "a"}
	own := []string{""}
	all := map[string]statement{
		"the last events":            list(wire.JobQuery{DueSince: since}),
		"the first events":           list(wire.JobQuery{Limit: 3}),
		"what refuses starts":        db.queueStats(starts, new(wire.QueueStats))[0],
		"what refuses a tenant's":    db.queueStats(ofTenant, new(wire.QueueStats))[0],
		"who waits":                  db.waitingTenants(own, new([]wire.WaitingTenant)),
		"the subjects that wait":     db.waitingSubjects("a", own, new([]wire.WaitingSubject)),
		"who waits in all queues":    db.waitingTenants(nil, new([]wire.WaitingTenant)),
		"the subjects in all queues": db.waitingSubjects("a", nil, new([]wire.WaitingSubject)),
	}
	for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
		for name, s := range all {
			plan := explain(ctx, t, db, mode, s)
			if n := pages(plan); n == 0 || n > 150 {
				t.Errorf("%s with %s reads %d pages:\n%s", name, mode, n, plan)
			}
		}
	}
}

// explain executes a statement, rolls it back, and returns how the server has executed it.
func explain(ctx context.Context, t *testing.T, db *DB, mode string, s statement) string {
	t.Helper()
	tx, err := db.pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(ctx) }()
	run := func(text string, args ...any) (lines []string) {
		t.Helper()
		rows, err := tx.Query(ctx, text, append([]any{pgx.QueryExecModeSimpleProtocol}, args...)...)
		if err == nil {
			lines, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return lines
	}
	before := "SET LOCAL plan_cache_mode = " + mode + "; DEALLOCATE ALL; PREPARE looked_at AS " + db.dialect.rewrite(s.sql)
	if err := tx.Conn().PgConn().Exec(ctx, before).Close(); err != nil {
		t.Fatal(err)
	}
	values := make([]string, len(s.args))
	for i := range values {
		values[i] = "$" + strconv.Itoa(i+1)
	}
	return strings.Join(
		run("EXPLAIN (ANALYZE, BUFFERS) EXECUTE looked_at("+strings.Join(values, ", ")+")", encoded(s.args)...), "\n",
	)
}

var hitPages = regexp.MustCompile(`Buffers: shared hit=(\d+)`)

// pages returns how many pages a plan has read, which its first line with buffers sums up.
func pages(plan string) int {
	found := hitPages.FindStringSubmatch(plan)
	if found == nil {
		return 0
	}
	n, err := strconv.Atoi(found[1])
	if err != nil {
		return 0
	}
	return n
}
