package enginetest

import (
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// testBudgetChildrenCost has three concurrent runs that share a cost budget with enough for all.
func testBudgetChildrenCost(s budgetTest) { s.share(100_000, 3) }

// testBudgetChildrenShare has a cost budget with enough for all, but not for more than two at once.
func testBudgetChildrenShare(s budgetTest) { s.share(1000, 2) }

// share has three nested runs that ask a model at once. Each has to reserve the possible cost of its
// answer, and no other run can use the reserved cost meanwhile. At the end, the cost of the run is
// exactly the sum of its five answers.
func (s budgetTest) share(budget int64, atOnce int) {
	s.Helper()
	const cost = 5 * (2*promptTokens + 3*30)
	c, most := s.family(spool.Budget{CostMicros: budget}, func(int) bool { return true })
	s.start(s.working(c), "r1", "go")
	s.ended(wire.Completed)
	held, last := 0, 0
	for n, commit := range s.history.Commits {
		at := slices.IndexFunc(commit.Runs, func(r store.RunRow) bool { return r.ID == "r1" })
		if at < 0 || commit.Thread != chat {
			continue // it does not write the run, or was rolled back
		}
		holds := commit.Runs[at].Allowance.Reservations
		if len(holds) > last+1 || len(holds) < last-1 {
			s.Errorf("commit %d goes from %d holds to %d", n, last, len(holds))
		}
		last = len(holds)
		held = max(held, last)
		for _, h := range holds {
			if want := 2*h.Input + 3*30; h.CostMicros != want {
				s.Errorf("commit %d holds %d of the cost, want %d: %+v", n, h.CostMicros, want, h)
			}
		}
	}
	if held != atOnce {
		s.Errorf("up to %d answers have had something set aside at once, want %d", held, atOnce)
	}
	r := s.run("r1")
	if r.StopReason != wire.StopCompleted || most.Load() != int64(atOnce) {
		s.Errorf("the run ended by %s, with up to %d at once", r.StopReason, most.Load())
	}
	if r.CostMicros != cost || r.Allowance.Spent.CostMicros != cost || len(r.Allowance.Reservations) > 0 {
		s.Errorf("the run has cost %d, want %d: %+v", r.CostMicros, cost, r.Allowance)
	}
}
