package engine

import (
	"testing"

	"github.com/spoolhq/spool"
)

// TestGrantWaitsWithNothing has two loops share a budget that has no room for both. One that
// has something set aside must not wait for what the other gives back: they would wait for
// each other.
func TestGrantWaitsWithNothing(t *testing.T) {
	t.Parallel()

	hold := func(id spool.AgentID, kind spool.UsageKind) spool.Hold {
		return spool.Hold{AgentID: id, Kind: kind, Input: 100, Tokens: 400}
	}
	h := &held{run: spool.Run{ID: "r1", Allowance: &spool.Allowance{
		Budget: spool.Budget{Tokens: 1000},
		Holds:  []spool.Hold{hold("a", spool.UsageCompaction), hold("b", spool.UsageCompaction)},
	}}}
	for id, wait := range map[spool.AgentID]bool{"a": false, "b": false, "c": true} {
		g := h.grant(pendingCall{hold: spool.Hold{AgentID: id, Kind: spool.UsageCompaction, Input: 100}, want: 300})
		if g.wait != wait || !wait && g.output != 100 {
			t.Errorf("%s waits: %t, want %t: %+v", id, g.wait, wait, g)
		}
	}
}

// TestGrantPaysWhatIsLeft has a call of which the prompt costs 100 and each token of the answer
// 3, in a budget of which siblings hold something: what they hold is not there, and the rest is
// there to the last token.
func TestGrantPaysWhatIsLeft(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		budget, spent, sibling, own int64
		want                        grant
	}{
		"room for all":             {budget: 1000, want: grant{output: 300}},
		"room for it exactly":      {budget: 1400, spent: 100, sibling: 300, want: grant{output: 300}},
		"a little less, and waits": {budget: 1399, spent: 100, sibling: 300, want: grant{output: 299, capped: spool.StopCostBudget, wait: true}},
		"it holds some itself":     {budget: 1399, spent: 100, sibling: 200, own: 100, want: grant{output: 299, capped: spool.StopCostBudget}},
		"room for the least":       {budget: 148, want: grant{output: 16, capped: spool.StopCostBudget}},
		"no room for the least":    {budget: 147, want: grant{output: 15, capped: spool.StopCostBudget, short: spool.StopCostBudget}},
	} {
		a := &spool.Allowance{Budget: spool.Budget{CostMicros: test.budget}}
		a.Spent.CostMicros = test.spent
		for id, micros := range map[spool.AgentID]int64{"a": test.own, "b": test.sibling} {
			if micros > 0 {
				a.Holds = append(a.Holds, spool.Hold{AgentID: id, CostMicros: micros})
			}
		}
		h := &held{run: spool.Run{ID: "r1", Allowance: a}}
		g := h.grant(pendingCall{hold: spool.Hold{AgentID: "a", Input: 10, Prompt: &spool.Cost{Micros: 100, Currency: "USD"}}, want: 300, perToken: 3})
		if g.output != test.want.output || g.capped != test.want.capped || g.wait != test.want.wait || g.short != test.want.short {
			t.Errorf("%s: %+v", name, g)
		}
		if cost := 100 + 3*test.want.output; g.hold.CostMicros != cost || g.hold.Tokens != 10+test.want.output {
			t.Errorf("%s: it holds %d for %d tokens, want %d", name, g.hold.CostMicros, g.hold.Tokens, cost)
		}
	}
}
