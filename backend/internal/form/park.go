package form

import (
	"encoding/json"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// ParkColumns are the columns of [store.Park], and ReplacedPark has the assignments of an upsert that replaces a park
// without changing its position. EffectColumns are the columns of [store.Effect] without its run and step.
const (
	ParkColumns = `run_id, tool_call_id, tool_name, step, args, shown, reason, state, answer, before, landed,
	created_at, expires_at, digest, expiry, warned, agent_id, frames, distinct_approver, occurrence, revision`
	ReplacedPark = `tool_name = excluded.tool_name, step = excluded.step, args = excluded.args, shown = excluded.shown,
	reason = excluded.reason, state = excluded.state, answer = excluded.answer, before = excluded.before, landed = excluded.landed,
	created_at = excluded.created_at, expires_at = excluded.expires_at, digest = excluded.digest,
	expiry = excluded.expiry, warned = excluded.warned, agent_id = excluded.agent_id, frames = excluded.frames,
	distinct_approver = excluded.distinct_approver, occurrence = excluded.occurrence, revision = excluded.revision`
	EffectColumns = "tool_call_id, state, result"
)

// ScanPark reads ParkColumns.
func ScanPark(r Row) store.Park {
	p := store.Park{
		RunID: spool.RunID(r.Text()), ToolCallID: spool.ToolCallID(r.Text()), ToolName: r.Text(), Step: r.Int(),
		Args: r.JSON(), Shown: r.JSON(), Reason: r.Text(), State: wire.ParkState(r.Text()),
		Answer: decode[*spool.Answer](r, "a park's answer"), Before: decode[*spool.Answer](r, "a park's answer"),
		Landed: r.Bool(), CreatedAt: r.Time(), ExpiresAt: r.Time(), Digest: r.Text(),
	}
	x := decode[parkOptions](r, "a park's expiry")
	p.Expiry, p.Schema, p.Resume, p.Pending = x.Expiry, x.Schema, x.Resume, x.Pending
	p.Warned, p.AgentID, p.Frames = r.Bool(), spool.AgentID(r.Text()), decode[[]wire.ParkFrame](r, "a park's frames")
	p.DistinctApprover, p.Occurrence, p.Revision = r.Bool(), r.Int(), wire.RevisionID(r.Text())
	return p
}

// parkOptions are the fields in the column expiry.
type parkOptions struct {
	spool.Expiry

	Schema  json.RawMessage   `json:"schema,omitempty"`
	Resume  json.RawMessage   `json:"resume,omitempty"`
	Pending *wire.PendingCall `json:"pending,omitempty"`
}

// ScanEffect reads EffectColumns of a step.
func ScanEffect(r Row, run spool.RunID, step int) store.Effect {
	return store.Effect{
		RunID: run, Step: step, ToolCallID: spool.ToolCallID(r.Text()), State: wire.EffectState(r.Text()), Result: r.JSON(),
	}
}

// EncodedPark has the JSON columns of a park. An empty one stands for the zero value.
type EncodedPark struct{ Answer, Before, Expiry, Frames json.RawMessage }

// EncodePark returns the JSON columns of a park.
func EncodePark(p *store.Park) (e EncodedPark, err error) {
	if e.Answer, err = encodeAnswer(p.Answer); err != nil {
		return e, err
	}
	if e.Before, err = encodeAnswer(p.Before); err != nil {
		return e, err
	}
	if p.Expiry != (spool.Expiry{}) || p.Schema != nil || p.Resume != nil || p.Pending != nil {
		if e.Expiry, err = encode(parkOptions{p.Expiry, p.Schema, p.Resume, p.Pending}, "the park's expiry"); err != nil {
			return e, err
		}
	}
	if len(p.Frames) > 0 {
		e.Frames, err = encode(p.Frames, "the park's frames")
	}
	return e, err
}

func encodeAnswer(a *spool.Answer) (json.RawMessage, error) {
	if a == nil {
		return nil, nil
	}
	return encode(a, "the park's answer")
}
