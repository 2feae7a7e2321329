package postgres

import (
	"github.com/spoolhq/spool"
)

const parkColumns = `run_id, tool_call_id, tool_name, step, args, shown, reason, state, answer, before, landed,
	created_at, expires_at, digest, expiry, warned, agent_id, frames, distinct_approver, occurrence, revision`

func scanPark(r *row) spool.Park {
	return spool.Park{
		RunID: spool.RunID(r.text()), ToolCallID: spool.ToolCallID(r.text()), ToolName: r.text(), Step: r.int(),
		Args: r.json(), Shown: r.json(), Reason: r.text(), State: spool.ParkState(r.text()),
		Answer: decode[*spool.Answer](r, "a park's answer"), Before: decode[*spool.Answer](r, "a park's answer"),
		Landed: r.bool(), CreatedAt: r.time(), ExpiresAt: r.time(), Digest: r.text(),
		Expiry: decode[spool.Expiry](r, "a park's expiry"), Warned: r.bool(), AgentID: spool.AgentID(r.text()),
		Frames: decode[[]spool.ParkFrame](r, "a park's frames"), DistinctApprover: r.bool(), Occurrence: r.int(),
		Revision: spool.RevisionID(r.text()),
	}
}

// Parks implements [spool.View].
func (v *view) Parks(run spool.RunID) ([]spool.Park, error) {
	parks := []spool.Park{}
	err := v.read(v.parks(run, &parks))
	return parks, err
}

func (v *view) parks(run spool.RunID, parks *[]spool.Park) statement {
	return statement{
		sql:  "SELECT " + parkColumns + " FROM spool.park WHERE tenant = ? AND thread_id = ? AND run_id = ? ORDER BY ord",
		args: []any{v.key.Tenant, v.key.ID, run}, scan: each(parks, scanPark),
	}
}

// Parks implements [spool.View]. The end of a run reads the waiting runs next, so the same trip reads both.
func (t *tx) Parks(run spool.RunID) ([]spool.Park, error) {
	parks := []spool.Park{}
	batch := []statement{t.parks(run, &parks)}
	if !t.runs.hasWaiting {
		batch = append(batch, t.waitingRuns())
	}
	err := t.read(batch...)
	return parks, err
}

// putPark inserts a park, or replaces it without changing its position.
func (t *tx) putPark(p *spool.Park) error {
	answer, err := jsonOf(p.Answer, p.Answer != nil, "the park's answer")
	if err != nil {
		return err
	}
	before, err := jsonOf(p.Before, p.Before != nil, "the park's answer")
	if err != nil {
		return err
	}
	expiry, err := jsonOf(p.Expiry, p.Expiry != spool.Expiry{}, "the park's expiry")
	if err != nil {
		return err
	}
	frames, err := jsonOf(p.Frames, len(p.Frames) > 0, "the park's frames")
	if err != nil {
		return err
	}
	t.write("INSERT INTO spool.park (tenant, thread_id, "+parkColumns+", ord) VALUES (?, ?, "+places(parkColumns)+`,
			(SELECT coalesce(max(ord), 0) + 1 FROM spool.park WHERE tenant = ? AND thread_id = ? AND run_id = ?))
		ON CONFLICT (tenant, thread_id, run_id, tool_call_id) DO UPDATE SET
			tool_name = excluded.tool_name, step = excluded.step, args = excluded.args, shown = excluded.shown,
			reason = excluded.reason, state = excluded.state, answer = excluded.answer, before = excluded.before, landed = excluded.landed,
			created_at = excluded.created_at, expires_at = excluded.expires_at, digest = excluded.digest,
			expiry = excluded.expiry, warned = excluded.warned, agent_id = excluded.agent_id, frames = excluded.frames,
			distinct_approver = excluded.distinct_approver, occurrence = excluded.occurrence, revision = excluded.revision`,
		t.key.Tenant, t.key.ID, p.RunID, p.ToolCallID, p.ToolName, p.Step, p.Args, p.Shown, p.Reason, string(p.State), answer, before,
		p.Landed, p.CreatedAt, p.ExpiresAt, p.Digest, expiry, p.Warned, p.AgentID, frames, p.DistinctApprover, p.Occurrence, string(p.Revision),
		t.key.Tenant, t.key.ID, p.RunID)
	return nil
}

// Effects implements [spool.View].
func (v *view) Effects(run spool.RunID, step int) ([]spool.Effect, error) {
	effects := []spool.Effect{}
	err := v.query(`SELECT tool_call_id, state, result FROM spool.effect
		WHERE tenant = ? AND thread_id = ? AND run_id = ? AND step = ? ORDER BY ord`,
		each(&effects, func(r *row) spool.Effect {
			return spool.Effect{
				RunID: run, Step: step, ToolCallID: spool.ToolCallID(r.text()), State: spool.EffectState(r.text()),
				Result: r.json(),
			}
		}), v.key.Tenant, v.key.ID, run, step)
	return effects, err
}

// putEffect inserts an effect, or replaces it without changing its position.
func (t *tx) putEffect(e *spool.Effect) {
	t.write(`INSERT INTO spool.effect (tenant, thread_id, run_id, step, tool_call_id, state, result, ord)
		VALUES (?, ?, ?, ?, ?, ?, ?,
			(SELECT coalesce(max(ord), 0) + 1 FROM spool.effect WHERE tenant = ? AND thread_id = ? AND run_id = ? AND step = ?))
		ON CONFLICT (tenant, thread_id, run_id, step, tool_call_id) DO UPDATE SET state = excluded.state, result = excluded.result`,
		t.key.Tenant, t.key.ID, e.RunID, e.Step, e.ToolCallID, string(e.State), e.Result,
		t.key.Tenant, t.key.ID, e.RunID, e.Step)
}
