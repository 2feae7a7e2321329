package sqlite

import (
	"context"
	"time"

	"github.com/spoolhq/spool"
)

// Runs implements [spool.Store]. It walks the tenant's index, or the index of a state, from the
// newest run on. The runs of one thread are read by another index and sorted.
func (db *DB) Runs(ctx context.Context, tenant spool.Tenant, q spool.RunQuery) ([]spool.Run, error) {
	query, args := runQuery(tenant, q)
	runs := []spool.Run{}
	err := db.pool.read(ctx, func(c *conn) error {
		return c.query(query, each(&runs, scanRun), args...)
	})
	return runs, err
}

func runQuery(tenant spool.Tenant, q spool.RunQuery) (query string, args []any) {
	where := "tenant = ?"
	args = []any{tenant}
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
	from := "run INDEXED BY " + index
	if q.ID != "" {
		from = "run"
		also("id = ?", q.ID)
	}
	for _, word := range []struct{ column, value string }{
		{"stop_reason", string(q.StopReason)}, {"agent", q.Agent}, {"model", q.Model},
	} {
		if word.value != "" {
			also(word.column+" = ?", word.value)
		}
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
	return "SELECT " + runColumns + " FROM " + from + " WHERE " + where + " ORDER BY created_at DESC, id DESC LIMIT ?",
		append(args, bound(q.Limit))
}

// roundedUp rounds a time up to a microsecond. Stored times are cut to microseconds, so comparing them
// by less-than with the rounded time has the right result.
func roundedUp(t time.Time) time.Time { return t.Add(time.Microsecond - 1) }

// Tally implements [spool.Store]. Each commit updates the sums; triggers do so for deleted rows.
func (db *DB) Tally(ctx context.Context, tenant spool.Tenant) (spool.Tally, error) {
	tally := spool.Tally{Runs: make(map[spool.State]int64)}
	err := db.pool.read(ctx, func(c *conn) error {
		return c.query(`SELECT state, n, input_tokens, cached_input_tokens, output_tokens, total_tokens
			FROM tally WHERE tenant = ?`, func(r *row) error {
			state, n := r.text(), r.int64()
			tally.Tokens.Add(spool.TokenCount{
				InputTokens: r.int64(), CachedInputTokens: r.int64(), OutputTokens: r.int64(), TotalTokens: r.int64(),
			})
			switch {
			case state == "":
				tally.Threads = n
			case state == sizeState:
				tally.Bytes = n
			case n > 0:
				tally.Runs[spool.State(state)] = n
			}
			return nil
		}, tenant)
	})
	return tally, err
}

// Idle implements [spool.Store].
func (db *DB) Idle(ctx context.Context, q spool.IdleQuery) ([]spool.ThreadKey, error) {
	const quiet = `state IN ('IDLE', 'COMPLETED', 'CANCELLED', 'FAILED') AND updated_at < ? AND lease_until <= ?
		AND NOT EXISTS (SELECT 1 FROM job WHERE job.tenant = thread.tenant AND job.thread_id = thread.id)
		ORDER BY updated_at LIMIT ?`
	query, args := "SELECT tenant, id FROM thread INDEXED BY thread_idle WHERE "+quiet, []any{}
	if q.Tenant != "" {
		query, args = "SELECT tenant, id FROM thread INDEXED BY thread_updated WHERE tenant = ? AND "+quiet, []any{q.Tenant}
	}
	keys := []spool.ThreadKey{}
	err := db.pool.read(ctx, func(c *conn) error {
		return c.query(query, func(r *row) error {
			keys = append(keys, spool.ThreadKey{Tenant: spool.Tenant(r.text()), ID: spool.ThreadID(r.text())})
			return nil
		}, append(args, roundedUp(q.Before), now(db.clock), bound(q.Limit))...)
	})
	return keys, err
}

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
