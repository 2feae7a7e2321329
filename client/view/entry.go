package view

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
	"github.com/spoolhq/spool/wire/fold"
)

// applyEntry applies an entry of the record, or a notice.
func (t *Thread) applyEntry(e wire.Entry) error {
	payload, err := fold.Entry(e)
	if err != nil {
		return err
	}
	t.row.ID = cmp.Or(t.row.ID, e.ThreadID)
	t.endOf(payload)
	switch said := payload.(type) {
	case wire.StateChange:
		t.setState(said)
	case spool.Message:
		t.appendTurn(said)
	case wire.ThreadDeleted:
		t.deleted = true
	case wire.RunStarted:
		t.stream, t.steps = said.StreamID, nil
		t.waitOnly(said.RunID)
		t.startRun(said, e.CreatedAt)
	case fold.Ended:
		t.stream, t.steps = "", nil
		t.endRun(said, e.CreatedAt)
	case wire.MessagesDropped: // a message that the view does not have is older than all that it has
		at := slices.IndexFunc(t.messages, func(m spool.Message) bool { return m.ID == said.FromMessageID })
		t.messages, t.steps = t.messages[:max(0, at)], nil
		t.waitOnly("")
	case wire.Steered:
		t.steered(said, e.CreatedAt)
	case fold.Answer:
		t.answered(cmp.Or(said.RunID, t.current), said.Text)
	}
	t.applyWait(payload)
	if e.Seq > 0 {
		t.seq, t.row.UpdatedAt = e.Seq, e.CreatedAt
	}
	return nil
}

// setState applies the present state of the thread.
func (t *Thread) setState(c wire.StateChange) {
	t.stateOf(c)
	t.row.State, t.row.Expired = c.State, c.Expired
	if !c.State.Active() {
		t.waitOnly("")
	} else if c.RunID != "" {
		t.waitOnly(c.RunID)
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
	t.dequeue(m.RunID)
}

// steered ends the run of a steer, whose message the view already has.
func (t *Thread) steered(s wire.Steered, at time.Time) {
	t.dequeue(s.SteerRunID)
	if s.SteerRunID == "" {
		return
	}
	r := t.knownRun(wire.Run{ID: s.SteerRunID, EnqueuedAt: s.EnqueuedAt}, at)
	r.State, r.StopReason = wire.Completed, wire.StopSteered
}

func (t *Thread) dequeue(run spool.RunID) {
	t.queue = slices.DeleteFunc(slices.Clone(t.queue), func(q wire.QueuedRun) bool { return q.RunID == run })
}

// answered adds the answer of a run that came in one piece, unless the last turn has it already.
func (t *Thread) answered(run spool.RunID, text string) {
	if text == "" {
		return
	}
	for _, m := range slices.Backward(t.messages) {
		if m.AgentID != "" {
			continue
		}
		if m.Role == spool.RoleUser {
			break
		}
		if m.Role == spool.RoleAssistant && m.Content.Text() == text {
			return
		}
	}
	id := spool.MessageID(string(run) + ":" + strconv.Itoa(len(t.messages)))
	t.messages = append(t.messages, spool.Message{
		ID: id, ThreadID: t.row.ID, RunID: run, Role: spool.RoleAssistant, Content: spool.TextContent(text),
	})
}
