package postgres

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

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
		all["tenants with due jobs, "+name] = statement{sql: "WITH RECURSIVE " + clock + ", " + table + dueParts, args: args}
		all["next due job, "+name] = statement{sql: "WITH RECURSIVE " + clock + ", " + table + nextDue, args: args}
	}
	all["claim"] = statement{sql: leaseJobs, args: []any{
		nil, 4, q.Reserved, q.PerTenant, q.Limit, spare(q.Limit),
		[]string{"", "", ""},
		[]string{"=a", "=a", "=a"},
		[]string{"a", "t1", "t2"},
		[]int64{0, 0, 0},
		spare(q.Limit), true, 4 * store.MaxSubjects, q.Limit, 60_000_000,
	}}
	var waiting []wire.WaitingTenant
	all["waiting"] = db.waitingTenants(&waiting)
	var subjects []wire.WaitingSubject
	all["waiting subjects"] = db.waitingSubjects("a", &subjects)
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
