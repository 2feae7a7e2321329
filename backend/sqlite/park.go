package sqlite

import (
	"encoding/json"

	"github.com/spoolhq/spool"
)

const parkColumns = `run_id, tool_call_id, tool_name, step, args, shown, reason, state, answer, before, landed, created_at, expires_at, digest, expiry, warned, agent_id, frames, distinct_approver, occurrence, revision`

// Parks implements [spool.View].
func (v *view) Parks(run spool.RunID) ([]spool.Park, error) {
	parks := []spool.Park{}
	err := v.query("SELECT "+parkColumns+" FROM park WHERE tenant = ? AND thread_id = ? AND run_id = ? ORDER BY ord",
		func(r *row) error {
			p := spool.Park{
				RunID: spool.RunID(r.text()), ToolCallID: spool.ToolCallID(r.text()), ToolName: r.text(), Step: r.int(),
				Args: r.json(), Shown: r.json(), Reason: r.text(), State: spool.ParkState(r.text()),
			}
			var err error
			if p.Answer, err = r.answer(); err != nil {
				return err
			}
			if p.Before, err = r.answer(); err != nil {
				return err
			}
			p.Landed, p.CreatedAt, p.ExpiresAt = r.bool(), r.time(), r.time()
			p.Digest = r.text()
			if p.Expiry, err = r.expiry(); err != nil {
				return err
			}
			p.Warned = r.bool()
			p.AgentID = spool.AgentID(r.text())
			if frames := r.json(); frames != nil {
				if err := json.Unmarshal(frames, &p.Frames); err != nil {
					return spool.Wrap(spool.Internal, "a park's frames cannot be read", err)
				}
			}
			p.DistinctApprover = r.bool()
			p.Occurrence = r.int()
			p.Revision = spool.RevisionID(r.text())
			parks = append(parks, p)
			return nil
		}, v.key.Tenant, v.key.ID, run)
	return parks, err
}

// putPark inserts a park. A park that is replaced keeps its position.
func (t *tx) putPark(p *spool.Park) error {
	if err := t.needThread(); err != nil {
		return err
	}
	answer, err := answerJSON(p.Answer)
	if err != nil {
		return err
	}
	before, err := answerJSON(p.Before)
	if err != nil {
		return err
	}
	expiry, err := expiryJSON(p.Expiry)
	if err != nil {
		return err
	}
	var frames json.RawMessage
	if len(p.Frames) > 0 {
		if frames, err = json.Marshal(p.Frames); err != nil {
			return spool.Wrap(spool.Invalid, "the park's frames cannot be encoded", err)
		}
	}
	return t.write("INSERT INTO park (tenant, thread_id, "+parkColumns+`, ord)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
			(SELECT coalesce(max(ord), 0) + 1 FROM park WHERE tenant = ? AND thread_id = ? AND run_id = ?))
		ON CONFLICT (tenant, thread_id, run_id, tool_call_id) DO UPDATE SET
			tool_name = excluded.tool_name, step = excluded.step, args = excluded.args, shown = excluded.shown,
			reason = excluded.reason, state = excluded.state, answer = excluded.answer, before = excluded.before, landed = excluded.landed,
			created_at = excluded.created_at, expires_at = excluded.expires_at, digest = excluded.digest,
			expiry = excluded.expiry, warned = excluded.warned, agent_id = excluded.agent_id, frames = excluded.frames,
			distinct_approver = excluded.distinct_approver, occurrence = excluded.occurrence, revision = excluded.revision`,
		t.key.Tenant, t.key.ID, p.RunID, p.ToolCallID, p.ToolName, p.Step, p.Args, p.Shown, p.Reason, string(p.State), answer, before,
		p.Landed, p.CreatedAt, p.ExpiresAt, p.Digest, expiry, p.Warned,
		p.AgentID, frames, p.DistinctApprover, p.Occurrence, string(p.Revision),
		t.key.Tenant, t.key.ID, p.RunID)
}

// answer reads an answer. It returns nil for an empty column.
func (r *row) answer() (*spool.Answer, error) {
	text := r.json()
	if text == nil {
		return nil, nil //nolint:nilnil // the column is empty
	}
	a := new(spool.Answer)
	if err := json.Unmarshal(text, a); err != nil {
		return nil, spool.Wrap(spool.Internal, "a park's answer cannot be read", err)
	}
	return a, nil
}

func answerJSON(a *spool.Answer) (json.RawMessage, error) {
	if a == nil {
		return nil, nil
	}
	text, err := json.Marshal(a)
	return text, spool.Wrap(spool.Invalid, "the park's answer cannot be encoded", err)
}

// expiry reads an expiry. It returns the zero value for an empty column.
func (r *row) expiry() (x spool.Expiry, err error) {
	if text := r.json(); text != nil {
		err = json.Unmarshal(text, &x)
	}
	return x, spool.Wrap(spool.Internal, "a park's expiry cannot be read", err)
}

func expiryJSON(x spool.Expiry) (json.RawMessage, error) {
	if x == (spool.Expiry{}) {
		return nil, nil
	}
	text, err := json.Marshal(x)
	return text, spool.Wrap(spool.Invalid, "the park's expiry cannot be encoded", err)
}

// Effects implements [spool.View].
func (v *view) Effects(run spool.RunID, step int) ([]spool.Effect, error) {
	effects := []spool.Effect{}
	err := v.query(`SELECT tool_call_id, state, result FROM effect
		WHERE tenant = ? AND thread_id = ? AND run_id = ? AND step = ? ORDER BY ord`,
		func(r *row) error {
			effects = append(effects, spool.Effect{
				RunID: run, Step: step, ToolCallID: spool.ToolCallID(r.text()), State: spool.EffectState(r.text()), Result: r.json(),
			})
			return nil
		}, v.key.Tenant, v.key.ID, run, step)
	return effects, err
}

// putEffect inserts an effect. An effect that is replaced keeps its position.
func (t *tx) putEffect(e *spool.Effect) error {
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
