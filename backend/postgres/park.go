package postgres

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/store"
)

// Parks implements [store.View].
func (v *view) Parks(run spool.RunID) ([]store.Park, error) {
	parks := []store.Park{}
	err := v.read(v.parks(run, &parks))
	return parks, err
}

func (v *view) parks(run spool.RunID, parks *[]store.Park) statement {
	return statement{
		sql: "SELECT " + form.ParkColumns +
			" FROM spool.park WHERE tenant = ? AND thread_id = ? AND run_id = ? ORDER BY ord",
		args: []any{v.key.Tenant, v.key.ID, run}, scan: eachForm(parks, form.ScanPark),
	}
}

// Parks implements [store.View]. The end of a run reads the waiting runs next, so the same trip reads both.
func (t *tx) Parks(run spool.RunID) ([]store.Park, error) {
	parks := []store.Park{}
	batch := []statement{t.parks(run, &parks)}
	if !t.runs.hasWaiting {
		batch = append(batch, t.waitingRuns())
	}
	err := t.read(batch...)
	return parks, err
}

// putPark inserts a park, or replaces it without changing its position.
func (t *tx) putPark(p *store.Park) error {
	text, err := form.EncodePark(p)
	if err != nil {
		return err
	}
	t.write("INSERT INTO spool.park (tenant, thread_id, "+form.ParkColumns+", ord) VALUES (?, ?, "+
		places(form.ParkColumns)+`,
			(SELECT coalesce(max(ord), 0) + 1 FROM spool.park WHERE tenant = ? AND thread_id = ? AND run_id = ?))
		ON CONFLICT (tenant, thread_id, run_id, tool_call_id) DO UPDATE SET `+form.ReplacedPark,
		t.key.Tenant, t.key.ID, p.RunID, p.ToolCallID, p.ToolName, p.Step, p.Args, p.Shown, p.Reason, string(p.State),
		text.Answer, text.Before,
		p.Landed, p.CreatedAt, p.ExpiresAt, p.Digest, text.Expiry, p.Warned, p.AgentID, text.Frames, p.DistinctApprover,
		p.Occurrence, string(p.Revision),
		t.key.Tenant, t.key.ID, p.RunID)
	return nil
}

// Effects implements [store.View].
func (v *view) Effects(run spool.RunID, step int) ([]store.Effect, error) {
	effects := []store.Effect{}
	err := v.query("SELECT "+form.EffectColumns+` FROM spool.effect
		WHERE tenant = ? AND thread_id = ? AND run_id = ? AND step = ? ORDER BY ord`,
		each(&effects, func(r *row) store.Effect { return form.ScanEffect(r, run, step) }), v.key.Tenant, v.key.ID, run, step)
	return effects, err
}

// putEffect inserts an effect, or replaces it without changing its position.
func (t *tx) putEffect(e *store.Effect) {
	t.write(`INSERT INTO spool.effect (tenant, thread_id, run_id, step, tool_call_id, state, result, ord)
		VALUES (?, ?, ?, ?, ?, ?, ?,
			(SELECT coalesce(max(ord), 0) + 1 FROM spool.effect WHERE tenant = ? AND thread_id = ? AND run_id = ? AND step = ?))
		ON CONFLICT (tenant, thread_id, run_id, step, tool_call_id) DO UPDATE SET state = excluded.state, result = excluded.result`,
		t.key.Tenant, t.key.ID, e.RunID, e.Step, e.ToolCallID, string(e.State), e.Result,
		t.key.Tenant, t.key.ID, e.RunID, e.Step)
}
