package postgres

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/internal/testing/pgtest"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// manyRows fills the tables: a tenant with 20,000 threads, and a thread with 20,000 of everything.
//
//nolint:dupword // it is SQL
const manyRows = `
INSERT INTO spool.thread SELECT t.tenant, 't' || n, CASE n % 100 WHEN 0 THEN 'RUNNING' ELSE 'COMPLETED' END, 'm', 'title ' || n,
	CASE n % 1000 WHEN 0 THEN 'ann' ELSE 'bob' || n END, '{"k":"v"}', n, n, 'r' || n, 3, 1, 0, 100, 100, 0,
	CASE n % 1000 WHEN 0 THEN 1 ELSE 0 END, 0
	FROM generate_series(1, 20000) n, (VALUES ('a'), ('b')) t (tenant);
INSERT INTO spool.run (` + form.WholeRunColumns + `, ord) SELECT 'a', 'r' || n, CASE n % 10 WHEN 0 THEN 'big' ELSE 't' || n END, n, '', 0, 'agent', '', 'm',
	CASE WHEN n % 10 = 0 OR n % 100 > 0 THEN 'COMPLETED' ELSE 'RUNNING' END, '', '', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
	CASE n % 5000 WHEN 10 THEN n ELSE 0 END, CASE n % 5000 WHEN 20 THEN 'r10' ELSE '' END, '', 0, '', '', CASE n % 1000 WHEN 0 THEN 1 ELSE 0 END, 0, '', 'key' || n, '', '', '', '', '', '', n
	FROM generate_series(1, 20000) n;
INSERT INTO spool.message SELECT 'a', 'big', n, 'm' || n, CASE n % 7 WHEN 0 THEN 'nested' ELSE '' END,
	CASE WHEN n % 5000 = 0 THEN 'system' WHEN n % 2 = 0 THEN 'user' ELSE 'assistant' END, '"text"', n, '', 'r' || n / 10, n,
	CASE WHEN n BETWEEN 15000 AND 15020 THEN 14999 END
	FROM generate_series(1, 20000) n;
INSERT INTO spool.message SELECT 'a', 't' || n, 1, 'm', '', 'user', '"text"', n, '', 'r' || n, 0, NULL FROM generate_series(1, 20000) n;
INSERT INTO spool.branch VALUES ('a', 'big', 14999, 'm14999', '', 1);
INSERT INTO spool.branch SELECT 'a', 't' || n, 1, '', '', 1 FROM generate_series(1, 20000) n;
INSERT INTO spool.job (` + jobColumns + `, id, due_at, first_due)
	SELECT 'b', 't' || n, 'r' || n, 'j' || n, 'start', 'agent', 'm', 1, '', '', '', n, n, n FROM generate_series(1, 20000) n;
INSERT INTO spool.entry SELECT 'a', 'big', n, CASE n % 1000 WHEN 0 THEN 'RARE' ELSE 'OFTEN' END, 'r' || n / 10, '1', n, '', 0, 0, '', ''
	FROM generate_series(1, 20000) n;
INSERT INTO spool.usage SELECT 'a', 'big', n, 'r' || n / 10, '', 'agent', 'step', 1, 'm', 'm', '', 'finished', 1, 1, 1, 1, 1, NULL, NULL, NULL, '', '', '', n
	FROM generate_series(1, 20000) n;
INSERT INTO spool.usage_line SELECT 'a', 't' || n, '', 'agent', 'm', 'm', '', 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 FROM generate_series(1, 20000) n;
INSERT INTO spool.park SELECT 'a', 'big', 'r' || n / 10, 'c' || n, n, 'tool', '', '', 1, '', '', '', 0, '', CASE WHEN n % 2 = 0 THEN 'open' WHEN n % 20 = 1 THEN 'expired' ELSE 'answered' END,
	'', '', false, n, 1000000 + n, '', false, false, ''
	FROM generate_series(1, 20000) n;
UPDATE spool.run SET state = 'WAITING_FOR_INPUT' WHERE ord BETWEEN 1 AND 2000 AND ord % 10 > 0;
INSERT INTO spool.effect SELECT 'a', 'big', 'r' || n / 10, 1, 'c' || n, n, 'done', '1' FROM generate_series(1, 20000) n;
INSERT INTO spool.delta SELECT 'a', 'big', n, n, n, '{}' FROM generate_series(1, 20000) n;
INSERT INTO spool.audit SELECT 'a', n, n, CASE n % 100 WHEN 0 THEN 'stop' ELSE 'answer' END, 'ann', '', CASE n % 1000 WHEN 0 THEN 'big' ELSE 't' || n END,
	'', '', 0, NULL, '', '', 0, '', '' FROM generate_series(1, 20000) n;
INSERT INTO spool.shared_row SELECT 'a', 'k', 'key' || n, '1', 1, n, 0 FROM generate_series(1, 20000) n;
ANALYZE;`

