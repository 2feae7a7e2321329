package inspect

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Outcome returns the current outcome of a run.
func Outcome(v store.View, rules thread.Rules, run store.RunRow) (wire.RunOutcome, error) {
	o := wire.RunOutcome{
		ThreadID: run.ThreadID, RunID: run.ID, State: run.State, StopReason: run.StopReason, Error: run.Error,
		Expired: run.Expired, Parks: []wire.InputRequired{}, Usage: run.TokenCount, Costs: run.Costs(), Steps: run.Steps,
		EnqueuedAt: run.EnqueuedAt, EndedAt: run.EndedAt,
	}
	if run.Wait != nil {
		o.Delivered = run.Wait.Delivered
	}
	if run.State == wire.Completed {
		o.Output = run.OutputValue()
	}
	if run.Segments > 0 {
		o.StartedAt = run.StartedAt
	}
	if run.QueuePosition > 0 {
		waiting, err := record.Waiting(v)
		if err != nil {
			return o, err
		}
		for i, r := range waiting {
			if r.ID == run.ID {
				o.Position = i + 1
			}
		}
	}
	agent := run.AgentID()
	last := store.MessageQuery{Role: spool.RoleAssistant, Agent: &agent, Limit: 1}
	if agent == "" {
		last.Run = run.ID
	}
	messages, err := v.Messages(last)
	if err != nil {
		return o, err
	}
	if len(messages) > 0 {
		o.Message, o.Text = &messages[0], messages[0].Text()
	}
	o.Parks, err = openParks(v, rules, run)
	return o, err
}

// openParks returns the questions that have to be answered before the run continues. For a dispatched
// run, these are the questions of its whole tree.
func openParks(v store.View, rules thread.Rules, run store.RunRow) ([]wire.InputRequired, error) {
	open := []wire.InputRequired{}
	if run.State != wire.WaitingForInput || run.Ending != nil {
		return open, nil
	}
	parks, err := v.Parks(run.Root())
	if err != nil {
		return nil, err
	}
	now := v.Now()
	for _, p := range parks {
		switch {
		case thread.FailsRun(p): // the run has already failed; a worker only has to end it
			return []wire.InputRequired{}, nil
		case p.State != wire.ParkOpen, !now.Before(p.ExpiresAt), run.RootID != "" && p.CallerID() != run.ID:
			continue
		}
		asked, err := rules.InputRequired(v, p)
		if err != nil {
			return nil, err
		}
		open = append(open, asked)
	}
	return open, nil
}

// Settled reports whether the run has ended or waits for an answer.
func Settled(o wire.RunOutcome) bool { return o.State.Terminal() || len(o.Parks) > 0 }
