package projection

import (
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
	"github.com/spoolhq/spool/wire/fold"
)

// item adds the changes of an item of a run stream.
func (p *Projection) item(id wire.StreamID, item wire.Item) {
	run, _, _ := id.Split()
	if p.o.RunID != "" && run != p.o.RunID {
		p.missed = true
		return
	}
	if !p.open && item.Type != wire.ItemRunStarted {
		p.begin(run)
	}
	p.itemIn(item)
}

// itemIn adds the changes of an item within a run.
func (p *Projection) itemIn(item wire.Item) {
	switch item.Type {
	case wire.ItemRunStarted:
		return
	case wire.ItemSubagentStarted, wire.ItemSubagentEvent, wire.ItemSubagentFinished:
		p.out.add(Nested{item})
		return
	}
	c, ok, err := fold.ContentOf(item)
	if ok && err == nil && !p.isClientResult(c) {
		p.step.content(&p.out, c)
	}
	if ok || err != nil {
		p.err = err
		return
	}
	agent, payload, err := fold.Item(item)
	if err != nil {
		p.err = err
		return
	}
	switch said := payload.(type) {
	case fold.StreamEnded:
		p.end = &said
	case fold.Park:
		said.RunID = p.step.run
		p.parks = p.parks.After(said)
	case wire.StepFinished:
		if agent != "" { // the steps of nested runs are in their own changes
			p.out.add(Nested{item})
		} else {
			p.step.finish(&p.out, said)
		}
	case wire.Custom:
		p.out.add(Custom{said.Name, said.Value, true, said.PublishedBy, said.PublishedByTool})
	default:
		p.out.add(Custom{Name: string(item.Type), Value: item.Data})
	}
}

// isClientResult reports whether the content is a result that the client itself gave.
func (p *Projection) isClientResult(c fold.Content) bool {
	return c.Type == spool.PartToolResult &&
		slices.ContainsFunc(p.o.Results, func(r Given) bool { return string(r.ToolCallID) == c.ID })
}
