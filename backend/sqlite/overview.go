package sqlite

import (
	"context"
	"time"

	"github.com/spoolhq/spool"
)

// Runs implements [spool.Store]. It walks the tenant's index, or the index of a state, from the newest run
// on. The runs of one thread are read by another index and sorted. A start looks for its idempotency key, so
// that it does not wait for views.
func (db *DB) Runs(ctx context.Context, q spool.RunQuery) ([]spool.RunRow, error) {
	query, args := runQuery(q)
	from, scan := db.pool, scanBareRun
	if q.Whole {
		scan = scanRunRow
	}
	if q.StartKey != "" {
		from = db.starts
	}
	runs := []spool.RunRow{}
	err := from.read(ctx, func(c *conn) error {
		return c.query(query, each(&runs, scan), args...)
	})
	return runs, err
}

func runQuery(q spool.RunQuery) (query string, args []any) {
	where := "tenant = ?"
	args = []any{q.Tenant}
	also := func(condition string, values ...any) {
		where += " AND " + condition
		args = append(args, values...)
	}
	index := "run_created"
	if q.State != "" {
		index = "run_state"
		also("state = ?", q.State)
	}
	if q.ThreadID != "" {
		index = "run_thread"
		also("thread_id = ?", q.ThreadID)
	}
	if q.StartKey != "" { // the literal is the condition of the index
		index = "run_start_key"
		also("start_key = ? AND start_key <> ''", q.StartKey)
	}
	from := "run INDEXED BY " + index
	if q.ID != "" {
		from = "run"
		also("id = ?", q.ID)
	}
	for _, word := range []struct{ column, value string }{
		{"root_id", string(q.RootID)}, {"stop_reason", string(q.StopReason)}, {"agent", q.Agent}, {"model", q.Model},
	} {
		if word.value != "" {
			also(word.column+" = ?", word.value)
		}
	}
	if q.Waiting {
		also("place > 0")
	}
	if q.Depth != nil {
		also("depth = ?", *q.Depth)
	}
	if !q.Before.IsZero() {
		also("(created_at, id) < (?, ?)", q.Before, q.BeforeID)
	}
	if !q.CreatedAfter.IsZero() {
		also("created_at > ?", q.CreatedAfter)
	}
	if !q.CreatedBefore.IsZero() {
		also("created_at < ?", roundedUp(q.CreatedBefore))
	}
	columns, order := runColumns, " ORDER BY created_at DESC, id DESC LIMIT ?"
	if q.Whole {
		columns = rowColumns
	}
	if q.StartKey != "" { // one run at most
		order = " LIMIT ?"
	}
	return "SELECT " + columns + " FROM " + from + " WHERE " + where + order, append(args, bound(q.Limit))
}

// roundedUp rounds a time up to a microsecond. Stored times are cut to microseconds, so comparing them
// by less-than with the rounded time has the right result.
func roundedUp(t time.Time) time.Time { return t.Add(time.Microsecond - 1) }

// CountThreads returns the number of threads in the file, of all tenants.
func (db *DB) CountThreads(ctx context.Context) (n int64, err error) {
	err = db.pool.read(ctx, func(c *conn) error {
		return c.query("SELECT coalesce(sum(n), 0) FROM tally WHERE state = ''", func(r *row) error {
			n = r.int64()
			return nil
		})
	})
	return n, err
}
