package sqlite

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/spoolhq/spool"
)

// runColumns are the columns of [spool.Run], and stateColumns those of [spool.RunState]: engine_state
// changes while the run goes on, and the start sets the others.
const (
	runColumns = `tenant, id, thread_id, created_at, parent_id, depth, agent, started_by, model, state, stop_reason, error,
	enqueued_at, started_at, ended_at, max_steps, steps, attempts,
	input_tokens, cached_input_tokens, output_tokens, total_tokens,
	segments, place, root_id, nested, cost_micros, currency, allowance`
	stateColumns = `engine_state, start_key, nonce, scopes, host_state, provider_options, client`
	rowColumns   = runColumns + ", " + stateColumns
)

// runPlaces has a place for each of the columns of a row.
var runPlaces = strings.TrimSuffix(strings.Repeat("?, ", strings.Count(rowColumns, ",")+1), ", ")

func scanRun(r *row) (spool.Run, error) {
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
	return run, r.err
}

func scanRunRow(r *row) (spool.RunRow, error) {
	run, _ := scanRun(r)
	state := decode[spool.RunState](r, "the run's state")
	state.StartKey, state.Nonce, state.Scopes = r.text(), r.text(), scanScopes(r)
	state.HostState, state.ProviderOptions = r.json(), r.json()
	state.Client = decode[*spool.ClientInput](r, "what the run's client has brought")
	return spool.RunRow{Run: run, RunState: state}, r.err
}

// oneRun scans the only row of a query into run.
func oneRun(run *spool.RunRow, found *bool) func(r *row) error {
	return func(r *row) (err error) {
		*found = true
		*run, err = scanRunRow(r)
		return err
	}
}

// Run implements [spool.View].
func (v *view) Run(id spool.RunID) (run spool.RunRow, err error) {
	var found bool
	err = v.query("SELECT "+rowColumns+" FROM run WHERE tenant = ? AND id = ? AND thread_id = ?",
		oneRun(&run, &found), v.key.Tenant, id, v.key.ID)
	if err == nil && !found {
		err = errNoRun
	}
	return run, err
}

// Runs implements [spool.View].
func (v *view) Runs(limit int) ([]spool.Run, error) {
	runs := []spool.Run{}
	err := v.query("SELECT "+runColumns+" FROM run WHERE tenant = ? AND thread_id = ? ORDER BY ord DESC LIMIT ?",
		each(&runs, scanRun), v.key.Tenant, v.key.ID, bound(limit))
	return runs, err
}

// Waiting implements [spool.View].
func (v *view) Waiting() ([]spool.RunRow, error) {
	runs := []spool.RunRow{}
	err := v.query("SELECT "+rowColumns+" FROM run WHERE tenant = ? AND thread_id = ? AND place > 0 ORDER BY place",
		each(&runs, scanRunRow), v.key.Tenant, v.key.ID)
	return runs, err
}

// Nested implements [spool.View].
func (v *view) Nested(root spool.RunID) ([]spool.RunRow, error) {
	runs := []spool.RunRow{}
	err := v.query("SELECT "+rowColumns+` FROM run
		WHERE tenant = ? AND thread_id = ? AND root_id = ? AND root_id <> '' ORDER BY ord`,
		each(&runs, scanRunRow), v.key.Tenant, v.key.ID, root)
	return runs, err
}

// FindStart implements [spool.Store].
func (db *DB) FindStart(ctx context.Context, tenant spool.Tenant, startKey string) (run spool.RunRow, err error) {
	if startKey == "" {
		return run, errNoRun
	}
	var found bool
	err = db.starts.read(ctx, func(c *conn) error {
		return c.query("SELECT "+rowColumns+" FROM run WHERE tenant = ? AND start_key = ? AND start_key <> ''",
			oneRun(&run, &found), tenant, startKey)
	})
	if err == nil && !found {
		err = errNoRun
	}
	return run, err
}

// InsertRun implements [spool.Tx]. It also returns a [spool.Conflict] error when the
// tenant has a run with the same start key.
func (t *tx) InsertRun(r spool.RunRow) error {
	if err := t.needThread(); err != nil {
		return err
	}
	text, err := encodeRun(&r)
	if err != nil {
		return err
	}
	made := r.CreatedAt
	if made.IsZero() {
		made = t.now
	}
	n, err := t.change("INSERT INTO run ("+rowColumns+`, ord)
		VALUES (`+runPlaces+`,
			coalesce((SELECT ord FROM run WHERE tenant = ? AND thread_id = ? ORDER BY ord DESC LIMIT 1), 0) + 1)
		ON CONFLICT DO NOTHING`,
		t.key.Tenant, r.ID, t.key.ID, made, r.ParentID, r.Depth, r.Agent, r.StartedBy, r.Model, r.State, string(r.StopReason), r.Error,
		r.EnqueuedAt, r.StartedAt, r.EndedAt, r.MaxSteps, r.Steps, r.Attempts,
		r.InputTokens, r.CachedInputTokens, r.OutputTokens, r.TotalTokens,
		r.Segments, r.QueuePosition, r.RootID, text.nested, r.CostMicros, r.Currency, text.allowance,
		text.state, r.StartKey, r.Nonce, encodeScopes(r.Scopes), r.HostState, r.ProviderOptions, text.client,
		t.key.Tenant, t.key.ID)
	switch {
	case err != nil:
		return err
	case n == 0:
		return t.whyRefused(r, true)
	}
	stored := storedOf(&r)
	t.remember(stored)
	t.countRun(&stored, 1)
	t.grow(runSize + len(r.HostState) + stored.wait + len(text.nested) + len(text.client))
	return nil
}

