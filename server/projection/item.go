package projection

import (
	"slices"

	"github.com/spoolhq/spool"
)

// item adds the changes of an item of a run stream.
func (p *Projection) item(id spool.StreamID, item spool.Item) error {
	run, _, _ := id.Split()
	if p.o.RunID != "" && run != p.o.RunID {
		p.missed = true
		return nil
	}
	if !p.open && item.Type != spool.ItemRunStarted {
		p.begin(run)
	}
	return p.itemIn(item)
}

// itemIn adds the changes of an item within a run.
func (p *Projection) itemIn(item spool.Item) error {
	switch item.Type {
	case spool.ItemRunStarted:
		return nil
	case spool.ItemRunFinished, spool.ItemRunError:
		p.end = &item
		return nil
	case spool.ItemInputRequired:
		p.parks.add(item.Data)
		return nil
	case spool.ItemStepFinished:
		return p.stepFinished(item)
	case spool.ItemToolResult:
		if p.knows(item) {
			return nil
		}
	case spool.ItemSubagentStarted, spool.ItemSubagentEvent, spool.ItemSubagentFinished:
		p.out.add(Nested{item})
		return nil
	case spool.ItemCustom:
		var c spool.Custom
		if err := item.Decode(&c); err != nil {
			return unreadable(item, err)
		}
		p.out.add(Custom{c.Name, c.Value, true, c.PublishedBy, c.PublishedByTool})
		return nil
	}
	if item.Type.Content() {
		return p.step.content(&p.out, item)
	}
	p.out.add(Custom{Name: string(item.Type), Value: item.Data})
	return nil
}

// stepFinished ends the step. The steps of nested runs are in their own changes.
func (p *Projection) stepFinished(item spool.Item) error {
	var f spool.StepFinished
	if err := item.Decode(&f); err != nil {
		return unreadable(item, err)
	}
	if f.AgentID != nil {
		p.out.add(Nested{item})
		return nil
	}
	p.step.finish(&p.out, f)
	return nil
}

// knows reports whether the item is a result that the client itself gave.
func (p *Projection) knows(item spool.Item) bool {
	if len(p.o.Results) == 0 || item.Type != spool.ItemToolResult {
		return false
	}
	var result spool.ToolResulted
	return item.Decode(&result) == nil && slices.ContainsFunc(p.o.Results, func(r Given) bool { return r.ToolCallID == result.ToolCallID })
}