// recorder is a link that only notes the statements.
type recorder struct{ batch []statement }

func (r *recorder) send(_ context.Context, batch []statement) error {
	r.batch = append(r.batch, batch...)
	return nil
}

// TestPlansOfStore looks at how the server reads large tables: it must read a few pages, whether it plans a statement
// for its values or not.
func TestPlansOfStore(t *testing.T) {
	t.Parallel()
	db := opened(t, pgtest.Database(t, tables), nil)
	ctx := testwait.Context(t, "the plans")
	if err := conn(ctx, db, manyRows); err != nil {
		t.Fatal(err)
	}
	for name, batch := range db.statementsOfStore(ctx, t) {
		for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
			for _, s := range batch {
				plan := explain(ctx, t, db, mode, s)
				if strings.Contains(plan, "Seq Scan") || pages(plan) > 250 {
					t.Errorf("%s with %s reads %d pages:\n%s\n%s", name, mode, pages(plan), s.sql, plan)
				}
			}
		}
	}
}

// conn executes a script.
func conn(ctx context.Context, db *DB, script string) error {
	c, err := db.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer c.Release()
	return c.Conn().PgConn().Exec(ctx, script).Close()
}

// statementsOfStore returns what the store reads and writes on its usual paths, by what it is for.
func (db *DB) statementsOfStore(ctx context.Context, t *testing.T) map[string][]statement {
	t.Helper()
	all := make(map[string][]statement)
	key := spool.ThreadKey{Tenant: "a", ID: "big"}
	now := form.FromMicros(15_000)
	agent := spool.AgentID("nested")
	record := func(name string, fn func(tx *tx) error) {
		var r recorder
		tx := newTx(ctx, db, &r, key)
		tx.now = now
		tx.row.exists, tx.row.stored, tx.row.LastSeq, tx.row.version = true, true, 100_000, 100_000
		if err := fn(tx); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := tx.read(); err != nil {
			t.Fatal(err)
		}
		all[name] = r.batch
	}
	for i, q := range []store.MessageQuery{
		{ID: "m500"},
		{Limit: 20},
		{After: "m19900"},
		{Before: "m50"},
		{Before: "m15500", Limit: 20},
		{After: "m100", Before: "m120"},
		{SinceSeq: 19_950},
		{Branch: 14_999},
		{Branch: 14_999, After: "m15010", Limit: 3},
		{Role: spool.RoleSystem, Limit: 1},
		{Role: spool.RoleUser, Limit: 5},
		{Agent: &agent, Limit: 5},
		{Turns: true, SinceSeq: 19_900},
		{Turns: true, After: "m19900", SinceSeq: 19_800, BeforeSeq: 19_950},
	} {
		record(fmt.Sprintf("messages %d", i), func(tx *tx) error {
			_, err := tx.Messages(q)
			return err
		})
	}
	for i, q := range []store.EntryQuery{
		{After: 19_950},
		{Last: true, Limit: 1},
		{Type: "RARE", Last: true, Limit: 1},
		{Run: "r7"},
		{Run: "r7", Last: true, Limit: 1},
		{After: 100, Limit: 50},
	} {
		record(fmt.Sprintf("entries %d", i), func(tx *tx) error {
			_, err := tx.Entries(q)
			return err
		})
	}
	for i, q := range []wire.RunQuery{
		{ID: "r20", Whole: true}, {Limit: 1}, {RootID: "r10", Whole: true}, {Waiting: true, Whole: true},
	} {
		record(fmt.Sprintf("runs of a thread %d", i), func(tx *tx) error {
			_, err := tx.Runs(q)
			return err
		})
	}
	for i, q := range []wire.UsageQuery{{Run: "r7"}, {Last: true, Limit: 1, Counted: true}, {Sums: true}} {
		record(fmt.Sprintf("usage %d", i), func(tx *tx) error {
			_, err := tx.Usage(q)
			return err
		})
	}
	for i, q := range []store.DeltaQuery{{After: 19_950}, {After: 100, Limit: 50}, {Limit: 1}} {
		record(fmt.Sprintf("deltas %d", i), func(tx *tx) error {
			_, err := tx.Deltas(q)
			return err
		})
	}
	record("parks", func(tx *tx) error {
		_, err := tx.Parks("r7")
		return err
	})
	record("effects", func(tx *tx) error {
		_, err := tx.Effects("r7", 1)
		return err
	})
	record("branches", func(tx *tx) error {
		_, err := tx.Branches()
		return err
	})
	all["head"] = []statement{(&newTx(ctx, db, nil, key).view).head(), newTx(ctx, db, nil, key).owningRun()}
	record("changes", func(tx *tx) error {
		run := store.RunRow{Run: wire.Run{ID: "new", State: wire.Queued}}
		known := store.RunRow{Run: wire.Run{ID: "r20", State: wire.Completed}}
		tx.runs.note(storedRun{StoredRun: form.StoredOf(&known)})
		return tx.change(&store.Changes{
			NewRuns: []store.RunRow{run}, Runs: []store.RunRow{known},
			Messages: []*spool.Message{{ID: "new", Role: spool.RoleUser}}, Entries: []*wire.Entry{wire.NewEntry("A", "", nil)},
			Parks:   []store.Park{{RunID: "r7", ToolCallID: "c"}},
			Effects: []store.Effect{{RunID: "r7", Step: 1, ToolCallID: "c"}}, Usage: []wire.UsageRow{{RunID: "r7"}},
			Delta: &store.SnapshotDelta{},
		})
	})
	db.listsOfStore(t, all, now)
	return all
}