// whyRefused finds out which unique index has refused a run: that of ids, for an insert, that of
// active runs, or else that of start keys.
func (t *tx) whyRefused(r spool.RunRow, insert bool) error {
	var used, active bool
	err := t.query("SELECT 1 FROM run WHERE tenant = ? AND id = ?", func(*row) error {
		used = insert
		return nil
	}, t.key.Tenant, r.ID)
	if err != nil || used {
		return cmp.Or(err, error(spool.ErrRunIDUsed))
	}
	err = t.query(`SELECT 1 FROM run WHERE tenant = ? AND thread_id = ? AND id <> ?
		AND depth = 0 AND place = 0 AND state IN ('QUEUED', 'RUNNING', 'WAITING_FOR_INPUT')`, func(*row) error {
		active = r.Depth == 0 && r.Active()
		return nil
	}, t.key.Tenant, t.key.ID, r.ID)
	if err != nil || active {
		return cmp.Or(err, error(spool.ErrActiveRun))
	}
	return errStartKeyUsed
}

// UpdateRun implements [spool.Tx].
func (t *tx) UpdateRun(r spool.RunRow) error {
	text, err := encodeRun(&r)
	if err != nil {
		return err
	}
	old, err := t.stored(r.ID)
	if err != nil {
		return err
	}
	next := storedOf(&r)
	set, args := updateRun, make([]any, 0, 38)
	if old.moved(&next) {
		set, args = moveRun, append(args, r.Depth, r.State, r.StartKey, r.QueuePosition, r.RootID)
	}
	n, err := t.change(set,
		append(args, r.ParentID, r.Agent, r.StartedBy, r.Model, string(r.StopReason), r.Error,
			r.EnqueuedAt, r.StartedAt, r.EndedAt, r.MaxSteps, r.Steps, r.Attempts,
			r.InputTokens, r.CachedInputTokens, r.OutputTokens, r.TotalTokens,
			r.Segments, text.nested, r.CostMicros, r.Currency, text.allowance,
			r.Nonce, encodeScopes(r.Scopes), r.HostState, r.ProviderOptions, text.client, text.state,
			t.key.Tenant, r.ID, t.key.ID)...)
	switch {
	case isUnique(err):
		return t.whyRefused(r, false)
	case err != nil:
		return err
	case n == 0:
		return errNoRun
	}
	t.remember(next)
	t.countRun(&old, -1)
	t.countRun(&next, 1)
	if next.wait == 0 || next.wait == old.wait { // once the run has its turn, the turn is a message
		return nil
	}
	if err := t.load(); err != nil {
		return err
	}
	t.grow(next.wait - old.wait)
	return nil
}

// The statements that update a run. SQLite writes the page of an index again even if the value
// of the column stays the same. So a statement leaves out the indexed columns, which a step never
// changes.
const (
	updateRun = "UPDATE run SET " + runSets
	moveRun   = "UPDATE run SET depth = ?, state = ?, start_key = ?, place = ?, root_id = ?, " + runSets

	runSets = `parent_id = ?, agent = ?, started_by = ?, model = ?, stop_reason = ?, error = ?,
		enqueued_at = ?, started_at = ?, ended_at = ?, max_steps = ?, steps = ?, attempts = ?,
		input_tokens = ?, cached_input_tokens = ?, output_tokens = ?, total_tokens = ?,
		segments = ?, nested = ?, cost_micros = ?, currency = ?, allowance = ?,
		nonce = ?, scopes = ?, host_state = ?, provider_options = ?, client = ?, engine_state = ?
		WHERE tenant = ? AND id = ? AND thread_id = ?`
)

// nestedRun are the fields that only a nested run has.
type nestedRun struct {
	CallID spool.ToolCallID    `json:"callId,omitempty"`
	Prompt string              `json:"prompt,omitempty"`
	Result *spool.NestedResult `json:"result,omitempty"`
}

// encodedRun is the JSON columns of a run. An empty one stands for the zero value.
type encodedRun struct{ nested, allowance, client, state json.RawMessage }

func encodeRun(r *spool.RunRow) (e encodedRun, err error) {
	state := r.RunState // the row stays on the stack
	if e.state, err = json.Marshal(&state); err != nil {
		return e, spool.Wrap(spool.Invalid, "the run's state cannot be encoded", err)
	}
	if string(e.state) == "{}" {
		e.state = nil
	}
	if n := (nestedRun{r.CallID, r.Prompt, r.Result}); n != (nestedRun{}) {
		if e.nested, err = json.Marshal(n); err != nil {
			return e, spool.Wrap(spool.Invalid, "the nested run cannot be encoded", err)
		}
	}
	if r.Allowance != nil {
		if e.allowance, err = json.Marshal(r.Allowance); err != nil {
			return e, spool.Wrap(spool.Invalid, "the run's budget cannot be encoded", err)
		}
	}
	if r.Client != nil {
		if e.client, err = json.Marshal(r.Client); err != nil {
			return e, spool.Wrap(spool.Invalid, "what the run's client has brought cannot be encoded", err)
		}
	}
	return e, nil
}

var (
	errNoRun        = &spool.Error{Code: spool.NotFound, Message: "run not found"}
	errStartKeyUsed = &spool.Error{Code: spool.Conflict, Message: "Idempotency key already used"}
)
