package fold

import (
	"encoding/json"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// StreamEnded is the end of a stream. Its text is the answer of an agent that does not stream.
type StreamEnded struct {
	wire.StreamFinished
	Answer
}

// Item returns what an item says that is no content: its fields, a [Park] or a [StreamEnded], and the nested run that
// it is about. The agent is empty for the run's own one. Nil: the kind has no rule.
func Item(item wire.Item) (agent spool.AgentID, said any, err error) {
	switch item.Type {
	case wire.ItemStepFinished:
		s, err := fields[wire.StepFinished](item)
		return own(s.AgentID), s, err
	case wire.ItemProviderWait:
		w, err := fields[wire.ProviderWait](item)
		return own(w.AgentID), w, err
	case wire.ItemSubagentStarted:
		s, err := fields[wire.SubagentStarted](item)
		return s.SubagentID, s, err
	case wire.ItemSubagentFinished:
		s, err := fields[wire.SubagentFinished](item)
		return s.SubagentID, s, err
	case wire.ItemInputRequired:
		q, err := fields[wire.InputRequired](item)
		return own(q.AgentID), Park{InputRequired: q.FromRecord()}, err
	case wire.ItemRunFinished, wire.ItemRunError:
		e, err := fields[StreamEnded](item)
		return "", e, err
	case wire.ItemCustom:
		c, err := fields[wire.Custom](item)
		return "", c, err
	default:
		return "", nil, nil
	}
}

func own(agent *spool.AgentID) spool.AgentID {
	if agent == nil {
		return ""
	}
	return *agent
}

func fields[F any](item wire.Item) (F, error) {
	var f F
	if err := item.Decode(&f); err != nil {
		return f, unreadable("item", string(item.Type), err)
	}
	return f, nil
}

// Inner returns the item that a nested run wrote, with the offset of the item that wraps it, and the nested run. Any
// other item is returned as it is, without an agent.
func Inner(item wire.Item) (agent spool.AgentID, inner wire.Item, err error) {
	if item.Type != wire.ItemSubagentEvent {
		return "", item, nil
	}
	e, err := fields[wire.SubagentEvent](item)
	if err != nil {
		return "", item, err
	}
	if err := json.Unmarshal(e.Event, &inner); err != nil {
		return "", item, unreadable("item", string(item.Type), err)
	}
	inner.Offset = item.Offset
	return e.SubagentID, inner, nil
}
