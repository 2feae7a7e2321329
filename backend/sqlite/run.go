package sqlite

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// runPlaces has a place for each of the columns of a row.
var runPlaces = strings.TrimSuffix(strings.Repeat("?, ", strings.Count(form.WholeRunColumns, ",")+1), ", ")

// runSelect has the statements of a selection of a thread's runs.
type runSelect struct{ whole, bare string }

func selectRuns(rest string) runSelect {
	const where = " FROM run WHERE tenant = ? AND thread_id = ?"
	return runSelect{"SELECT " + form.WholeRunColumns + where + rest, "SELECT " + form.RunColumns + where + rest}
}

var (
	oneRun      = selectRuns(" AND id = ?")
	nestedRuns  = selectRuns(" AND root_id = ? AND root_id <> '' ORDER BY ord LIMIT ?")
	waitingRuns = selectRuns(" AND place > 0 ORDER BY place LIMIT ?")
	newestRuns  = selectRuns(" ORDER BY ord DESC LIMIT ?")
)

// Runs implements [store.View].
func (v *view) Runs(q wire.RunQuery) ([]store.RunRow, error) {
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
	query, scan := from.bare, form.ScanRun
	if q.Whole {
		query, scan = from.whole, form.ScanWholeRun
	}
	runs := []store.RunRow{}
	err := v.query(query, each(&runs, scan), args...)
	return runs, err
}

// runsOfSeveral returns the runs that a query with several conditions selects, of those that one of the
// conditions selects.
func (v *view) runsOfSeveral(q wire.RunQuery) ([]store.RunRow, error) {
	one := wire.RunQuery{ID: q.ID, Whole: q.Whole}
	if q.ID == "" {
		one.RootID = q.RootID
	}
	runs, err := v.Runs(one)
	runs = slices.DeleteFunc(runs, func(r store.RunRow) bool {
		return q.RootID != "" && r.RootID != q.RootID || q.Waiting && r.QueuePosition == 0
	})
	if q.Limit > 0 {
		runs = runs[:min(len(runs), q.Limit)]
	}
	return runs, err
}

// insertRun adds a run to the thread.
func (t *tx) insertRun(r *store.RunRow) error {
	if err := t.needThread(); err != nil {
		return err
	}
	text, err := form.EncodeRun(r)
	if err != nil {
		return err
	}
	createdAt := r.CreatedAt
	if createdAt.IsZero() {
		createdAt = t.now
	}
	n, err := t.change("INSERT INTO run ("+form.WholeRunColumns+`, ord)
		VALUES (`+runPlaces+`,
			coalesce((SELECT ord FROM run WHERE tenant = ? AND thread_id = ? ORDER BY ord DESC LIMIT 1), 0) + 1)
		ON CONFLICT DO NOTHING`,
		t.key.Tenant, r.ID, t.key.ID, createdAt, r.ParentID, r.Depth, r.Agent, r.StartedBy, r.Model, r.State,
		string(r.StopReason), r.Error,
		r.EnqueuedAt, r.StartedAt, r.EndedAt, r.MaxSteps, r.Steps, r.Attempts,
		r.InputTokens, r.CachedInputTokens, r.OutputTokens, r.TotalTokens,
		r.Segments, r.QueuePosition, r.RootID, text.Nested, r.CostMicros, r.Currency, text.Allowance, r.Expired.Questions,
		r.Expired.Since,
		text.State, r.StartKey, r.StartHash, r.Nonce, form.EncodeScopes(r.Scopes), r.HostState, r.ProviderOptions,
		text.Client,
		t.key.Tenant, t.key.ID)
	switch {
	case err != nil:
		return err
	case n == 0:
		return t.whyRefused(r, true)
	}
	stored := storedOf(r)
	t.remember(stored)
	t.countRun(&stored.StoredRun, 1)
	t.grow(form.RunSize + len(r.HostState) + stored.Wait + len(text.Nested) + len(text.Client))
	return nil
}

// whyRefused finds out which unique index has refused a run: that of ids, for an insert, that of
// active runs, or else that of start keys.
func (t *tx) whyRefused(r *store.RunRow, insert bool) error {
	var used, active bool
	err := t.query("SELECT 1 FROM run WHERE tenant = ? AND id = ?", func(*row) error {
		used = insert
		return nil
	}, t.key.Tenant, r.ID)
	if err != nil || used {
		return cmp.Or(err, error(store.ErrRunIDUsed))
	}
	err = t.query(`SELECT 1 FROM run WHERE tenant = ? AND thread_id = ? AND id <> ?
		AND depth = 0 AND place = 0 AND state IN ('QUEUED', 'RUNNING', 'WAITING_FOR_INPUT')`, func(*row) error {
		active = r.Depth == 0 && r.Active()
		return nil
	}, t.key.Tenant, t.key.ID, r.ID)
	if err != nil || active {
		return cmp.Or(err, error(store.ErrActiveRun))
	}
	return store.ErrStartKeyUsed
}

// updateRun replaces a run of the thread.
func (t *tx) updateRun(r *store.RunRow) error {
	text, err := form.EncodeRun(r)
	if err != nil {
		return err
	}
	old, err := t.stored(r.ID)
	if err != nil {
		return err
	}
	next := storedOf(r)
	set, args := updateRun, make([]any, 0, 41)
	if old.moved(&next) {
		set, args = moveRun, append(args, r.Depth, r.State, r.StartKey, r.QueuePosition, r.RootID, r.Expired.Questions,
			r.Expired.Since)
	}
	n, err := t.change(set,
		append(args, r.ParentID, r.Agent, r.StartedBy, r.Model, string(r.StopReason), r.Error,
			r.EnqueuedAt, r.StartedAt, r.EndedAt, r.MaxSteps, r.Steps, r.Attempts,
			r.InputTokens, r.CachedInputTokens, r.OutputTokens, r.TotalTokens,
			r.Segments, text.Nested, r.CostMicros, r.Currency, text.Allowance,
			r.StartHash, r.Nonce, form.EncodeScopes(r.Scopes), r.HostState, r.ProviderOptions, text.Client, text.State,
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
	t.countRun(&old.StoredRun, -1)
	t.countRun(&next.StoredRun, 1)
	growth := old.WaitGrowth(&next.StoredRun)
	if growth == 0 {
		return nil
	}
	if err := t.load(); err != nil {
		return err
	}
	t.grow(growth)
	return nil
}

// The statements that update a run. SQLite writes the page of an index again even if the value
// of the column stays the same. So a statement leaves out the indexed columns, which a step never
// changes.
const (
	updateRun = "UPDATE run SET " + runSets
	moveRun   = `UPDATE run SET depth = ?, state = ?, start_key = ?, place = ?, root_id = ?,
		expired_questions = ?, expired_since = ?, ` + runSets

	runSets = `parent_id = ?, agent = ?, started_by = ?, model = ?, stop_reason = ?, error = ?,
		enqueued_at = ?, started_at = ?, ended_at = ?, max_steps = ?, steps = ?, attempts = ?,
		input_tokens = ?, cached_input_tokens = ?, output_tokens = ?, total_tokens = ?,
		segments = ?, nested = ?, cost_micros = ?, currency = ?, allowance = ?,
		start_hash = ?, nonce = ?, scopes = ?, host_state = ?, provider_options = ?, client = ?, engine_state = ?
		WHERE tenant = ? AND id = ? AND thread_id = ?`
)

var errNoRun = &spool.Error{Code: spool.NotFound, Message: "run not found"}
