package engine

import (
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/option"
)

func TestProviderOptionsConfig(t *testing.T) {
	t.Parallel()

	for want, names := range map[string][]string{
		`Config.Agents: agent "a" has an empty name in ProviderOptions`:                            {"seed", ""},
		`Config.Agents: agent "a" has "messages" in ProviderOptions, which only the engine sets`:   {"messages"},
		`Config.Agents: agent "a" has "max_tokens" in ProviderOptions, which only the engine sets`: {"seed", "max_tokens"},
		`Config.Agents: agent "a" has "seed" in ProviderOptions twice`:                             {"seed", "seed"},
	} {
		c := Config{
			Agents: []spool.Agent{{Name: "a", Model: "m", ProviderOptions: names}},
			Models: map[string]spool.Model{"m": struct{ spool.Model }{}},
		}
		if _, _, err := c.check(); spool.CodeOf(err) != spool.Invalid || spool.MessageOf(err) != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()

	for want, c := range map[string]Config{
		`Config.Context.CompactionModel is "x", which Config.Models lacks`: {Context: option.Context{CompactionModel: "x"}},
		`Config.Retry.Backoff is negative`:                                 {Retry: option.Retry{Backoff: -1}},
		`Config.ClientToolTTL is negative`:                                 {ClientToolTTL: -1},
		`Config.ParkTTL is negative`:                                       {ParkTTL: -1},
		`Config.Budget.Max.Tokens is negative`: {
			Budget: option.Budget{Max: spool.Budget{Tokens: -1}},
		},
		`Config.ProviderLimits names "x", which Config.Models lacks`: {
			ProviderLimits: map[string]option.ProviderLimit{"x": {RPM: 1}},
		},
		`Config.ProviderLimits["m"] has a negative number`: {
			ProviderLimits: map[string]option.ProviderLimit{"m": {RPM: 1, TPM: -1}},
		},
		`Config.ProviderLimits["m"] limits nothing`: {ProviderLimits: map[string]option.ProviderLimit{"m": {Group: "x"}}},
		`Config.ProviderLimits["n"] differs from that of "m", which has the same group`: {
			ProviderLimits: map[string]option.ProviderLimit{"m": {Group: "x", RPM: 1}, "n": {Group: "x", RPM: 2}},
		},
		`Config.Budget.OnBudget has no action of the name "x"`: {Budget: option.Budget{OnBudget: "x"}},
	} {
		c.Agents, c.Models = []spool.Agent{{Name: "a", Model: "m"}},
			map[string]spool.Model{"m": struct{ spool.Model }{}, "n": struct{ spool.Model }{}}
		if _, _, err := c.check(); spool.CodeOf(err) != spool.Invalid || spool.MessageOf(err) != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
