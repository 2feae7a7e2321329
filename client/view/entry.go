package view

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// applyEntry applies an entry of the record, or a notice.
func (t *Thread) applyEntry(e wire.Entry) error {
	t.row.ID = cmp.Or(t.row.ID, e.ThreadID)
	t.endOf(e)
	var err error
	switch e.Type {
	case wire.NoticeStateChange:
		err = decoded(e, t.setState)
	case wire.NoticeMessageAppended:
		err = decoded(e, t.appendTurn)
	case wire.NoticeThreadDeleted:
		t.deleted = true
	case wire.EntryRunStarted:
		err = decoded(e, func(r wire.RunStarted) {
			t.stream, t.drafts = r.StreamID, nil
			t.parks = slices.DeleteFunc(t.parks, func(p Park) bool { return p.RunID != r.RunID })
			t.noWait(r.RunID)
			_ = t.applyWait(e)
			t.startRun(r, e.CreatedAt)
		})
	case wire.EntryRunEnded:
		if err = t.applyWait(e); err == nil {
			t.stream, t.drafts = "", nil
			err = decoded(e, func(r wire.RunEnded) { t.endRun(r, e.CreatedAt) })
		}
	case wire.EntryCallPending:
		err = t.applyWait(e)
	case wire.EntryMessagesDropped:
		err = decoded(e, t.drop)
	case wire.EntrySteered:
		err = decoded(e, func(s wire.Steered) { t.steered(s, e.CreatedAt) })
	case noticeTextResult:
		err = decoded(e, func(r answer) { t.answered(cmp.Or(e.RunID, t.current), r) })
	default:
		err = t.applyPark(e)
	}
	if err == nil && e.Seq > 0 {
		t.seq, t.row.UpdatedAt = e.Seq, e.CreatedAt
	}
	return err
}

// decoded calls a function with the payload of an entry.
func decoded[P any](e wire.Entry, apply func(P)) error {
	var payload P
	if err := json.Unmarshal(e.Payload, &payload); err != nil {
		return &spool.Error{Code: spool.Internal, Message: "the payload of a " + string(e.Type) + " cannot be read", Err: err}
	}
	apply(payload)
	return nil
}

// applyPark applies an entry about a question.
func (t *Thread) applyPark(e wire.Entry) error {
	switch e.Type {
	case wire.EntryInputRequired:
		return decoded(e, func(in wire.InputRequired) { t.ask(Park{in.FromRecord(), e.RunID, e.CreatedAt}) })
	case wire.EntryInputExtended:
		return decoded(e, func(in wire.InputExtended) {
			for i := range t.parks {
				if t.parks[i].ToolCallID == in.ToolCallID {
					t.parks[i].ExpiresAt = in.ExpiresAt
				}
			}
		})
	case wire.EntryInputExpired:
		return decoded(e, func(in wire.InputExpired) { t.settle(in.ToolCallID) })
	case wire.EntryHITLResponse:
		return decoded(e, func(in wire.HITLResponse) { t.settle(in.ToolCallID) })
	default:
		return nil
	}
}

// ask adds a question, or replaces the one of the same call.
func (t *Thread) ask(p Park) {
	for i := range t.parks {
		if t.parks[i].ToolCallID == p.ToolCallID && t.parks[i].RunID == p.RunID {
			t.parks[i] = p
			return
		}
	}
	t.parks = append(t.parks, p)
}

// settle removes the question of a call.
func (t *Thread) settle(call spool.ToolCallID) {
	t.parks = slices.DeleteFunc(t.parks, func(p Park) bool { return p.ToolCallID == call })
}

// setState applies the present state of the thread.
func (t *Thread) setState(c wire.StateChange) {
	t.stateOf(c)
	t.row.State = c.State
	t.parks = slices.DeleteFunc(t.parks, func(p Park) bool { return !c.State.Active() || c.RunID != "" && p.RunID != c.RunID })
	if !c.State.Active() {
		t.noWait("")
	} else if c.RunID != "" {
		t.noWait(c.RunID)
	}
	turns := make(map[spool.RunID]spool.Content, len(t.queue))
	for _, q := range t.queue {
		turns[q.RunID] = q.Content
	}
	t.queue = c.Queue
	for i := range t.queue { // only snapshots have the turns
		if t.queue[i].Content == nil {
			t.queue[i].Content = turns[t.queue[i].RunID]
		}
	}
	t.row.Expired = c.Expired
	if c.RunID == "" {
		return
	}
	r := t.knownRun(wire.Run{ID: c.RunID, EnqueuedAt: c.EnqueuedAt}, time.Time{})
	r.State, r.StopReason, r.Error, r.Expired = c.State, c.StopReason, c.Error, c.Expired
	r.EnqueuedAt, r.StartedAt = cmp.Or(c.EnqueuedAt, r.EnqueuedAt), cmp.Or(c.StartedAt, r.StartedAt)
	r.EndedAt = c.EndedAt
	if c.Usage != nil {
		r.TokenCount = *c.Usage
	}
	for _, cost := range c.Costs {
		r.Currency, r.CostMicros = cost.Currency, cost.Micros
	}
}

// appendTurn adds a turn of the user, unless the view has it, or it has no id.
func (t *Thread) appendTurn(m spool.Message) {
	if m.ID == "" {
		return
	}
	if !slices.ContainsFunc(t.messages, func(have spool.Message) bool { return have.ID == m.ID }) {
		t.messages = append(t.messages, m)
		if m.RunID != t.current { // a run of its own follows
			t.ended, t.whole = lastEnd{}, false
		}
	}
	t.queue = slices.DeleteFunc(slices.Clone(t.queue), func(q wire.QueuedRun) bool { return q.RunID == m.RunID })
}

// steered ends the run of a steer, whose message the view already has.
func (t *Thread) steered(s wire.Steered, at time.Time) {
	t.queue = slices.DeleteFunc(slices.Clone(t.queue), func(q wire.QueuedRun) bool { return q.RunID == s.SteerRunID })
	if s.SteerRunID == "" {
		return
	}
	r := t.knownRun(wire.Run{ID: s.SteerRunID, EnqueuedAt: s.EnqueuedAt}, at)
	r.State, r.StopReason = wire.Completed, wire.StopSteered
}

// drop removes a message and all after it. A message that the view does not have is older than all that it has.
func (t *Thread) drop(d wire.MessagesDropped) {
	at := slices.IndexFunc(t.messages, func(m spool.Message) bool { return m.ID == d.FromMessageID })
	t.messages = t.messages[:max(0, at)]
	t.drafts, t.parks = nil, nil
	t.noWait("")
}
