package wire

import (
	"slices"

	"github.com/spoolhq/spool"
)

const (
	// maxWebhookAgents is how many agents a filter names at the most.
	maxWebhookAgents = 64
	// maxWebhookAgent is the length of the longest name of an agent, in bytes.
	maxWebhookAgent = 200
)

// WebhookFilter selects events. An event must pass all fields.
type WebhookFilter struct {
	Events []WebhookType `json:"events,omitempty"` // Only these kinds. Left out: all.
	Agents []string      `json:"agents,omitempty"` // Only events of these agents. Left out: all.
	// Labels are labels that the thread has, all of them. Left out: any thread, and events without one.
	Labels map[string]string `json:"labels,omitempty"`
}

// Check returns an [spool.Invalid] error that names the field of a filter that cannot be meant: a kind that is not
// known, an agent without a name, more than 64 agents, or labels that no thread has.
func (f WebhookFilter) Check() error {
	kinds := WebhookKinds()
	for i, e := range f.Events {
		if !slices.ContainsFunc(kinds, func(k Kind[WebhookType]) bool { return k.Type == e }) {
			return spool.Errorf(spool.Invalid, "events[%d] is no kind of event", i)
		}
		if slices.Contains(f.Events[:i], e) {
			return spool.Errorf(spool.Invalid, "events[%d] is there twice", i)
		}
	}
	if len(f.Agents) > maxWebhookAgents {
		return spool.Errorf(spool.Invalid, "agents: there are more than %d", maxWebhookAgents)
	}
	for i, agent := range f.Agents {
		if agent == "" || len(agent) > maxWebhookAgent {
			return spool.Errorf(spool.Invalid, "agents[%d] must have 1 to %d bytes", i, maxWebhookAgent)
		}
	}
	return CheckLabels(f.Labels)
}

// Match reports whether an event passes the filter.
func (f WebhookFilter) Match(kind WebhookType, agent string, labels map[string]string) bool {
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
