package wire_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

func TestWebhookFilter(t *testing.T) {
	t.Parallel()

	type labels = map[string]string
	type kinds = []wire.WebhookType
	have := labels{"team": "billing", "tier": "gold"}
	for name, c := range map[string]struct {
		filter wire.WebhookFilter
		want   bool
	}{
		"All":             {wire.WebhookFilter{}, true},
		"Event":           {wire.WebhookFilter{Events: kinds{"run.failed", "run.waiting"}}, true},
		"OtherEvent":      {wire.WebhookFilter{Events: kinds{"run.failed"}}, false},
		"Agent":           {wire.WebhookFilter{Agents: []string{"b", "a"}}, true},
		"OtherAgent":      {wire.WebhookFilter{Agents: []string{"aa"}}, false},
		"Label":           {wire.WebhookFilter{Labels: labels{"team": "billing"}}, true},
		"Labels":          {wire.WebhookFilter{Labels: have}, true},
		"OtherValue":      {wire.WebhookFilter{Labels: labels{"team": "sales"}}, false},
		"OneOtherValue":   {wire.WebhookFilter{Labels: labels{"team": "billing", "tier": "free"}}, false},
		"NoSuchLabel":     {wire.WebhookFilter{Labels: labels{"x": "y"}}, false},
		"AllFields":       {wire.WebhookFilter{Events: kinds{"run.waiting"}, Agents: []string{"a"}, Labels: have}, true},
		"AllFieldsButOne": {wire.WebhookFilter{Events: kinds{"run.waiting"}, Agents: []string{"b"}, Labels: have}, false},
	} {
		if err := c.filter.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := c.filter.Match("run.waiting", "a", have); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if (wire.WebhookFilter{Agents: []string{"a"}}).Match("thread.deleted", "", nil) ||
		(wire.WebhookFilter{Labels: have}).Match("schedule.paused", "a", nil) {
		t.Error("an event without an agent or labels passes a filter for some")
	}
}

func TestWebhookFilterCheck(t *testing.T) {
	t.Parallel()

	for want, f := range map[string]wire.WebhookFilter{
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
