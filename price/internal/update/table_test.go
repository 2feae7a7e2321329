package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/price"
)

// public is a table in the public form.
const public = `{
	"last_updated": "2026-07-24", "sample_spec": {"mode": "chat", "input_cost_per_token": 1},
	"gpt-9": {"litellm_provider": "openai", "mode": "chat", "max_input_tokens": 272000, "max_output_tokens": 128000,
		"input_cost_per_token": 5e-06, "output_cost_per_token": 3e-05, "cache_read_input_token_cost": 5e-07,
		"input_cost_per_token_above_272k_tokens": 1e-05, "output_cost_per_token_above_272k_tokens": 4.5e-05,
		"input_cost_per_token_flex": 2.5e-06, "output_cost_per_token_flex": 1.5e-05,
		"input_cost_per_token_priority": 2.5e-03, "output_cost_per_token_priority": 1.5e-04},
	"gpt-9-2026-01-02": {"litellm_provider": "openai", "mode": "chat", "max_input_tokens": 400000,
		"input_cost_per_token": 5e-06, "output_cost_per_token": 3e-05},
	"gpt-9-2025-01-02": {"litellm_provider": "openai", "mode": "responses", "max_input_tokens": 128000,
		"input_cost_per_token": 6e-06, "output_cost_per_token": 3e-05},
	"gpt-9-audio": {"litellm_provider": "openai", "mode": "chat", "input_cost_per_token": 6e-06, "output_cost_per_token": 3e-05},
	"gpt-9-embed": {"litellm_provider": "openai", "mode": "embedding", "input_cost_per_token": 6e-06, "output_cost_per_token": 0},
	"azure/gpt-9": {"litellm_provider": "azure", "mode": "chat", "input_cost_per_token": 1, "output_cost_per_token": 1},
	"claude-x-20260101": {"litellm_provider": "anthropic", "mode": "chat", "max_input_tokens": 1000000,
		"input_cost_per_token": 3e-06, "output_cost_per_token": 1.5e-05, "cache_creation_input_token_cost": 3.75e-06,
		"cache_creation_input_token_cost_above_1hr": 6e-03,
		"input_cost_per_token_above_200k_tokens": 6e-06, "output_cost_per_token_above_200k_tokens": 2.25e-05},
	"anthropic.claude-3-5-x-20240101-v1:0": {"litellm_provider": "bedrock", "mode": "chat", "max_input_tokens": 200000,
		"input_cost_per_token": 8e-07, "output_cost_per_token": 4e-06},
	"groq/openai/open": {"litellm_provider": "groq", "mode": "chat", "max_input_tokens": 131072,
		"input_cost_per_token": 1.5e-07, "output_cost_per_token": 6e-07, "cache_creation_input_token_cost": 0}
}`

// The tables have what the public one says of the makers' own models, without its slips and its repetitions.
func TestTables(t *testing.T) {
	t.Parallel()

	models, err := read([]byte(public))
	if err != nil {
		t.Fatal(err)
	}
	prices := map[string]price.Rates{
		"gpt-9": {
			Input: 5_000_000, CacheRead: new(price.PerMillion(500_000)), Output: 30_000_000,
			Long: &price.LongRates{
				Above: 272_000,
				Rates: price.Rates{Input: 10_000_000, CacheRead: new(price.PerMillion(1_000_000)), Output: 45_000_000},
			},
			Tiers: map[string]price.Rates{"flex": {
				Input: 2_500_000, CacheRead: new(price.PerMillion(250_000)), Output: 15_000_000,
				Long: &price.LongRates{
					Above: 272_000,
					Rates: price.Rates{Input: 5_000_000, CacheRead: new(price.PerMillion(500_000)), Output: 22_500_000},
				},
			}},
		},
		"gpt-9-2025-01-02": {Input: 6_000_000, Output: 30_000_000},
		"claude-x": {
			Input: 3_000_000, CacheWrite: new(price.PerMillion(3_750_000)), CacheWriteHour: new(price.PerMillion(6_000_000)),
			Output: 15_000_000,
			Long: &price.LongRates{Above: 200_000, Rates: price.Rates{
				Input: 6_000_000, CacheWrite: new(price.PerMillion(7_500_000)), CacheWriteHour: new(price.PerMillion(12_000_000)),
				Output: 22_500_000,
			}},
		},
		"claude-3-5-x": {Input: 800_000, Output: 4_000_000},
		"openai/open":  {Input: 150_000, Output: 600_000},
	}
	if diff := cmp.Diff(prices, rates(models)); diff != "" {
		t.Errorf("prices (-want +got):\n%s", diff)
	}
	got := windows(models)
	for name, want := range map[string]int{
		"gpt-9": 400_000, "gpt-9-2026-01-02": 0, "gpt-9-2025-01-02": 128_000, "claude-x-20260101": 0, "open": 131_072,
		"claude-": 200_000, "gpt-9-audio": 0,
	} {
		if got[name] != want {
			t.Errorf("the window of %s is %d, want %d", name, got[name], want)
		}
	}
}
