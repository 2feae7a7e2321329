package postgres

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/wire"
)

// counts are a transaction's changes of the tally.
type counts struct {
	threads int64
	runs    [len(tallyStates)]int64 // by the place in tallyStates
	tokens  spool.TokenCount        // of dispatched runs, which include those of their nested runs
	bytes   int64
}

// tallyStates are the states that the tally counts, in the order of its columns.
var tallyStates = [...]wire.State{
	wire.Idle, wire.Queued, wire.Running, wire.WaitingForInput, wire.Completed, wire.Cancelled, wire.Failed,
}

const tallyColumns = `threads, idle, queued, running, waiting, completed, cancelled, failed,
	input_tokens, cached_input_tokens, output_tokens, total_tokens, bytes`

// addToTally is the end of a statement that inserts into the tally: it adds to the row that is there.
const addToTally = ` ON CONFLICT (tenant, shard) DO UPDATE SET
	threads = tally.threads + excluded.threads,
	idle = tally.idle + excluded.idle,
	queued = tally.queued + excluded.queued,
	running = tally.running + excluded.running,
	waiting = tally.waiting + excluded.waiting,
	completed = tally.completed + excluded.completed,
	cancelled = tally.cancelled + excluded.cancelled,
	failed = tally.failed + excluded.failed,
	input_tokens = tally.input_tokens + excluded.input_tokens,
	cached_input_tokens = tally.cached_input_tokens + excluded.cached_input_tokens,
	output_tokens = tally.output_tokens + excluded.output_tokens,
	total_tokens = tally.total_tokens + excluded.total_tokens,
	bytes = tally.bytes + excluded.bytes`

// countRun notes that the number of runs with the stored values changes by n.
func (t *tx) countRun(r *form.StoredRun, n int64) {
	for i, state := range tallyStates {
		if state == r.State {
			t.counts.runs[i] += n
		}
	}
	t.counts.tokens.Add(r.TokensOf(n))
}

// writeTally adds the changes to the tally. It comes at the end of the transaction, because it locks a row that
// transactions of other threads change too.
func (t *tx) writeTally() {
	c := t.counts
	if c == (counts{}) {
		return
	}
	args := []any{t.key.Tenant, shardOf(string(t.key.ID)), c.threads}
	for _, n := range c.runs {
		args = append(args, n)
	}
	args = append(args, c.tokens.InputTokens, c.tokens.CachedInputTokens, c.tokens.OutputTokens, c.tokens.TotalTokens,
		c.bytes)
	t.write("INSERT INTO spool.tally (tenant, shard, "+tallyColumns+") VALUES (?, ?, "+places(tallyColumns)+")"+addToTally,
		args...)
	t.counts = counts{}
}

// deleteRuns removes the thread's runs, and takes them out of the tally.
func (t *tx) deleteRuns() {
	t.write(`WITH gone AS (
			DELETE FROM spool.run WHERE tenant = ? AND thread_id = ?
			RETURNING state, depth, input_tokens, cached_input_tokens, output_tokens, total_tokens
		)
		INSERT INTO spool.tally (tenant, shard, `+tallyColumns+`)
		SELECT ?, ?::bigint, 0,
			-count(*) FILTER (WHERE state = 'IDLE'), -count(*) FILTER (WHERE state = 'QUEUED'),
			-count(*) FILTER (WHERE state = 'RUNNING'), -count(*) FILTER (WHERE state = 'WAITING_FOR_INPUT'),
			-count(*) FILTER (WHERE state = 'COMPLETED'), -count(*) FILTER (WHERE state = 'CANCELLED'),
			-count(*) FILTER (WHERE state = 'FAILED'),
			coalesce(-sum(input_tokens) FILTER (WHERE depth = 0), 0)::bigint,
			coalesce(-sum(cached_input_tokens) FILTER (WHERE depth = 0), 0)::bigint,
			coalesce(-sum(output_tokens) FILTER (WHERE depth = 0), 0)::bigint,
			coalesce(-sum(total_tokens) FILTER (WHERE depth = 0), 0)::bigint, 0
		FROM gone HAVING count(*) > 0`+addToTally,
		t.key.Tenant, t.key.ID, t.key.Tenant, shardOf(string(t.key.ID)))
}

// tallyOf returns the statement that reads the sums of a tenant.
func tallyOf(tenant spool.Tenant, tally *wire.Tally) statement {
	tally.Runs = make(map[wire.State]int64)
	return statement{
		sql: `SELECT coalesce(sum(threads), 0)::bigint, coalesce(sum(idle), 0)::bigint, coalesce(sum(queued), 0)::bigint,
				coalesce(sum(running), 0)::bigint, coalesce(sum(waiting), 0)::bigint, coalesce(sum(completed), 0)::bigint,
				coalesce(sum(cancelled), 0)::bigint, coalesce(sum(failed), 0)::bigint,
				coalesce(sum(input_tokens), 0)::bigint, coalesce(sum(cached_input_tokens), 0)::bigint,
				coalesce(sum(output_tokens), 0)::bigint, coalesce(sum(total_tokens), 0)::bigint, coalesce(sum(bytes), 0)::bigint
			FROM spool.tally WHERE tenant = ?`,
		args: []any{tenant},
		scan: func(r *row) {
			tally.Threads = r.Int64()
			for _, state := range tallyStates {
				if n := r.Int64(); n > 0 {
					tally.Runs[state] = n
				}
			}
			tally.Tokens = spool.TokenCount{
				InputTokens: r.Int64(), CachedInputTokens: r.Int64(), OutputTokens: r.Int64(), TotalTokens: r.Int64(),
			}
			tally.Bytes = r.Int64()
		},
	}
}
