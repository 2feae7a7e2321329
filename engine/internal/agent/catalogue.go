package agent

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/catalogue"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/engine/internal/toolresult"
)

// isDescribe reports whether a call describes tools of the agent's catalogue.
func (l *runState) isDescribe(p *plannedCall) bool {
	return l.agent.Catalogue != nil && p.call.Name == spool.DescribeTool
}

// describedBefore returns the tools of the catalogue that the run can call after the calls before one of its step.
func (l *calls) describedBefore(before []*plannedCall) []string {
	have := slices.Clone(l.run.Described)
	for _, p := range before {
		have = append(have, p.describes...)
	}
	return have
}

// planDescribed plans which tools of the catalogue the run can call after a call, while the calls of a step have an
// order: they run at the same time, and there is a bound. A worker that repeats the step plans the same.
func (l *calls) planDescribed(p *plannedCall, before []*plannedCall) {
	c := l.agent.Catalogue
	switch {
	case l.isDescribe(p):
		names, have := catalogue.Names(p.call.Args), l.describedBefore(before)
		p.describes = c.Fresh(names, have)
		p.tool.Call = func(context.Context, spool.ToolCall) (json.RawMessage, error) {
			return c.Describe(names, slices.Concat(have, p.describes)), nil
		}
	case c != nil && p.tool.Search && !slices.Contains(l.run.Described, p.call.Name):
		p.undescribed, p.describes = true, c.Fresh([]string{p.call.Name}, l.describedBefore(before))
	}
}

// noteDescribed adds the tools that the calls of a plan described to those that the run can call. A description that the
// model does not get, because of a budget or a limit, does not count.
func noteDescribed(tx *thread.Tx, plan []*plannedCall) {
	for _, p := range plan {
		if len(p.describes) > 0 && p.result != nil && (p.undescribed || !toolresult.Failed(p.result)) {
			tx.Run.Described = append(slices.Clip(tx.Run.Described), p.describes...)
		}
	}
}
