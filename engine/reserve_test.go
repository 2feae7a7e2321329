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
