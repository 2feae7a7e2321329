package sqlite

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/store"
)

// Parks implements [store.View].
func (v *view) Parks(run spool.RunID) ([]store.Park, error) {
	parks := []store.Park{}
	err := v.query("SELECT "+form.ParkColumns+" FROM park WHERE tenant = ? AND thread_id = ? AND run_id = ? ORDER BY ord",
		each(&parks, form.ScanPark), v.key.Tenant, v.key.ID, run)
	return parks, err
}

// putPark inserts a park. A park that is replaced keeps its position.
func (t *tx) putPark(p *store.Park) error {
	if err := t.needThread(); err != nil {
		return err
	}
	text, err := form.EncodePark(p)
	if err != nil {
		return err
	}
	return t.write("INSERT INTO park (tenant, thread_id, "+form.ParkColumns+`, ord)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
			(SELECT coalesce(max(ord), 0) + 1 FROM park WHERE tenant = ? AND thread_id = ? AND run_id = ?))
		ON CONFLICT (tenant, thread_id, run_id, tool_call_id) DO UPDATE SET `+form.ReplacedPark,
		t.key.Tenant, t.key.ID, p.RunID, p.ToolCallID, p.ToolName, p.Step, p.Args, p.Shown, p.Reason, string(p.State),
		text.Answer, text.Before,
		p.Landed, p.CreatedAt, p.ExpiresAt, p.Digest, text.Expiry, p.Warned,
		p.AgentID, text.Frames, p.DistinctApprover, p.Occurrence, string(p.Revision),
		t.key.Tenant, t.key.ID, p.RunID)
}

// Effects implements [store.View].
func (v *view) Effects(run spool.RunID, step int) ([]store.Effect, error) {
	effects := []store.Effect{}
	err := v.query("SELECT "+form.EffectColumns+` FROM effect
		WHERE tenant = ? AND thread_id = ? AND run_id = ? AND step = ? ORDER BY ord`,
		each(&effects, func(r form.Row) store.Effect { return form.ScanEffect(r, run, step) }), v.key.Tenant, v.key.ID, run,
		step)
	return effects, err
}

// putEffect inserts an effect. An effect that is replaced keeps its position.
func (t *tx) putEffect(e *store.Effect) error {
	if err := t.needThread(); err != nil {
		return err
	}
	return t.write(`INSERT INTO effect (tenant, thread_id, run_id, step, tool_call_id, state, result, ord)
		VALUES (?, ?, ?, ?, ?, ?, ?,
			(SELECT coalesce(max(ord), 0) + 1 FROM effect WHERE tenant = ? AND thread_id = ? AND run_id = ? AND step = ?))
		ON CONFLICT (tenant, thread_id, run_id, step, tool_call_id) DO UPDATE SET
			state = excluded.state, result = excluded.result`,
		t.key.Tenant, t.key.ID, e.RunID, e.Step, e.ToolCallID, string(e.State), e.Result,
		t.key.Tenant, t.key.ID, e.RunID, e.Step)
}
