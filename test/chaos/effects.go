//go:build unix

package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
)

// effects is the world outside: a database with a row for each execution of a tool. The effect of an execution
// happens at effect_at. After ended_at, it cannot happen any more.
type effects struct{ pool *pgxpool.Pool }

const effectsSchema = `CREATE TABLE execution (
	id         text PRIMARY KEY,
	key        text NOT NULL,
	node       text NOT NULL,
	thread     text NOT NULL,
	run        text NOT NULL,
	step       bigint NOT NULL,
	call       text NOT NULL,
	name       text NOT NULL,
	args       text NOT NULL,
	idempotent boolean NOT NULL,
	began_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
	effect_at  timestamptz,
	ended_at   timestamptz
);
CREATE INDEX execution_thread ON execution (thread);
CREATE INDEX execution_key ON execution (key)`

func openEffects(ctx context.Context, url string) (*effects, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	config.MaxConns = 6
	pool, err := pgxpool.NewWithConfig(ctx, config)
	return &effects{pool}, err
}

// toolWork is how long a tool takes before its effect, and again after it. A process that dies in the first half
// has no effect, and one that dies in the second half has one that nobody was told of.
const toolWork = 120 * time.Millisecond

var errCanceled = errors.New("the effect was called off")

// execute does what a tool does: it begins, has its effect once, and ends.
func (e *effects) execute(
	ctx context.Context, node string, call spool.ToolCall, idempotent bool,
) (json.RawMessage, error) {
	id := rand.Text()
	if _, err := e.exec(ctx, `INSERT INTO execution (id, key, node, thread, run, step, call, name, args, idempotent)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING`,
		id, call.IdempotencyKey(), node, string(call.Thread.ID), string(call.RunID), call.Step, string(call.ID), call.Name,
		string(call.Args), idempotent); err != nil {
		return nil, err
	}
	defer func() {
		ended, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
		defer cancel()
		_, _ = e.exec(ended, `UPDATE execution SET ended_at = coalesce(ended_at, clock_timestamp()) WHERE id = $1`, id)
	}()
	if !sleep(ctx, toolWork) {
		return nil, ctx.Err()
	}
	n, err := e.exec(ctx,
		`UPDATE execution SET effect_at = coalesce(effect_at, clock_timestamp()) WHERE id = $1 AND ended_at IS NULL`, id)
	if err == nil && n == 0 {
		err = errCanceled
	}
	if err != nil {
		return nil, err
	}
	if !sleep(ctx, toolWork) {
		return nil, ctx.Err()
	}
	return json.Marshal(resultOf(string(call.ID)))
}

// resultOf returns the result of a call.
func resultOf(call string) string { return "done " + call }

// exec runs a statement that may run twice, until it has succeeded or ctx ends.
func (e *effects) exec(ctx context.Context, sql string, args ...any) (int64, error) {
	for {
		tag, err := e.pool.Exec(ctx, sql, args...)
		if err == nil {
			return tag.RowsAffected(), nil
		}
		if !sleep(ctx, 50*time.Millisecond) {
			return 0, err
		}
	}
}

// happened reports whether a call had its effect. If not, it calls off all executions that could still have it,
// so that the answer stays true.
func (e *effects) happened(
	ctx context.Context, thread spool.ThreadID, run spool.RunID, call spool.ToolCallID,
) (bool, error) {
	where := ` WHERE thread = $1 AND run = $2 AND call = $3`
	args := []any{string(thread), string(run), string(call)}
	if _, err := e.pool.Exec(
		ctx, `UPDATE execution SET ended_at = clock_timestamp()`+where+` AND effect_at IS NULL AND ended_at IS NULL`, args...,
	); err != nil {
		return false, err
	}
	var n int
	err := e.pool.QueryRow(ctx, `SELECT count(*) FROM execution`+where+` AND effect_at IS NOT NULL`, args...).Scan(&n)
	return n > 0, err
}

// executions returns the calls of a thread that had their effect.
func (e *effects) executions(ctx context.Context, thread spool.ThreadKey) ([]spooltest.Execution, error) {
	rows, err := e.pool.Query(ctx, `SELECT key, run, step, call, name, args, idempotent FROM execution
		WHERE thread = $1 AND effect_at IS NOT NULL ORDER BY effect_at`, string(thread.ID))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (spooltest.Execution, error) {
		x := spooltest.Execution{Call: spool.ToolCall{Thread: thread}}
		var args string
		err := row.Scan(&x.Call.Key, (*string)(&x.Call.RunID), &x.Call.Step, (*string)(&x.Call.ID), &x.Call.Name, &args,
			&x.Idempotent)
		x.Call.Args = json.RawMessage(args)
		return x, err
	})
}

// began returns the calls of a thread whose tools have begun.
func (e *effects) began(ctx context.Context, thread spool.ThreadID) (map[spool.ToolCallID]bool, error) {
	rows, err := e.pool.Query(ctx, `SELECT DISTINCT call FROM execution WHERE thread = $1`, string(thread))
	if err != nil {
		return nil, err
	}
	calls, err := pgx.CollectRows(rows, pgx.RowTo[string])
	began := make(map[spool.ToolCallID]bool, len(calls))
	for _, call := range calls {
		began[spool.ToolCallID(call)] = true
	}
	return began, err
}

// repeated is a key whose effect happened more than once.
type repeated struct {
	Key, Thread, Call, Nodes string
	Times                    int
}

// repeats returns the keys of calls that may not be repeated and were.
func (e *effects) repeats(ctx context.Context) ([]repeated, error) {
	rows, err := e.pool.Query(ctx, `SELECT key, min(thread), min(call), string_agg(node, ', ' ORDER BY effect_at), count(*)
		FROM execution WHERE effect_at IS NOT NULL AND NOT idempotent GROUP BY key HAVING count(*) > 1 ORDER BY key`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (r repeated, err error) {
		err = row.Scan(&r.Key, &r.Thread, &r.Call, &r.Nodes, &r.Times)
		return r, err
	})
}

// counts returns how many executions began, and how many had their effect.
func (e *effects) counts(ctx context.Context) (began, took int, err error) {
	err = e.pool.QueryRow(ctx, `SELECT count(*), count(effect_at) FROM execution`).Scan(&began, &took)
	return began, took, err
}
