package sqlite

import (
	"context"

	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Runs implements [store.Store]. It walks the tenant's index, or the index of a state, from the newest run
// on. The runs of one thread are read by another index and sorted. A start looks for its idempotency key, so
// that it does not wait for views.
func (db *DB) Runs(ctx context.Context, q wire.RunQuery) ([]store.RunRow, error) {
	query, args := runQuery(q)
	from, scan := db.pool, form.ScanRun
	if q.Whole {
		scan = form.ScanWholeRun
	}
	if q.StartKey != "" {
		from = db.starts
	}
	runs := []store.RunRow{}
	err := from.read(ctx, func(c *conn) error {
		return c.query(query, each(&runs, scan), args...)
	})
	return runs, err
}

func runQuery(q wire.RunQuery) (query string, args []any) {
	var where form.Conditions
	where.And("tenant = ?", q.Tenant)
	index := "run_created"
	if q.Expired {
		index = "run_expired"
	}
	if q.State != "" {
		index = "run_state"
		where.And("state = ?", q.State)
	}
	if q.ThreadID != "" {
		index = "run_thread"
		where.And("thread_id = ?", q.ThreadID)
	}
	if q.StartKey != "" { // the literal is the condition of the index
		index = "run_start_key"
		where.And("start_key = ? AND start_key <> ''", q.StartKey)
	}
	from := "run INDEXED BY " + index
	if q.ID != "" {
		from = "run"
		where.And("id = ?", q.ID)
	}
	for _, word := range []struct{ column, value string }{
		{"root_id", string(q.RootID)}, {"stop_reason", string(q.StopReason)}, {"agent", q.Agent}, {"model", q.Model},
	} {
		if word.value != "" {
			where.And(word.column+" = ?", word.value)
		}
	}
	where.AndRuns(q)
	columns, order := form.RunColumns, " ORDER BY created_at DESC, id DESC LIMIT ?"
	if q.Whole {
		columns = form.WholeRunColumns
	}
	if q.StartKey != "" { // one run at most
		order = " LIMIT ?"
	}
	return "SELECT " + columns + " FROM " + from + " WHERE " + where.Text + order, append(where.Args, bound(q.Limit))
}

// CountThreads returns the number of threads in the file, of all tenants.
func (db *DB) CountThreads(ctx context.Context) (n int64, err error) {
	err = db.pool.read(ctx, func(c *conn) error {
		return c.query("SELECT coalesce(sum(n), 0) FROM tally WHERE state = ''", func(r *row) error {
			n = r.Int64()
			return nil
		})
	})
	return n, err
}
