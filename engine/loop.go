package engine

import (
	"context"

	"github.com/spoolhq/spool"
)

// loop is an agent at work on a run: it asks its model, runs the tools that the model
// calls, saves the step, and asks again. A segment has one for the run that it carries.
type loop struct {
	s     *segment
	agent *Agent
	model spool.Model
	run   spool.Run      // as it was last saved; the goroutine of advance has it
	plan  []*plannedCall // the tool calls in hand
}

func (e *Engine) newLoop(s *segment, run spool.Run) *loop {
	agent := e.agents[run.Agent] // nil where a process settles a run that it cannot carry
	model := e.config.Models[run.Model]
	if model == nil && agent != nil { // the configuration has changed since the start
		model = e.config.Models[agent.Model]
	}
	return &loop{s: s, agent: agent, model: model, run: run}
}

// update runs a transition of the loop's run under the segment's lease, whatever has
// become of ctx, and keeps the run as it then is.
func (l *loop) update(ctx context.Context, fn func(h *held) error) error {
	var run spool.Run
	err := l.s.update(ctx, func(h *held) error {
		err := fn(h)
		run = h.run
		return err
	})
	if err == nil {
		l.run = run
	}
	return err
}
