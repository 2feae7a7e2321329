package engine

import (
	"testing"

	"github.com/spoolhq/spool"
)

func TestProviderOptionsConfig(t *testing.T) {
	t.Parallel()

	for want, names := range map[string][]string{
		`Config.Agents: agent "a" has an empty name in ProviderOptions`:                            {"seed", ""},
		`Config.Agents: agent "a" has "messages" in ProviderOptions, which only the engine sets`:   {"messages"},
		`Config.Agents: agent "a" has "max_tokens" in ProviderOptions, which only the engine sets`: {"seed", "max_tokens"},
		`Config.Agents: agent "a" has "seed" in ProviderOptions twice`:                             {"seed", "seed"},
	} {
		c := Config{Agents: []Agent{{Name: "a", Model: "m", ProviderOptions: names}}, Models: map[string]spool.Model{"m": struct{ spool.Model }{}}}
		if _, _, err := c.check(); spool.CodeOf(err) != spool.Invalid || spool.MessageOf(err) != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestContextConfig(t *testing.T) {
	t.Parallel()

	for want, c := range map[string]Config{
		`Config.CompactionModel is "x", which Config.Models lacks`:   {CompactionModel: "x"},
		`Config.CompactionTrigger is more than 1`:                    {CompactionTrigger: 1.1},
		`Config.ContextTailShare is not between 0 and 0.5`:           {ContextTailShare: 0.6},
		`Config.ContextTailShare is not less than CompactionTrigger`: {CompactionTrigger: 0.2},
		`Config.ContextCeiling is negative`:                          {ContextCeiling: -1},
		`Config.ContextOutputReserve is negative`:                    {ContextOutputReserve: -1},
		`Config.Windows["m"] is not positive`:                        {Windows: map[string]int{"m": 0}},
	} {
		c.Agents, c.Models = []Agent{{Name: "a", Model: "m"}}, map[string]spool.Model{"m": struct{ spool.Model }{}}
		if _, _, err := c.check(); spool.CodeOf(err) != spool.Invalid || spool.MessageOf(err) != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
