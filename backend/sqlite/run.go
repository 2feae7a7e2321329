package sqlite

import (
	"cmp"
	"encoding/json"
	"slices"
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

// scanBareRun scans a run without its state.
func scanBareRun(r *row) (spool.RunRow, error) {
	run, err := scanRun(r)
	return spool.RunRow{Run: run}, err
}

// runSelect has the statements of a selection of a thread's runs.
type runSelect struct{ whole, bare string }

func selectRuns(rest string) runSelect {
	const where = " FROM run WHERE tenant = ? AND thread_id = ?"
	return runSelect{"SELECT " + rowColumns + where + rest, "SELECT " + runColumns + where + rest}
}

var (
	oneRun      = selectRuns(" AND id = ?")
	nestedRuns  = selectRuns(" AND root_id = ? AND root_id <> '' ORDER BY ord LIMIT ?")
	waitingRuns = selectRuns(" AND place > 0 ORDER BY place LIMIT ?")
	newestRuns  = selectRuns(" ORDER BY ord DESC LIMIT ?")
)

// Runs implements [spool.View].
func (v *view) Runs(q spool.RunQuery) ([]spool.RunRow, error) {
	if q.ID != "" && (q.RootID != "" || q.Waiting) || q.RootID != "" && q.Waiting {
		return v.runsOfSeveral(q)
	}
	from, args := &newestRuns, []any{v.key.Tenant, v.key.ID}
	switch {
	case q.ID != "":
		from, args = &oneRun, append(args, q.ID)
	case q.RootID != "":
		from, args = &nestedRuns, append(args, q.RootID, bound(q.Limit))
	case q.Waiting:
		from, args = &waitingRuns, append(args, bound(q.Limit))
	default:
		args = append(args, bound(q.Limit))
	}
	query, scan := from.bare, scanBareRun
	if q.Whole {
		query, scan = from.whole, scanRunRow
	}
	runs := []spool.RunRow{}
	err := v.query(query, each(&runs, scan), args...)
	return runs, err
}

// runsOfSeveral returns the runs that a query with several conditions selects, of those that one of the
// conditions selects.
func (v *view) runsOfSeveral(q spool.RunQuery) ([]spool.RunRow, error) {
	one := spool.RunQuery{ID: q.ID, Whole: q.Whole}
	if q.ID == "" {
		one.RootID = q.RootID
	}
	runs, err := v.Runs(one)
	runs = slices.DeleteFunc(runs, func(r spool.RunRow) bool {
		return q.RootID != "" && r.RootID != q.RootID || q.Waiting && r.QueuePosition == 0
	})
	if q.Limit > 0 {
		runs = runs[:min(len(runs), q.Limit)]
	}
	return runs, err
}

// insertRun adds a run to the thread.
func (t *tx) insertRun(r *spool.RunRow) error {
	if err := t.needThread(); err != nil {
		return err
	}
	text, err := encodeRun(r)
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
	stored := storedOf(r)
	t.remember(stored)
	t.countRun(&stored, 1)
	t.grow(runSize + len(r.HostState) + stored.wait + len(text.nested) + len(text.client))
	return nil
}

// whyRefused finds out which unique index has refused a run: that of ids, for an insert, that of
// active runs, or else that of start keys.
func (t *tx) whyRefused(r *spool.RunRow, insert bool) error {
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
	return spool.ErrStartKeyUsed
}

// updateRun replaces a run of the thread.
func (t *tx) updateRun(r *spool.RunRow) error {
	text, err := encodeRun(r)
	if err != nil {
		return err
	}
	old, err := t.stored(r.ID)
	if err != nil {
		return err
	}
	next := storedOf(r)
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

var errNoRun = &spool.Error{Code: spool.NotFound, Message: "run not found"}
