package budget_test

import (
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/budget"
	"github.com/spoolhq/spool/wire"
)

// TestReserveWaitsWithNothing has two agents that share a budget without room for both. An agent with a
// reservation must not wait for the other's reservation, because they would wait for each other.
func TestReserveWaitsWithNothing(t *testing.T) {
	t.Parallel()

	reserved := func(id spool.AgentID, kind spool.UsageKind) wire.Reservation {
		return wire.Reservation{AgentID: id, Kind: kind, Input: 100, Tokens: 400}
	}
	a := &wire.Allowance{
		Budget:       spool.Budget{Tokens: 1000},
		Reservations: []wire.Reservation{reserved("a", spool.UsageCompaction), reserved("b", spool.UsageCompaction)},
	}
	for id, wait := range map[spool.AgentID]bool{"a": false, "b": false, "c": true} {
		r := budget.RoomFor(a, budget.Call{
			Reservation: wire.Reservation{AgentID: id, Kind: spool.UsageCompaction, Input: 100}, Want: 300,
		}, time.Time{})
		if r.Wait != wait || !wait && r.Output != 100 {
			t.Errorf("%s waits: %t, want %t: %+v", id, r.Wait, wait, r)
		}
	}
}

// TestReservePaysWhatIsLeft has a call whose prompt costs 100 and each token of whose answer costs 3.
// Other agents have reserved a part of the budget; the call gets exactly the rest.
func TestReservePaysWhatIsLeft(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		total, spent, sibling, own int64
		want                       budget.Room
	}{
		"room for all":        {total: 1000, want: budget.Room{Output: 300}},
		"room for it exactly": {total: 1400, spent: 100, sibling: 300, want: budget.Room{Output: 300}},
		"a little less, and waits": {
			total: 1399, spent: 100, sibling: 300, want: budget.Room{Output: 299, Capped: wire.StopCostBudget, Wait: true},
		},
		"it holds some itself": {
			total: 1399, spent: 100, sibling: 200, own: 100, want: budget.Room{Output: 299, Capped: wire.StopCostBudget},
		},
		"room for the least": {total: 148, want: budget.Room{Output: 16, Capped: wire.StopCostBudget}},
		"no room for the least": {
			total: 147, want: budget.Room{Output: 15, Capped: wire.StopCostBudget, Short: wire.StopCostBudget},
		},
	} {
		a := &wire.Allowance{Budget: spool.Budget{CostMicros: test.total}}
		a.Spent.CostMicros = test.spent
		for id, micros := range map[spool.AgentID]int64{"a": test.own, "b": test.sibling} {
			if micros > 0 {
				a.Reservations = append(a.Reservations, wire.Reservation{AgentID: id, CostMicros: micros})
			}
		}
		call := budget.Call{
			Reservation: wire.Reservation{AgentID: "a", Input: 10, Prompt: &spool.Cost{Micros: 100, Currency: "USD"}}, Want: 300,
			PerToken: 3,
		}
		g := budget.RoomFor(a, call, time.Time{})
		if g.Output != test.want.Output || g.Capped != test.want.Capped || g.Wait != test.want.Wait ||
			g.Short != test.want.Short {
			t.Errorf("%s: %+v", name, g)
		}
		if cost := 100 + 3*test.want.Output; g.Reservation.CostMicros != cost || g.Reservation.Tokens != 10+test.want.Output {
			t.Errorf("%s: it holds %d for %d tokens, want %d", name, g.Reservation.CostMicros, g.Reservation.Tokens, cost)
		}
	}
}
