package projection

import (
	"slices"

	"github.com/spoolhq/spool/wire"
)

// item adds the changes of an item of a run stream.
func (p *Projection) item(id wire.StreamID, item wire.Item) error {
	run, _, _ := id.Split()
	if p.o.RunID != "" && run != p.o.RunID {
		p.missed = true
		return nil
	}
	if !p.open && item.Type != wire.ItemRunStarted {
		p.begin(run)
	}
	return p.itemIn(item)
}

// itemIn adds the changes of an item within a run.
func (p *Projection) itemIn(item wire.Item) error {
	switch item.Type {
	case wire.ItemRunStarted:
		return nil
	case wire.ItemRunFinished, wire.ItemRunError:
		p.end = &item
		return nil
	case wire.ItemInputRequired:
		p.parks.add(item.Data)
		return nil
	case wire.ItemStepFinished:
		return p.stepFinished(item)
	case wire.ItemToolResult:
		if p.knows(item) {
			return nil
		}
	case wire.ItemSubagentStarted, wire.ItemSubagentEvent, wire.ItemSubagentFinished:
		p.out.add(Nested{item})
		return nil
	case wire.ItemCustom:
		var c wire.Custom
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
func (p *Projection) stepFinished(item wire.Item) error {
	var f wire.StepFinished
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
func (p *Projection) knows(item wire.Item) bool {
	if len(p.o.Results) == 0 || item.Type != wire.ItemToolResult {
		return false
	}
	var result wire.ToolResulted
	return item.Decode(&result) == nil && slices.ContainsFunc(p.o.Results, func(r Given) bool { return r.ToolCallID == result.ToolCallID })
}
