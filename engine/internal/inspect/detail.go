// Package inspect reads what operators and callers ask about runs: their state, their steps and their
// events. It only reads views of the store.
package inspect

import (
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/toolresult"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// detailLimit bounds each list of a [RunDetail].
const detailLimit = 1000

// detail is a [wire.RunDetail] under construction.
type detail struct{ wire.RunDetail }

// Run returns a run with its steps, its entries, its parks and its usage, at most 1,000 of each. It
// returns a [spool.NotFound] error if the run does not exist.
func Run(v store.View, id spool.RunID) (wire.RunDetail, error) {
	var d detail
	err := d.read(v, id)
	return d.RunDetail, err
}

func (d *detail) read(v store.View, id spool.RunID) (err error) {
	row, err := store.FindRun(v, id)
	if err != nil {
		return err
	}
	d.Run = row.Run
	if row.Wait != nil {
		d.Delivered = row.Wait.Delivered
	}
	if row.State == wire.Completed {
		d.Output = row.OutputValue()
	}
	if d.Revision, err = revisionOf(v, row); err != nil {
		return err
	}
	thread, err := v.Thread()
	if err != nil {
		return err
	}
	if thread.RunID == id {
		if d.Queue, err = record.QueueOf(v, thread, false); err != nil {
			return err
		}
	}
	under, err := record.Nested(v, d.Run.Root())
	if err != nil {
		return err
	}
	d.Children = []wire.Run{}
	for _, r := range under[:min(len(under), detailLimit)] {
		if r.ParentID == id {
			d.Children = append(d.Children, r.Run)
		}
	}
	if d.Entries, err = v.Entries(store.EntryQuery{Run: id, Limit: detailLimit}); err != nil {
		return err
	}
	usage := wire.UsageQuery{Run: d.Run.Root(), Limit: detailLimit}
	if agent := d.Run.AgentID(); agent != "" {
		usage.Agent = &agent
	}
	ledger, err := v.Usage(usage)
	if err != nil {
		return err
	}
	d.Usage = ledger.Rows
	parks, err := v.Parks(d.Run.Root()) // the parks of a tree belong to its dispatched run
	if err != nil {
		return err
	}
	d.Parks = []wire.ParkDetail{}
	for _, p := range parks {
		if p.CallerID() == id && len(d.Parks) < detailLimit {
			d.Parks = append(d.Parks, parkDetail(p))
		}
	}
	if err := d.readSteps(v); err != nil {
		return err
	}
	return d.readCalls(v)
}

// revisionOf returns the revision of a run's agent. A nested run has the revision of its dispatched run.
func revisionOf(v store.View, run store.RunRow) (wire.RevisionID, error) {
	if run.RootID == "" {
		return run.Revision, nil
	}
	root, err := store.FindRun(v, run.RootID)
	return root.Revision, err
}

func parkDetail(p store.Park) wire.ParkDetail {
	asked := p.Shown
	if asked == nil {
		asked = p.Args
	}
	return wire.ParkDetail{
		ToolCallID: p.ToolCallID, ToolName: p.ToolName, Step: p.Step, Reason: p.Reason, State: p.State, Revision: p.Revision,
		Digest: p.Digest, Asked: asked, Answer: p.Answer, CreatedAt: p.CreatedAt, ExpiresAt: p.ExpiresAt,
	}
}

// readSteps derives the steps from the run's own ledger rows.
func (d *detail) readSteps(v store.View) error {
	began := []time.Time{d.Run.StartedAt}
	for _, e := range d.Entries {
		if e.Type == wire.EntryRunStarted {
			began = append(began, e.CreatedAt)
		}
	}
	d.Steps = []wire.StepRecord{}
	at := make(map[int]int)
	for _, row := range d.Usage {
		if row.Step == 0 || row.AgentID != d.Run.AgentID() || row.Kind != spool.UsageStep {
			continue
		}
		i, known := at[row.Step]
		if !known {
			i = len(d.Steps)
			at[row.Step] = i
			d.Steps = append(d.Steps, wire.StepRecord{
				RunID: d.Run.ID, ThreadID: d.Run.ThreadID, Agent: row.Agent, Index: row.Step, Calls: []wire.CallRecord{},
			})
		}
		step := &d.Steps[i]
		step.Attempts++
		step.Add(row.Usage.Count())
		step.Outcome, step.At = row.Outcome, row.CreatedAt
	}
	for i := range d.Steps {
		from := time.Time{}
		if i > 0 {
			from = d.Steps[i-1].At
		}
		for _, b := range began {
			if b.After(from) && !b.After(d.Steps[i].At) {
				from = b
			}
		}
		d.Steps[i].DurationMS = d.Steps[i].At.Sub(from).Milliseconds()
	}
	for i := range d.Steps {
		effects, err := v.Effects(d.Run.ID, d.Steps[i].Index)
		if err != nil {
			return err
		}
		for _, e := range effects {
			c := callOf(&d.Steps[i], e.ToolCallID)
			c.Effect, c.Failed = e.State, toolresult.Failed(e.Result)
		}
		for _, p := range d.Parks {
			if p.Step == d.Steps[i].Index {
				c := callOf(&d.Steps[i], p.ToolCallID)
				c.Park, c.ToolName = p.State, p.ToolName
			}
		}
	}
	return nil
}

// callOf returns the step's record of a call. It adds the record if it is missing.
func callOf(s *wire.StepRecord, id spool.ToolCallID) *wire.CallRecord {
	for i := range s.Calls {
		if s.Calls[i].ToolCallID == id {
			return &s.Calls[i]
		}
	}
	s.Calls = append(s.Calls, wire.CallRecord{ToolCallID: id})
	return &s.Calls[len(s.Calls)-1]
}

// readCalls sets the calls' tool names from the messages.
func (d *detail) readCalls(v store.View) error {
	agent := d.Run.AgentID()
	messages, err := v.Messages(store.MessageQuery{Role: spool.RoleAssistant, Agent: &agent, Limit: detailLimit})
	if err != nil {
		return err
	}
	names := make(map[spool.ToolCallID]string)
	for _, m := range messages {
		for _, c := range m.ToolCalls() {
			names[c.ToolCallID] = c.ToolName
		}
	}
	for i := range d.Steps {
		for j := range d.Steps[i].Calls {
			if c := &d.Steps[i].Calls[j]; c.ToolName == "" {
				c.ToolName = names[c.ToolCallID]
			}
		}
	}
	return nil
}
