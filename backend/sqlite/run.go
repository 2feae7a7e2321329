package sqlite

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/spoolhq/spool"
)

const runColumns = `tenant, id, thread_id, created_at, parent_id, depth, agent, started_by, model, state, stop_reason, error,
	enqueued_at, started_at, ended_at, max_steps, steps, attempts,
	input_tokens, cached_input_tokens, output_tokens, total_tokens,
	segments, deaths, saved_fence, saved_n, stop_at, draft, start_key, settled_at, settle_claim, ending, place, wait,
	host_state, context, root_id, nested, children, cost_micros, currency, allowance, nonce, provider_options,
	carried, carried_since, alone, alone_deaths, scopes, client`

// runPlaces has a place for each of the columns of a run.
var runPlaces = strings.TrimSuffix(strings.Repeat("?, ", strings.Count(runColumns, ",")+1), ", ")

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
		Segments: r.int(), Deaths: r.int(), Saved: spool.Offset{Fence: r.int64(), N: r.int64()}, StopAt: r.time(),
	}
	draft := r.json()
	run.StartKey, run.SettledAt, run.SettleClaim = r.text(), r.time(), r.time()
	ending := r.json()
	run.Place = r.int64()
	wait := r.json()
	run.HostState = r.json()
	counted := r.json()
	run.RootID = spool.RunID(r.text())
	nested := r.json()
	run.Children = r.int()
	run.CostMicros, run.Currency = r.int64(), r.text()
	allowance := r.json()
	run.Nonce = r.text()
	run.ProviderOptions = r.json()
	run.Carriage = spool.Carriage{
		Carried: time.Duration(r.int64()) * time.Microsecond, Since: r.time(), Alone: r.bool(), AloneDeaths: r.int(),
	}
	run.Scopes = scanScopes(r)
	client := r.json()
	if draft != nil {
		run.Draft = new(spool.Draft)
		if err := json.Unmarshal(draft, run.Draft); err != nil {
			return run, spool.Wrap(spool.Internal, "the run's draft cannot be read", err)
		}
	}
	if ending != nil {
		run.Ending = new(spool.Ending)
		if err := json.Unmarshal(ending, run.Ending); err != nil {
			return run, spool.Wrap(spool.Internal, "the run's ending cannot be read", err)
		}
	}
	if counted != nil {
		run.Context = new(spool.ContextCount)
		if err := json.Unmarshal(counted, run.Context); err != nil {
			return run, spool.Wrap(spool.Internal, "what was counted of the run's context cannot be read", err)
		}
	}
	if nested != nil {
		var n nestedRun
		if err := json.Unmarshal(nested, &n); err != nil {
			return run, spool.Wrap(spool.Internal, "the nested run cannot be read", err)
		}
		run.CallID, run.Prompt, run.Result = n.CallID, n.Prompt, n.Result
	}
	if wait != nil {
		run.Wait = new(spool.Wait)
		if err := json.Unmarshal(wait, run.Wait); err != nil {
			return run, spool.Wrap(spool.Internal, "what the run waits with cannot be read", err)
		}
	}
	if client != nil {
		run.Client = new(spool.ClientInput)
		if err := json.Unmarshal(client, run.Client); err != nil {
			return run, spool.Wrap(spool.Internal, "what the run's client has brought cannot be read", err)
		}
	}
	if allowance != nil {
		run.Allowance = new(spool.Allowance)
		if err := json.Unmarshal(allowance, run.Allowance); err != nil {
			return run, spool.Wrap(spool.Internal, "the run's budget cannot be read", err)
		}
	}
	return run, nil
}

// oneRun scans the only row of a query into run.
func oneRun(run *spool.Run, found *bool) func(r *row) error {
	return func(r *row) (err error) {
		*found = true
		*run, err = scanRun(r)
		return err
	}
}

// Run implements [spool.View].
func (v *view) Run(id spool.RunID) (run spool.Run, err error) {
	var found bool
	err = v.query("SELECT "+runColumns+" FROM run WHERE tenant = ? AND id = ? AND thread_id = ?",
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
		func(r *row) error {
			run, err := scanRun(r)
			runs = append(runs, run)
			return err
		}, v.key.Tenant, v.key.ID, bound(limit))
	return runs, err
}

// Waiting implements [spool.View].
func (v *view) Waiting() ([]spool.Run, error) {
	runs := []spool.Run{}
	err := v.query("SELECT "+runColumns+" FROM run WHERE tenant = ? AND thread_id = ? AND place > 0 ORDER BY place",
		func(r *row) error {
			run, err := scanRun(r)
			runs = append(runs, run)
			return err
		}, v.key.Tenant, v.key.ID)
	return runs, err
}

