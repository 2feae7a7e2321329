package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"hash/fnv"
	"maps"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// The statements of a start, in the order in which backend/postgres sends them. They are copied on purpose, because
// the measurement is about Spool's work around them.
const (
	pgLockThread = "SELECT pg_advisory_xact_lock($1)"
	pgReadThread = `SELECT coalesce($1::bigint, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), t.id IS NOT NULL,
			tenant, id, state, model, title, created_at, updated_at, run_id, last_seq, fence, lease_until, owner, labels, t.bytes, t.bytes_summed, t.last_version
		FROM (VALUES (1)) AS one LEFT JOIN spool.thread t ON t.tenant = $2 AND t.id = $3`
	pgRunColumns = `tenant, id, thread_id, created_at, parent_id, depth, agent, started_by, model, state, stop_reason, error,
		enqueued_at, started_at, ended_at, max_steps, steps, attempts,
		input_tokens, cached_input_tokens, output_tokens, total_tokens,
		segments, place, root_id, nested, cost_micros, currency, allowance,
		engine_state, start_key, nonce, scopes, host_state, provider_options, client`
	pgReadRun = "SELECT id, " + pgRunColumns + ` FROM spool.run WHERE tenant = $1 AND thread_id || '' = $2
		AND id = (SELECT run_id FROM spool.thread WHERE tenant = $3 AND id = $4)`
	pgInsertRun = "INSERT INTO spool.run (" + pgRunColumns + `, ord)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27,
			$28, $29, $30, $31, $32, $33, $34, $35, $36,
			coalesce((SELECT ord FROM spool.run WHERE tenant = $37 AND thread_id = $38 ORDER BY ord DESC LIMIT 1), 0) + 1)`
	pgInsertMessage = `INSERT INTO spool.message (tenant, thread_id, id, agent_id, role, content, created_at, client_message_id,
			run_id, after_seq, ord)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10,
			coalesce((SELECT ord FROM spool.message WHERE tenant = $11 AND thread_id = $12 ORDER BY ord DESC LIMIT 1), 0) + 1)`
	pgInsertJob = `INSERT INTO spool.job (tenant, thread_id, run_id, key, kind, agent, model, segment, queue, payload, id, due_at, first_due)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT (tenant, key) WHERE key <> '' DO NOTHING`
	pgInsertThread = `INSERT INTO spool.thread (tenant, id, state, model, title, created_at, updated_at, run_id, last_seq, fence, lease_until,
			owner, labels, bytes, bytes_summed, last_version)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, 1)`
	pgInsertDelta = "INSERT INTO spool.delta (tenant, thread_id, version, seq, at, body) VALUES ($1, $2, 1, 0, $3, $4)"
	pgAddTally    = `INSERT INTO spool.tally (tenant, shard, threads, idle, queued, running, waiting, completed, cancelled, failed,
			input_tokens, cached_input_tokens, output_tokens, total_tokens, bytes)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) ON CONFLICT (tenant, shard) DO UPDATE SET
			threads = tally.threads + excluded.threads, idle = tally.idle + excluded.idle, queued = tally.queued + excluded.queued,
			running = tally.running + excluded.running, waiting = tally.waiting + excluded.waiting,
			completed = tally.completed + excluded.completed, cancelled = tally.cancelled + excluded.cancelled,
			failed = tally.failed + excluded.failed, input_tokens = tally.input_tokens + excluded.input_tokens,
			cached_input_tokens = tally.cached_input_tokens + excluded.cached_input_tokens,
			output_tokens = tally.output_tokens + excluded.output_tokens, total_tokens = tally.total_tokens + excluded.total_tokens,
			bytes = tally.bytes + excluded.bytes`
)

// barePgStarter writes the rows of starts, and nothing else.
type barePgStarter struct{ pool *pgxpool.Pool }

func newBareStarter(ctx context.Context, url string) (starter, error) {
	pool, err := openPool(ctx, url, nil)
	if err != nil {
		return nil, err
	}
	return barePgStarter{pool}, nil
}

func (s barePgStarter) close() error {
	s.pool.Close()
	return nil
}

// start runs the statements of one start, in two round trips on one connection.
func (s barePgStarter) start(ctx context.Context) error {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	const tenant, agent, model = "default", "bench", "script"
	thread, run, message := spool.NewID("thr"), spool.NewID("run"), spool.NewID("msg")

	var read pgx.Batch
	read.Queue("BEGIN ISOLATION LEVEL READ COMMITTED")
	read.Queue(pgLockThread, int64(fnv64(thread)))
	read.Queue(pgReadThread, nil, tenant, thread)
	read.Queue(pgReadRun, tenant, thread, tenant, thread)
	if err := conn.SendBatch(ctx, &read).Close(); err != nil {
		return err
	}
	at := time.Now().UTC().Truncate(time.Microsecond)
	now := at.UnixMicro()
	delta := fmt.Sprintf(startDelta, run, at.Format(time.RFC3339Nano), message)
	var write pgx.Batch
	write.Queue(pgInsertRun,
		tenant, run, thread, now, "", 0, agent, "", model, "QUEUED", "", "",
		now, now, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, "", "", 0, "", "", "", "", rand.Text(), "", "", "", "", tenant, thread)
	write.Queue(pgInsertMessage, tenant, thread, message, "", "user", `"`+startPrompt+`"`, now, "", run, 0, tenant, thread)
	write.Queue(pgInsertJob, tenant, thread, run, "run:"+run+":1", "start", agent, model, 1, "", "", wire.NewJobID(), now,
		now)
	write.Queue(pgInsertDelta, tenant, thread, now, delta)
	write.Queue(pgInsertThread, tenant, thread, "QUEUED", model, startTitle, now, now, run, 0, 0, 0, "", "{}",
		startBytes+int64(len(delta)), 0)
	write.Queue(pgAddTally, tenant, fnv64(thread)%16, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	write.Queue("COMMIT")
	return conn.SendBatch(ctx, &write).Close()
}

func fnv64(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text))
	return h.Sum64()
}

// openPool opens a pool of pgx with as many connections as a node of Spool has for statements.
func openPool(ctx context.Context, url string, parameters map[string]string) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	config.MaxConns = pgConnections - 1 // Spool has one more to listen
	maps.Copy(config.ConnConfig.RuntimeParams, parameters)
	return pgxpool.NewWithConfig(ctx, config)
}
