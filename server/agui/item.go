package agui

import (
	"slices"

	"github.com/spoolhq/spool"
)

// item returns the events of an item of a run stream.
func (t *Translator) item(id spool.StreamID, item spool.Item) ([]Event, error) {
	run, _, _ := id.Split()
	if t.o.RunID != "" && run != t.o.RunID {
		t.missed = true
		return nil, nil
	}
	var before []Event
	if !t.open && item.Type != spool.ItemRunStarted {
		before = t.begin(run)
	}
	events, err := t.itemEvents(item)
	return append(before, events...), err
}

// itemEvents returns the events of an item within a run.
func (t *Translator) itemEvents(item spool.Item) ([]Event, error) {
	switch item.Type {
	case spool.ItemRunStarted:
		return nil, nil
	case spool.ItemRunFinished, spool.ItemRunError:
		t.end = &item
		return nil, nil
	case spool.ItemInputRequired:
		t.parks.add(item.Data)
		return nil, nil
	case spool.ItemStepFinished:
		return t.stepFinished(item)
	case spool.ItemToolResult:
		if t.knows(item) {
			return nil, nil
		}
	case spool.ItemSubagentEvent: // a client does not get the messages of nested runs
		return []Event{custom(string(item.Type), item.Data)}, nil
	case spool.ItemCustom:
		var c spool.Custom
		if err := item.Decode(&c); err != nil {
			return nil, unreadable(item, err)
		}
		return []Event{custom(c.Name, c.Value).publishedBy(c.PublishedBy, c.PublishedByTool)}, nil
	}
	if item.Type.Content() && item.Type != spool.ItemSubagentEvent {
		return t.step.content(item)
	}
	return []Event{custom(string(item.Type), item.Data)}, nil
}

// stepFinished ends the step. The client does not see the steps of nested runs.
func (t *Translator) stepFinished(item spool.Item) ([]Event, error) {
	var f spool.StepFinished
	if err := item.Decode(&f); err != nil {
		return nil, unreadable(item, err)
	}
	if f.AgentID != nil {
		return []Event{custom(string(item.Type), item.Data)}, nil
	}
	return t.step.finish(f), nil
}

// knows reports whether the item is a result that the client itself gave.
func (t *Translator) knows(item spool.Item) bool {
	if len(t.o.Results) == 0 || item.Type != spool.ItemToolResult {
		return false
	}
	var result spool.ToolResulted
	return item.Decode(&result) == nil && slices.ContainsFunc(t.o.Results, func(r ClientResult) bool { return r.ToolCallID == result.ToolCallID })
}
