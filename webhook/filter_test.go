package webhook_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/webhook"
	"github.com/spoolhq/spool/wire"
)

func TestFilter(t *testing.T) {
	t.Parallel()

	type labels = map[string]string
	type kinds = []wire.WebhookType
	have := labels{"team": "billing", "tier": "gold"}
	for name, c := range map[string]struct {
		filter webhook.Filter
		want   bool
	}{
		"All":             {webhook.Filter{}, true},
		"Event":           {webhook.Filter{Events: kinds{"run.failed", "run.waiting"}}, true},
		"OtherEvent":      {webhook.Filter{Events: kinds{"run.failed"}}, false},
		"Agent":           {webhook.Filter{Agents: []string{"b", "a"}}, true},
		"OtherAgent":      {webhook.Filter{Agents: []string{"aa"}}, false},
		"Label":           {webhook.Filter{Labels: labels{"team": "billing"}}, true},
		"Labels":          {webhook.Filter{Labels: have}, true},
		"OtherValue":      {webhook.Filter{Labels: labels{"team": "sales"}}, false},
		"OneOtherValue":   {webhook.Filter{Labels: labels{"team": "billing", "tier": "free"}}, false},
		"NoSuchLabel":     {webhook.Filter{Labels: labels{"x": "y"}}, false},
		"AllFields":       {webhook.Filter{Events: kinds{"run.waiting"}, Agents: []string{"a"}, Labels: have}, true},
		"AllFieldsButOne": {webhook.Filter{Events: kinds{"run.waiting"}, Agents: []string{"b"}, Labels: have}, false},
	} {
		if err := c.filter.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := c.filter.Match("run.waiting", "a", have); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if (webhook.Filter{Agents: []string{"a"}}).Match("thread.deleted", "", nil) ||
		(webhook.Filter{Labels: have}).Match("schedule.paused", "a", nil) {
		t.Error("an event without an agent or labels passes a filter for some")
	}
}

func TestFilterCheck(t *testing.T) {
	t.Parallel()

	for want, f := range map[string]webhook.Filter{
		"events[1] is no kind of event":      {Events: []wire.WebhookType{"run.failed", "run.fail"}},
		"events[1] is there twice":           {Events: []wire.WebhookType{"run.failed", "run.failed"}},
		"agents[0] must have 1 to 200 bytes": {Agents: []string{""}},
		"agents[1] must have 1 to 200 bytes": {Agents: []string{"a", strings.Repeat("a", 201)}},
		"agents: there are more than 64":     {Agents: slices.Repeat([]string{"a"}, 65)},
		"labels.team is empty":               {Labels: map[string]string{"team": ""}},
	} {
		if err := f.Check(); spool.CodeOf(err) != spool.Invalid || err.Error() != want {
			t.Errorf("Check = %v, want %s", err, want)
		}
	}
}
