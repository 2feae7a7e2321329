package postgres

import (
	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// runColumnsOf returns the columns of a query, and the function that reads them.
func runColumnsOf(whole bool) (columns string, scan func(r form.Row) store.RunRow) {
	if whole {
		return form.WholeRunColumns, form.ScanWholeRun
	}
	return form.RunColumns, form.ScanRun
}

// ofThread is the condition that a run with a known id is of the thread. An index cannot have it: else a plan for
// any values may read all runs of the thread instead of the primary key.
const ofThread = "thread_id || '' = ?"

// Runs implements [store.View].
func (v *view) Runs(q wire.RunQuery) ([]store.RunRow, error) {
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
	runs := []store.RunRow{}
	err := v.query(query+" ORDER BY "+order+" LIMIT ?", eachForm(&runs, scan), append(args, bound(q.Limit))...)
	return runs, err
}

// insertRun adds a run.
func (t *tx) insertRun(r *store.RunRow) error {
	text, err := form.EncodeRun(r)
	if err != nil {
		return err
	}
	stored := storedRun{form.StoredOf(r), startColumnsOf(r, text.Client)}
	createdAt := r.CreatedAt
	if createdAt.IsZero() {
		createdAt = t.now
	}
	args := []any{
		t.key.Tenant, r.ID, t.key.ID, createdAt, r.ParentID, r.Depth, r.Agent, r.StartedBy, r.Model, r.State,
		string(r.StopReason), r.Error, r.EnqueuedAt, r.StartedAt, r.EndedAt, r.MaxSteps, r.Steps, r.Attempts, r.InputTokens,
		r.CachedInputTokens, r.OutputTokens, r.TotalTokens, r.Segments, r.QueuePosition, r.RootID, text.Nested, r.CostMicros,
		r.Currency, text.Allowance, r.Expired.Questions, r.Expired.Since, text.State,
	}
	t.write("INSERT INTO spool.run ("+form.WholeRunColumns+`, ord)
		VALUES (`+places(form.WholeRunColumns)+
		`, coalesce((SELECT ord FROM spool.run WHERE tenant = ? AND thread_id = ? ORDER BY ord DESC LIMIT 1), 0) + 1)`,
		append(append(args, stored.start.args()...), t.key.Tenant, t.key.ID)...)
	t.runs.written(stored)
	t.countRun(&stored.StoredRun, 1)
	t.grow(form.RunSize + len(r.HostState) + stored.Wait + len(text.Nested) + len(text.Client))
	return nil
}

const (
	// setRun sets the columns of a run that a step may change, and moves it in the indexes if need be.
	setRun = `UPDATE spool.run SET parent_id = ?, depth = ?, agent = ?, started_by = ?, model = ?, state = ?, stop_reason = ?, error = ?,
		enqueued_at = ?, started_at = ?, ended_at = ?, max_steps = ?, steps = ?, attempts = ?,
		input_tokens = ?, cached_input_tokens = ?, output_tokens = ?, total_tokens = ?,
		segments = ?, place = ?, root_id = ?, nested = ?, cost_micros = ?, currency = ?, allowance = ?,
		expired_questions = ?, expired_since = ?, engine_state = ?`
	// setStartColumns sets the columns that come from the start. They may be large, and PostgreSQL would write a large
	// text again even if it is the same.
	setStartColumns = `, start_key = ?, start_hash = ?, nonce = ?, scopes = ?, host_state = ?, provider_options = ?, client = ?`

	ofRun = " WHERE tenant = ? AND id = ? AND " + ofThread
)

// updateRun replaces a run. It reads the stored values first, because the tally needs them.
func (t *tx) updateRun(r *store.RunRow) error {
	text, err := form.EncodeRun(r)
	if err != nil {
		return err
	}
	old, err := t.storedRun(r.ID)
	if err != nil {
		return err
	}
	next := storedRun{form.StoredOf(r), startColumnsOf(r, text.Client)}
	set := setRun
	args := []any{
		r.ParentID, r.Depth, r.Agent, r.StartedBy, r.Model, r.State, string(r.StopReason), r.Error,
		r.EnqueuedAt, r.StartedAt, r.EndedAt, r.MaxSteps, r.Steps, r.Attempts,
		r.InputTokens, r.CachedInputTokens, r.OutputTokens, r.TotalTokens,
		r.Segments, r.QueuePosition, r.RootID, text.Nested, r.CostMicros, r.Currency, text.Allowance,
		r.Expired.Questions, r.Expired.Since, text.State,
	}
	if old.start != next.start {
		set += setStartColumns
		args = append(args, next.start.args()...)
	}
	t.write(set+ofRun, append(args, t.key.Tenant, r.ID, t.key.ID)...)
	t.runs.written(next)
	t.countRun(&old.StoredRun, -1)
	t.countRun(&next.StoredRun, 1)
	if n := old.WaitGrowth(&next.StoredRun); n != 0 {
		t.grow(n)
	}
	return nil
}