// listsOfStore adds the lists of a tenant.
func (db *DB) listsOfStore(t *testing.T, all map[string][]statement, now time.Time) {
	t.Helper()
	for i, q := range []wire.ThreadQuery{
		{Limit: 20},
		{Limit: 20, Before: now, BeforeID: "t5"},
		{Owner: "ann", Limit: 20},
		{UpdatedAfter: form.FromMicros(19_900), Limit: 50},
		{Expired: true, Limit: 20},
	} {
		q.Tenant = "a"
		query, args := threadQuery(q)
		all[fmt.Sprintf("threads %d", i)] = []statement{{sql: query, args: args}}
	}
	for i, q := range []wire.ThreadQuery{
		{Work: wire.ThreadsIdle, UpdatedBefore: now, Limit: 10},
		{Work: wire.ThreadsStranded, Limit: 10},
		{Work: wire.ThreadsIdle, Tenant: "a", UpdatedBefore: now, Limit: 10},
	} {
		query, args, err := db.workQuery(q)
		if err != nil {
			t.Fatal(err)
		}
		all[fmt.Sprintf("work %d", i)] = []statement{{sql: query, args: args}}
	}
	for i, q := range []wire.RunQuery{
		{Limit: 20},
		{State: wire.Running, Limit: 20},
		{Limit: 20, Before: now, BeforeID: "r5"},
		{StartKey: "key77"},
		{ID: "r77"},
		{ThreadID: "t77", Limit: 20},
		{Expired: true, Limit: 20},
	} {
		q.Tenant = "a"
		where := runConditions(q)
		all[fmt.Sprintf("runs %d", i)] = []statement{{
			sql: "SELECT " + form.RunColumns + " FROM spool.run WHERE " + where.Text +
				" ORDER BY created_at DESC, id DESC LIMIT ?",
			args: append(where.Args, bound(q.Limit)),
		}}
	}
	for _, order := range []wire.ParkOrder{wire.ParksByAge, wire.ParksByExpiry} {
		for i, q := range []wire.ParkQuery{
			{Limit: 20},
			{Limit: 20, After: form.FromMicros(1_000_500), AfterRun: "r5"},
			{Limit: 5, Agent: "agent"},
		} {
			q.Tenant, q.Order = "a", order
			page := db.inboxPage(q)
			page.args[1] = int64(15_000)
			all[fmt.Sprintf("inbox %s %d", order, i)] = []statement{page}
		}
	}
	for i, q := range []wire.ParkQuery{{Limit: 20}, {Limit: 20, After: form.FromMicros(1_000_500), AfterRun: "r5"}} {
		q.Tenant, q.State = "a", wire.ParkExpired
		all[fmt.Sprintf("inbox expired %d", i)] = []statement{db.inboxPage(q)}
	}
	page := form.Inbox{
		Parks: []store.ParkRow{
			{Park: store.Park{RunID: "r7"}, Thread: wire.Thread{ID: "t7"}},
			{Park: store.Park{RunID: "r9"}, Thread: wire.Thread{ID: "t9"}},
		},
	}
	all["inbox owners"] = inboxOwners("a", &page)
	for i, q := range []wire.AuditQuery{{Limit: 20}, {Limit: 20, Before: 500}, {ThreadID: "big", Limit: 20}} {
		q.Tenant = "a"
		query, args := auditQuery(q)
		all[fmt.Sprintf("audit %d", i)] = []statement{{sql: query, args: args}}
	}
}
