package postgres

import (
	"github.com/spoolhq/spool"
)

// runColumns are the columns of [spool.Run], and stateColumns those of [spool.RunState]: engine_state changes while
// the run goes on, and the start sets the others.
const (
	runColumns = `tenant, id, thread_id, created_at, parent_id, depth, agent, started_by, model, state, stop_reason, error,
	enqueued_at, started_at, ended_at, max_steps, steps, attempts,
	input_tokens, cached_input_tokens, output_tokens, total_tokens,
	segments, place, root_id, nested, cost_micros, currency, allowance`
	stateColumns = `engine_state, start_key, nonce, scopes, host_state, provider_options, client`
	rowColumns   = runColumns + ", " + stateColumns
)

func scanRun(r *row) spool.RunRow {
	run := spool.Run{
		Tenant: spool.Tenant(r.text()), ID: spool.RunID(r.text()), ThreadID: spool.ThreadID(r.text()),
		CreatedAt: r.time(), ParentID: spool.RunID(r.text()), Depth: r.int(), Agent: r.text(), StartedBy: r.text(), Model: r.text(),
		State: spool.State(r.text()), StopReason: spool.StopReason(r.text()), Error: r.text(),
		EnqueuedAt: r.time(), StartedAt: r.time(), EndedAt: r.time(),
		MaxSteps: r.int(), Steps: r.int(), Attempts: r.int(),
		TokenCount: spool.TokenCount{
			InputTokens: r.int64(), CachedInputTokens: r.int64(), OutputTokens: r.int64(), TotalTokens: r.int64(),
		},
		Segments: r.int(), QueuePosition: r.int64(), RootID: spool.RunID(r.text()),
	}
	n := decode[nestedRun](r, "the nested run")
	run.CallID, run.Prompt, run.Result = n.CallID, n.Prompt, n.Result
	run.CostMicros, run.Currency = r.int64(), r.text()
	run.Allowance = decode[*spool.Allowance](r, "the run's budget")
	return spool.RunRow{Run: run}
}

// scanWhole reads a run with its state.
func scanWhole(r *row) spool.RunRow {
	run := scanRun(r)
	run.RunState = decode[spool.RunState](r, "the run's state")
	run.StartKey, run.Nonce, run.Scopes = r.text(), r.text(), decode[[]string](r, "the run's scopes")
	run.HostState, run.ProviderOptions = r.json(), r.json()
	run.Client = decode[*spool.ClientInput](r, "what the run's client has brought")
	return run
}

// runColumnsOf returns the columns of a query, and the function that reads them.
func runColumnsOf(whole bool) (columns string, scan func(r *row) spool.RunRow) {
	if whole {
		return rowColumns, scanWhole
	}
	return runColumns, scanRun
}

// ofThread is the condition that a run with a known id is of the thread. An index cannot have it: else a plan for
// any values may read all runs of the thread instead of the primary key.
const ofThread = "thread_id || '' = ?"

// Runs implements [spool.View].
func (v *view) Runs(q spool.RunQuery) ([]spool.RunRow, error) {
	columns, scan := runColumnsOf(q.Whole)
	query := "SELECT " + columns + " FROM spool.run WHERE tenant = ? AND thread_id = ?"
	args := []any{v.key.Tenant, v.key.ID}
	order := "ord DESC"
	if q.ID != "" {
		query = "SELECT " + columns + " FROM spool.run WHERE tenant = ? AND " + ofThread + " AND id = ?"
		args = append(args, q.ID)
	}
	if q.RootID != "" {
		query += " AND root_id = ? AND root_id <> ''" // the condition of the index
		args = append(args, q.RootID)
		order = "ord"
	}
	if q.Waiting {
		query += " AND place > 0"
		order = "place"
	}
	runs := []spool.RunRow{}
	err := v.query(query+" ORDER BY "+order+" LIMIT ?", each(&runs, scan), append(args, bound(q.Limit))...)
	return runs, err
}

// insertRun adds a run.
func (t *tx) insertRun(r *spool.RunRow) error {
	text, err := encodeRun(r)
	if err != nil {
		return err
	}
	made := r.CreatedAt
	if made.IsZero() {
		made = t.now
	}
	args := []any{
		t.key.Tenant, r.ID, t.key.ID, made, r.ParentID, r.Depth, r.Agent, r.StartedBy, r.Model, r.State, string(r.StopReason), r.Error,
		r.EnqueuedAt, r.StartedAt, r.EndedAt, r.MaxSteps, r.Steps, r.Attempts,
		r.InputTokens, r.CachedInputTokens, r.OutputTokens, r.TotalTokens,
		r.Segments, r.QueuePosition, r.RootID, text.nested, r.CostMicros, r.Currency, text.allowance,
		text.state,
	}
	t.write("INSERT INTO spool.run ("+rowColumns+`, ord)
		VALUES (`+places(rowColumns)+`, coalesce((SELECT ord FROM spool.run WHERE tenant = ? AND thread_id = ? ORDER BY ord DESC LIMIT 1), 0) + 1)`,
		append(append(args, text.given.args()...), t.key.Tenant, t.key.ID)...)
	stored := storedOf(r, text.given)
	t.runs.written(stored)
	t.countRun(&stored, 1)
	t.grow(runSize + len(r.HostState) + stored.wait + len(text.nested) + len(text.given.client))
	return nil
}

const (
	// setRun sets the columns of a run that a step may change, and moves it in the indexes if need be.
	setRun = `UPDATE spool.run SET parent_id = ?, depth = ?, agent = ?, started_by = ?, model = ?, state = ?, stop_reason = ?, error = ?,
		enqueued_at = ?, started_at = ?, ended_at = ?, max_steps = ?, steps = ?, attempts = ?,
		input_tokens = ?, cached_input_tokens = ?, output_tokens = ?, total_tokens = ?,
		segments = ?, place = ?, root_id = ?, nested = ?, cost_micros = ?, currency = ?, allowance = ?, engine_state = ?`
	// setGiven sets those that come from the start. They may be large, and PostgreSQL would write a large text
	// again even if it is the same.
	setGiven = `, start_key = ?, nonce = ?, scopes = ?, host_state = ?, provider_options = ?, client = ?`

	ofRun = " WHERE tenant = ? AND id = ? AND " + ofThread
)

// updateRun replaces a run, of which the tally needs the stored values.
func (t *tx) updateRun(r *spool.RunRow) error {
	text, err := encodeRun(r)
	if err != nil {
		return err
	}
	old, err := t.storedRun(r.ID)
	if err != nil {
		return err
	}
	next := storedOf(r, text.given)
	set := setRun
	args := []any{
		r.ParentID, r.Depth, r.Agent, r.StartedBy, r.Model, r.State, string(r.StopReason), r.Error,
		r.EnqueuedAt, r.StartedAt, r.EndedAt, r.MaxSteps, r.Steps, r.Attempts,
		r.InputTokens, r.CachedInputTokens, r.OutputTokens, r.TotalTokens,
		r.Segments, r.QueuePosition, r.RootID, text.nested, r.CostMicros, r.Currency, text.allowance, text.state,
	}
	if old.given != next.given {
		set += setGiven
		args = append(args, text.given.args()...)
	}
	t.write(set+ofRun, append(args, t.key.Tenant, r.ID, t.key.ID)...)
	t.runs.written(next)
	t.countRun(&old, -1)
	t.countRun(&next, 1)
	if next.wait != 0 && next.wait != old.wait { // once the run has its turn, the turn is a message
		t.grow(next.wait - old.wait)
	}
	return nil
}
