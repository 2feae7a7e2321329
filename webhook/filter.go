package webhook

import (
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

const (
	// maxAgents is how many agents a filter names at the most.
	maxAgents = 64
	// maxAgent is the length of the longest name of an agent, in bytes.
	maxAgent = 200
)

// Filter selects events. An event must pass all fields.
type Filter struct {
	Events []wire.WebhookType `json:"events,omitempty"` // Only these kinds. Left out: all.
	Agents []string           `json:"agents,omitempty"` // Only events of these agents. Left out: all.
	// Labels are labels that the thread has, all of them. Left out: any thread, and events without one.
	Labels map[string]string `json:"labels,omitempty"`
}

// Check returns an [spool.Invalid] error that names the field of a filter that cannot be meant: a kind that is not
// known, an agent without a name, more than 64 agents, or labels that no thread has.
func (f Filter) Check() error {
	kinds := wire.WebhookKinds()
	for i, e := range f.Events {
		if !slices.ContainsFunc(kinds, func(k wire.Kind[wire.WebhookType]) bool { return k.Type == e }) {
			return spool.Errorf(spool.Invalid, "events[%d] is no kind of event", i)
		}
		if slices.Contains(f.Events[:i], e) {
			return spool.Errorf(spool.Invalid, "events[%d] is there twice", i)
		}
	}
	if len(f.Agents) > maxAgents {
		return spool.Errorf(spool.Invalid, "agents: there are more than %d", maxAgents)
	}
	for i, agent := range f.Agents {
		if agent == "" || len(agent) > maxAgent {
			return spool.Errorf(spool.Invalid, "agents[%d] must have 1 to %d bytes", i, maxAgent)
		}
	}
	return wire.CheckLabels(f.Labels)
}

// Match reports whether an event passes the filter.
func (f Filter) Match(kind wire.WebhookType, agent string, labels map[string]string) bool {
	if len(f.Events) > 0 && !slices.Contains(f.Events, kind) || len(f.Agents) > 0 && !slices.Contains(f.Agents, agent) {
		return false
	}
	for key, value := range f.Labels {
		if labels[key] != value {
			return false
		}
	}
	return true
}
