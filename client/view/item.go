package view

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// applyItem applies an item of a run stream.
func (t *Thread) applyItem(stream wire.StreamID, item wire.Item) error {
	if stream != t.stream {
		t.stream, t.drafts, t.waits = stream, nil, nil
	}
	switch item.Type {
	case wire.ItemStepFinished:
		return read(item, func(s wire.StepFinished) {
			t.save(agentOf(s.AgentID))
			t.use(stream, s)
			_ = t.came(agentOf(s.AgentID), item)
		})
	case wire.ItemProviderWait:
		return read(item, func(w wire.ProviderWait) {
			t.waits = slices.DeleteFunc(t.waits, func(other wire.ProviderWait) bool { return agentOf(other.AgentID) == agentOf(w.AgentID) })
			t.waits = append(t.waits, w)
		})
	case wire.ItemRunFinished, wire.ItemRunError:
		t.drafts, t.waits = nil, nil // what no step has finished was not saved, or comes with a snapshot
		run, _, _ := stream.Split()
		if err := read(item, func(f wire.StreamFinished) { t.parkNested(run, f.Status) }); err != nil {
			return err
		}
		return read(item, func(a answer) { t.answered(run, a) })
	case wire.ItemSubagentStarted:
		return read(item, func(s wire.SubagentStarted) { t.startNested(stream, s) })
	case wire.ItemSubagentFinished:
		return read(item, t.finishNested)
	case wire.ItemSubagentEvent:
		var wrapped wire.SubagentEvent
		var inner wire.Item
		if err := read(item, func(e wire.SubagentEvent) { wrapped = e }); err != nil {
			return err
		}
		if err := json.Unmarshal(wrapped.Event, &inner); err != nil {
			return unreadable(item, err)
		}
		inner.Offset = item.Offset
		return t.applyContent(stream, wrapped.SubagentID, inner)
	default:
		return t.applyContent(stream, "", item)
	}
}

func agentOf(id *spool.AgentID) spool.AgentID {
	if id == nil {
		return ""
	}
	return *id
}

// read calls a function with the fields of an item.
func read[F any](item wire.Item, apply func(F)) error {
	var fields F
	if err := item.Decode(&fields); err != nil {
		return unreadable(item, err)
	}
	apply(fields)
	return nil
}

func unreadable(item wire.Item, err error) error {
	return &spool.Error{Code: spool.Internal, Message: "an item " + string(item.Type) + " cannot be read", Err: err}
}

// applyContent applies something that an agent says.
func (t *Thread) applyContent(stream wire.StreamID, agent spool.AgentID, item wire.Item) error {
	if !item.Type.Content() {
		return nil
	}
	d := t.draft(agent)
	if d == nil {
		d = &draft{agent: agent, stream: stream}
	}
	if err := d.add(item); err != nil {
		return err
	}
	if t.draft(agent) == nil {
		t.drafts = append(t.drafts, d)
	}
	return t.came(agent, item)
}

// draft returns what an agent says. Nil: nothing since its last finished step.
func (t *Thread) draft(agent spool.AgentID) *draft {
	if i := t.draftIndex(agent); i >= 0 {
		return t.drafts[i]
	}
	return nil
}

func (t *Thread) draftIndex(agent spool.AgentID) int {
	return slices.IndexFunc(t.drafts, func(d *draft) bool { return d.agent == agent })
}

// save makes messages of what an agent has said, because its step is finished.
func (t *Thread) save(agent spool.AgentID) {
	i := t.draftIndex(agent)
	if i < 0 {
		return
	}
	t.messages = append(t.messages, t.drafts[i].messages(t.row.ID)...)
	t.drafts = slices.Delete(t.drafts, i, i+1)
}

// use adds what a step has used, which counts for its run and for the dispatched one. A run that has the step already has
// its usage too, such as that of a snapshot, or after the results of calls that have waited.
func (t *Thread) use(stream wire.StreamID, s wire.StepFinished) {
	root, _, _ := stream.Split()
	agent := spool.RunID(agentOf(s.AgentID))
	r := t.run(cmp.Or(agent, root))
	if r == nil || s.Step <= r.Steps {
		return
	}
	r.Steps = s.Step
	for _, id := range []spool.RunID{agent, root} {
		if r := t.run(id); r != nil && r.EndedAt.IsZero() { // the end of a run says what all of its steps have used
			r.Add(s.Usage)
		}
	}
}

// startNested adds a nested run, or continues it.
func (t *Thread) startNested(stream wire.StreamID, s wire.SubagentStarted) {
	id := spool.RunID(s.SubagentID)
	if r := t.run(id); r != nil {
		r.State = wire.Running
		return
	}
	root, _, _ := stream.Split()
	parent := cmp.Or(s.ParentID, root)
	nested := wire.Run{ID: id, ThreadID: t.row.ID, ParentID: parent, CallID: s.CallID, Depth: s.Depth, Agent: s.Name, State: wire.Running}
	t.insertRun(nested, time.Time{})
}

// finishNested ends a nested run. What it said after its last finished step was not saved.
func (t *Thread) finishNested(f wire.SubagentFinished) {
	if i := t.draftIndex(f.SubagentID); i >= 0 {
		t.drafts = slices.Delete(t.drafts, i, i+1)
	}
	t.waits = slices.DeleteFunc(t.waits, func(w wire.ProviderWait) bool { return agentOf(w.AgentID) == f.SubagentID })
	r := t.run(spool.RunID(f.SubagentID))
	if r == nil {
		return
	}
	r.Error = f.Error
	switch f.Status {
	case wire.SubagentCompleted:
		r.State = wire.Completed
	case wire.SubagentFailed:
		r.State = wire.Failed
	case wire.SubagentCancelled:
		r.State = wire.Cancelled
	}
}
