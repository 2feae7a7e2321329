package calls

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
func (c *Calls) isDescribe(p *Call) bool {
	return c.run.Agent().Catalogue != nil && p.call.Name == spool.DescribeTool
}

// describedBefore returns the tools of the catalogue that the run can call after the calls before one of its step.
func (c *Calls) describedBefore(before []*Call) []string {
	have := slices.Clone(c.run.Row().Described)
	for _, p := range before {
		have = append(have, p.describes...)
	}
	return have
}

// planDescribed plans which tools of the catalogue the run can call after a call, while the calls of a step have an
// order: they run at the same time, and there is a bound. A worker that repeats the step plans the same.
func (c *Calls) planDescribed(p *Call, before []*Call) {
	tools := c.run.Agent().Catalogue
	switch {
	case c.isDescribe(p):
		names, have := catalogue.Names(p.call.Args), c.describedBefore(before)
		p.describes = tools.Fresh(names, have)
		p.tool.Call = func(context.Context, spool.ToolCall) (json.RawMessage, error) {
			return tools.Describe(names, slices.Concat(have, p.describes)), nil
		}
	case tools != nil && p.tool.Search && !slices.Contains(c.run.Row().Described, p.call.Name):
		p.undescribed, p.describes = true, tools.Fresh([]string{p.call.Name}, c.describedBefore(before))
	}
}

// noteDescribed adds the tools that the calls of a plan described to those that the run can call. A description that
// the model does not get, because of a budget or a limit, does not count.
func noteDescribed(tx *thread.Tx, plan []*Call) {
	for _, p := range plan {
		if len(p.describes) > 0 && p.result != nil && (p.undescribed || !toolresult.Failed(p.result)) {
			tx.Run.Described = append(slices.Clip(tx.Run.Described), p.describes...)
		}
	}
}
