package openai_test

import (
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/model/openai"
)

func TestKnownWindow(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		model, called string
		want          int
	}{
		"what the engine calls it": {"my-deployment", "gpt-4o-mini", 128_000},
		"by the provider's name":   {"gpt-4o-2024-11-20", "m", 128_000},
		"the provider's name wins": {"gpt-4o-2024-11-20", "claude-3", 128_000},
		"behind a router":          {"anthropic/claude-sonnet-4.5", "m", 200_000},
		"the longest name":         {"m", "gpt-4.1-nano", 1_047_576},
		"not well-known":           {"qwen3:8b", "m", 0},
	} {
		m, err := openai.New(openai.Config{Model: c.model})
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Describe().Window(c.called, 0); got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
}

// A call is charged by the service tier that its request asks for, or else the configuration.
func TestBilling(t *testing.T) {
	t.Parallel()

	m, err := openai.New(openai.Config{Model: "gpt-5", Extra: map[string]any{"service_tier": "flex"}})
	if err != nil {
		t.Fatal(err)
	}
	for want, extra := range map[string]map[string]any{"flex": nil, "priority": {"service_tier": "priority"}} {
		if got, _ := m.Describe().Billing(spool.ModelRequest{Extra: extra}); got != want {
			t.Errorf("%q, want %s", got, want)
		}
	}
}