// Nested implements [spool.View].
func (v *view) Nested(root spool.RunID) ([]spool.Run, error) {
	runs := []spool.Run{}
	err := v.query("SELECT "+runColumns+` FROM run
		WHERE tenant = ? AND thread_id = ? AND root_id = ? AND root_id <> '' ORDER BY ord`,
		func(r *row) error {
			run, err := scanRun(r)
			runs = append(runs, run)
			return err
		}, v.key.Tenant, v.key.ID, root)
	return runs, err
}

// FindStart implements [spool.Store].
func (db *DB) FindStart(ctx context.Context, tenant spool.Tenant, startKey string) (run spool.Run, err error) {
	if startKey == "" {
		return run, errNoRun
	}
	var found bool
	err = db.starts.read(ctx, func(c *conn) error {
		return c.query("SELECT "+runColumns+" FROM run WHERE tenant = ? AND start_key = ? AND start_key <> ''",
			oneRun(&run, &found), tenant, startKey)
	})
	if err == nil && !found {
		err = errNoRun
	}
	return run, err
}

// InsertRun implements [spool.Tx]. It also returns a [spool.Conflict] error when the
// tenant has a run with the same start key.
func (t *tx) InsertRun(r spool.Run) error {
	if err := t.needThread(); err != nil {
		return err
	}
	draft, ending, wait, nested, err := encodeRun(&r)
	if err != nil {
		return err
	}
	allowance, err := encodeAllowance(r.Allowance)
	if err != nil {
		return err
	}
	client, err := encodeClient(r.Client)
	if err != nil {
		return err
	}
	made := r.CreatedAt
	if made.IsZero() {
		made = t.now
	}
	n, err := t.change("INSERT INTO run ("+runColumns+`, ord)
		VALUES (`+runPlaces+`,
			coalesce((SELECT ord FROM run WHERE tenant = ? AND thread_id = ? ORDER BY ord DESC LIMIT 1), 0) + 1)
		ON CONFLICT DO NOTHING`,
		t.key.Tenant, r.ID, t.key.ID, made, r.ParentID, r.Depth, r.Agent, r.StartedBy, r.Model, r.State, string(r.StopReason), r.Error,
		r.EnqueuedAt, r.StartedAt, r.EndedAt, r.MaxSteps, r.Steps, r.Attempts,
		r.InputTokens, r.CachedInputTokens, r.OutputTokens, r.TotalTokens,
		r.Segments, r.Deaths, r.Saved.Fence, r.Saved.N, r.StopAt, draft, r.StartKey, r.SettledAt, r.SettleClaim, ending,
		r.Place, wait, r.HostState, encodeContext(r.Context), r.RootID, nested, r.Children,
		r.CostMicros, r.Currency, allowance, r.Nonce, r.ProviderOptions,
		r.Carriage.Carried.Microseconds(), r.Carriage.Since, r.Carriage.Alone, r.Carriage.AloneDeaths, encodeScopes(r.Scopes), client,
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
	t.grow(runSize + len(r.HostState) + len(wait) + len(nested) + len(client))
	return nil
}

// whyRefused tells which unique index refused a run: the ids' where it was to be
// inserted, that of active runs, or else that of start keys.
func (t *tx) whyRefused(r spool.Run, insert bool) error {
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
func (t *tx) UpdateRun(r spool.Run) error {
	draft, ending, wait, nested, err := encodeRun(&r)
	if err != nil {
		return err
	}
	allowance, err := encodeAllowance(r.Allowance)
	if err != nil {
		return err
	}
	client, err := encodeClient(r.Client)
	if err != nil {
		return err
	}
	grown, err := t.waitGrowth(r.ID, wait)
	if err != nil {
		return err
	}
	old, err := t.stored(r.ID)
	if err != nil {
		return err
	}
	next := storedOf(&r)
	set, args := updateRun, make([]any, 0, 49)
	if old.moved(&next) {
		set, args = moveRun, append(args, r.Depth, r.State, r.StartKey, r.Place, r.RootID)
	}
	n, err := t.change(set,
		append(args, r.ParentID, r.Agent, r.StartedBy, r.Model, string(r.StopReason), r.Error,
			r.EnqueuedAt, r.StartedAt, r.EndedAt, r.MaxSteps, r.Steps, r.Attempts,
			r.InputTokens, r.CachedInputTokens, r.OutputTokens, r.TotalTokens,
			r.Segments, r.Deaths, r.Saved.Fence, r.Saved.N, r.StopAt, draft, r.SettledAt, r.SettleClaim, ending,
			wait, r.HostState, encodeContext(r.Context), nested, r.Children,
			r.CostMicros, r.Currency, allowance, r.Nonce, r.ProviderOptions,
			r.Carriage.Carried.Microseconds(), r.Carriage.Since, r.Carriage.Alone, r.Carriage.AloneDeaths, encodeScopes(r.Scopes), client,
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
	if grown == 0 {
		return nil
	}
	if err := t.load(); err != nil {
		return err
	}
	t.grow(grown)
	return nil
}

// The statements that update a run. SQLite writes the page of an index again for a column that is
// set to what it was, so that the columns which indexes have are left out where they stay: a step
// changes none of them.
const (
	updateRun = "UPDATE run SET " + runSets
	moveRun   = "UPDATE run SET depth = ?, state = ?, start_key = ?, place = ?, root_id = ?, " + runSets

	runSets = `parent_id = ?, agent = ?, started_by = ?, model = ?, stop_reason = ?, error = ?,
		enqueued_at = ?, started_at = ?, ended_at = ?, max_steps = ?, steps = ?, attempts = ?,
		input_tokens = ?, cached_input_tokens = ?, output_tokens = ?, total_tokens = ?,
		segments = ?, deaths = ?, saved_fence = ?, saved_n = ?, stop_at = ?, draft = ?,
		settled_at = ?, settle_claim = ?, ending = ?, wait = ?,
		host_state = ?, context = ?, nested = ?, children = ?, cost_micros = ?, currency = ?, allowance = ?, nonce = ?,
		provider_options = ?, carried = ?, carried_since = ?, alone = ?, alone_deaths = ?, scopes = ?, client = ?
		WHERE tenant = ? AND id = ? AND thread_id = ?`
)

// encodeRun returns the JSON of the fields of a run that have no columns.
func encodeRun(r *spool.Run) (draft, ending, wait, nested json.RawMessage, err error) {
	if r.Draft != nil {
		if draft, err = json.Marshal(r.Draft); err != nil {
			return nil, nil, nil, nil, spool.Wrap(spool.Invalid, "the run's draft cannot be encoded", err)
		}
	}
	if r.Ending != nil {
		if ending, err = json.Marshal(r.Ending); err != nil {
			return nil, nil, nil, nil, spool.Wrap(spool.Invalid, "the run's ending cannot be encoded", err)
		}
	}
	if r.Wait != nil {
		if wait, err = json.Marshal(r.Wait); err != nil {
			return nil, nil, nil, nil, spool.Wrap(spool.Invalid, "what the run waits with cannot be encoded", err)
		}
	}
	if n := (nestedRun{r.CallID, r.Prompt, r.Result}); n != (nestedRun{}) {
		if nested, err = json.Marshal(n); err != nil {
			return nil, nil, nil, nil, spool.Wrap(spool.Invalid, "the nested run cannot be encoded", err)
		}
	}
	return draft, ending, wait, nested, nil
}

// nestedRun are the fields that only a nested run has.
type nestedRun struct {
	CallID spool.ToolCallID    `json:"callId,omitempty"`
	Prompt string              `json:"prompt,omitempty"`
	Result *spool.NestedResult `json:"result,omitempty"`
}

// encodeContext returns the JSON of a count, nil for none.
func encodeContext(c *spool.ContextCount) json.RawMessage {
	if c == nil {
		return nil
	}
	text, err := json.Marshal(c)
	if err != nil {
		return nil // numbers and an id have always a JSON form
	}
	return text
}

func encodeAllowance(a *spool.Allowance) (json.RawMessage, error) {
	if a == nil {
		return nil, nil
	}
	text, err := json.Marshal(a)
	return text, spool.Wrap(spool.Invalid, "the run's budget cannot be encoded", err)
}

func encodeClient(c *spool.ClientInput) (json.RawMessage, error) {
	if c == nil {
		return nil, nil
	}
	text, err := json.Marshal(c)
	return text, spool.Wrap(spool.Invalid, "what the run's client has brought cannot be encoded", err)
}

var (
	errNoRun        = &spool.Error{Code: spool.NotFound, Message: "run not found"}
	errStartKeyUsed = &spool.Error{Code: spool.Conflict, Message: "Idempotency key already used"}
)
