package fold

import (
	"encoding/json"

	"github.com/spoolhq/spool"
)

// StreamEnded is the end of a stream. Its text is the answer of an agent that does not stream.
type StreamEnded struct {
	spool.StreamFinished
	Answer
}

// Item returns what an item says that is no content: its fields, a [Park] or a [StreamEnded], and the nested run that
// it is about. The agent is empty for the run's own one. Nil: the kind has no rule.
func Item(item spool.Item) (agent spool.AgentID, said any, err error) {
	switch item.Type {
	case spool.ItemStepFinished:
		s, err := fields[spool.StepFinished](item)
		return own(s.AgentID), s, err
	case spool.ItemProviderWait:
		w, err := fields[spool.ProviderWait](item)
		return own(w.AgentID), w, err
	case spool.ItemSubagentStarted:
		s, err := fields[spool.SubagentStarted](item)
		return s.SubagentID, s, err
	case spool.ItemSubagentFinished:
		s, err := fields[spool.SubagentFinished](item)
		return s.SubagentID, s, err
	case spool.ItemInputRequired:
		q, err := fields[spool.InputRequired](item)
		return own(q.AgentID), Park{InputRequired: q.FromRecord()}, err
	case spool.ItemRunFinished, spool.ItemRunError:
		e, err := fields[StreamEnded](item)
		return "", e, err
	case spool.ItemCustom:
		c, err := fields[spool.Custom](item)
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

func fields[F any](item spool.Item) (F, error) {
	var f F
	if err := item.Decode(&f); err != nil {
		return f, unreadable("item", string(item.Type), err)
	}
	return f, nil
}

// Inner returns the item that a nested run wrote, with the offset of the item that wraps it, and the nested run. Any
// other item is returned as it is, without an agent.
func Inner(item spool.Item) (agent spool.AgentID, inner spool.Item, err error) {
	if item.Type != spool.ItemSubagentEvent {
		return "", item, nil
	}
	e, err := fields[spool.SubagentEvent](item)
	if err != nil {
		return "", item, err
	}
	if err := json.Unmarshal(e.Event, &inner); err != nil {
		return "", item, unreadable("item", string(item.Type), err)
	}
	inner.Offset = item.Offset
	return e.SubagentID, inner, nil
}
