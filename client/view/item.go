package view

import (
	"cmp"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
	"github.com/spoolhq/spool/wire/fold"
)

// applyItem applies an item of a run stream.
func (t *Thread) applyItem(stream wire.StreamID, outer wire.Item) error {
	agent, item, err := fold.Inner(outer)
	if err != nil {
		return err
	}
	c, ok, err := fold.ContentOf(item)
	if err != nil {
		return err
	}
	if ok {
		t.follow(stream)
		t.add(stream, agent, item.Offset, c)
		return nil
	}
	if outer.Type == wire.ItemSubagentEvent {
		return nil
	}
	agent, payload, err := fold.Item(item)
	if err != nil {
		return err
	}
	t.follow(stream)
	switch said := payload.(type) {
	case wire.StepFinished:
		if i := t.stepIndex(agent); i >= 0 {
			t.messages = append(t.messages, t.steps[i].Messages(t.row.ID)...)
			t.steps = slices.Delete(t.steps, i, i+1)
		}
		t.use(stream, agent, said)
		t.noProviderWait(agent)
	case wire.ProviderWait:
		t.noProviderWait(agent)
		t.waits = append(t.waits, said)
	case fold.StreamEnded:
		t.steps, t.waits = nil, nil // what no step has finished was not saved, or comes with a snapshot
		run, _, _ := stream.Split()
		t.parkNested(run, said.Status)
		t.answered(run, said.Text)
	case wire.SubagentStarted:
		t.startNested(stream, said)
	case wire.SubagentFinished:
		t.finishNested(said)
	}
	return nil
}

// follow goes over to a stream. What was said in another one was not saved, or comes with a snapshot.
func (t *Thread) follow(stream wire.StreamID) {
	if stream != t.stream {
		t.stream, t.steps, t.waits = stream, nil, nil
	}
}

// add adds what an agent says to its step, which ends its wait for the provider, and that of a call for its result.
func (t *Thread) add(stream wire.StreamID, agent spool.AgentID, at wire.Offset, c fold.Content) {
	i := t.stepIndex(agent)
	if i < 0 {
		i = len(t.steps)
		t.steps = append(t.steps, &fold.Step{Agent: agent, Stream: stream})
	}
	t.steps[i].Add(at, c)
	t.noProviderWait(agent)
	if c.Type == spool.PartToolResult {
		t.pending = slices.DeleteFunc(t.pending, func(p fold.Pending) bool { return string(p.ToolCallID) == c.ID })
	}
}

func (t *Thread) stepIndex(agent spool.AgentID) int {
	return slices.IndexFunc(t.steps, func(s *fold.Step) bool { return s.Agent == agent })
}

func (t *Thread) noProviderWait(agent spool.AgentID) {
	t.waits = slices.DeleteFunc(t.waits, func(w wire.ProviderWait) bool {
		return w.AgentID == nil && agent == "" || w.AgentID != nil && *w.AgentID == agent
	})
}

// use adds what a step has used, which counts for its run and for the dispatched one. A run that has the step already
// has its usage too, such as that of a snapshot, or after the results of calls that have waited.
func (t *Thread) use(stream wire.StreamID, agent spool.AgentID, s wire.StepFinished) {
	root, _, _ := stream.Split()
	r := t.run(cmp.Or(spool.RunID(agent), root))
	if r == nil || s.Step <= r.Steps {
		return
	}
	r.Steps = s.Step
	for _, id := range []spool.RunID{spool.RunID(agent), root} {
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
	t.insertRun(wire.Run{
		ID: id, ThreadID: t.row.ID, ParentID: cmp.Or(s.ParentID, root), CallID: s.CallID, Depth: s.Depth, Agent: s.Name,
		State: wire.Running,
	}, time.Time{})
}

// finishNested ends a nested run. What it said after its last finished step was not saved.
func (t *Thread) finishNested(f wire.SubagentFinished) {
	t.steps = slices.DeleteFunc(t.steps, func(s *fold.Step) bool { return s.Agent == f.SubagentID })
	t.noProviderWait(f.SubagentID)
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
