package engine

import (
	"context"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/thread"
)

// Outcome is where a run is, and what it has come to, as one consistent state.
type Outcome struct {
	ThreadID spool.ThreadID `doc:"The thread."                                                             example:"t1"                                                       json:"threadId"`
	RunID    spool.RunID    `doc:"The run."                                                                example:"r1"                                                       json:"runId"`
	State    spool.State    `doc:"Where the run is. It is over when it is COMPLETED, CANCELLED or FAILED." enum:"QUEUED,RUNNING,WAITING_FOR_INPUT,COMPLETED,CANCELLED,FAILED" json:"state"`
	// Position is the run's place among those that wait for the thread, from 1. Zero: it does
	// not wait.
	Position int `doc:"Its place among the runs that wait for the thread, from 1. Left out: it does not wait for it." json:"position,omitempty"`
	// StopReason is why the run ended. Empty: it has not.
	StopReason spool.StopReason `doc:"Why it ended. Left out: it has not." example:"completed" json:"stopReason,omitempty"`
	// Error is why the run failed, in words for a person.
	Error string `doc:"Why it failed, for a person." json:"error,omitempty"`
	// Text is the text of Message. Empty: there is none.
	Text string `doc:"The text of message: the answer, once the run is over." json:"text"`
	// Message is the last saved answer of the run's model; of a run that has ended, the final one.
	// Nil: the model has not answered yet, or an edit or a rollback has replaced the turn.
	Message *spool.Message `doc:"The last saved answer of the model. Left out: there is none yet, or an edit or a rollback has replaced the turn." json:"message,omitempty" nullable:"false"`
	// Parks are the questions that the run waits with, in the order in which they were asked, as
	// INPUT_REQUIRED tells them. Empty: nobody has to answer anything for the run to go on.
	Parks []spool.InputRequired `doc:"What somebody has to answer before the run goes on. It has ended, or goes on by itself, where there are none." json:"parks"`
	// Usage is what the run has used, and of a dispatched run what its nested runs have as well.
	Usage spool.TokenCount `doc:"What the run has used, with all runs under it." json:"usage"`
	// Costs are what all of it cost. Empty: nothing was priced.
	Costs []spool.Money `doc:"What it cost, with all runs under it. Left out: nothing was priced." json:"costs,omitempty"`
	// Steps counts the finished steps.
	Steps      int       `doc:"How many steps are finished." json:"steps"`
	EnqueuedAt time.Time `doc:"When it was accepted."        json:"enqueuedAt,omitzero"`
	// StartedAt is when the first worker picked the run up. Zero: none has.
	StartedAt time.Time `doc:"When a worker picked it up first. Left out: none has." json:"startedAt,omitzero"`
	EndedAt   time.Time `doc:"When it ended. Left out: it has not."                  json:"endedAt,omitzero"`
}

// over reports whether the run does nothing more by itself.
func (o Outcome) over() bool { return o.State.Terminal() || len(o.Parks) > 0 }

// Outcome returns what a run of the thread has come to by now. A key without a thread id stands
// for the run's own thread. It returns a [spool.NotFound] error for a run that is not there,
// also because its thread was deleted.
func (e *Engine) Outcome(ctx context.Context, key spool.ThreadKey, id spool.RunID) (Outcome, error) {
	key, err := e.runKey(ctx, key, id)
	if err != nil {
		return Outcome{}, err
	}
	o, _, err := e.outcome(ctx, key, id)
	return o, err
}

// runKey fills in the thread of a run where it is not named.
func (e *Engine) runKey(ctx context.Context, key spool.ThreadKey, id spool.RunID) (spool.ThreadKey, error) {
	if err := spool.CheckID("runId", string(id)); err != nil {
		return key, err
	}
	if key.ID != "" {
		return key, nil
	}
	found, err := e.store.Runs(ctx, key.Tenant, spool.RunQuery{ID: id})
	if err != nil {
		return key, err
	}
	if len(found) == 0 {
		return key, spool.Errorf(spool.NotFound, runNotFound)
	}
	key.ID = found[0].ThreadID
	return key, nil
}

// outcome reads what a run has come to, and which dispatched run it belongs to.
func (e *Engine) outcome(ctx context.Context, key spool.ThreadKey, id spool.RunID) (o Outcome, root spool.RunID, err error) {
	err = e.store.View(ctx, key, func(v spool.View) error {
		run, err := v.Run(id)
		if err != nil {
			return err
		}
		root = run.Root()
		o, err = e.outcomeOf(v, run)
		return err
	})
	if record.Missing(err) {
		err = spool.Errorf(spool.NotFound, runNotFound)
	}
	return o, root, err
}

func (e *Engine) outcomeOf(v spool.View, run spool.Run) (Outcome, error) {
	o := Outcome{
		ThreadID: run.ThreadID, RunID: run.ID, State: run.State, StopReason: run.StopReason, Error: run.Error,
		Parks: []spool.InputRequired{}, Usage: run.TokenCount, Costs: run.Costs(), Steps: run.Steps,
		EnqueuedAt: run.EnqueuedAt, EndedAt: run.EndedAt,
	}
	if run.Segments > 0 {
		o.StartedAt = run.StartedAt
	}
	if run.Place > 0 {
		line, err := v.Waiting()
		if err != nil {
			return o, err
		}
		for i, r := range line {
			if r.ID == run.ID {
				o.Position = i + 1
			}
		}
	}
	agent := run.AgentID()
	last := spool.MessageQuery{Role: spool.RoleAssistant, Agent: &agent, Limit: 1}
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
	o.Parks, err = e.openParks(v, run)
	return o, err
}

// openParks returns the questions that can be answered and without which the run does not go on.
// Those of a dispatched run include those of the runs below it.
func (e *Engine) openParks(v spool.View, run spool.Run) ([]spool.InputRequired, error) {
	open := []spool.InputRequired{}
	if run.State != spool.WaitingForInput || run.Ending != nil {
		return open, nil
	}
	parks, err := v.Parks(run.Root())
	if err != nil {
		return nil, err
	}
	now := v.Now()
	for _, p := range parks {
		switch {
		case thread.FailsRun(p): // the run is over, and only has to be picked up
			return []spool.InputRequired{}, nil
		case p.State != spool.ParkOpen, !now.Before(p.ExpiresAt), run.RootID != "" && p.CallerID() != run.ID:
			continue
		}
		asked, err := e.rules.InputRequired(v, p)
		if err != nil {
			return nil, err
		}
		open = append(open, asked)
	}
	return open, nil
}
