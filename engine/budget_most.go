package engine

import "github.com/spoolhq/spool"

// atMost reports whether the run has as much as any run may have of the budget that a stop reason
// tells of.
func (s *segment) atMost(reason spool.StopReason) bool {
	a := s.main.self.Allowance // whose budget no answer raises while a worker has the run
	most := boundOf(s.e.config.MaxBudget, reason)
	return a != nil && most > 0 && boundOf(a.Budget, reason) >= most
}

// boundOf returns the bound of a budget that a stop reason tells of. Zero: there is none.
func boundOf(b spool.Budget, reason spool.StopReason) int64 {
	switch reason {
	case spool.StopTokenBudget:
		return b.Tokens
	case spool.StopCostBudget:
		return b.CostMicros
	case spool.StopToolCallBudget:
		return b.ToolCalls
	case spool.StopTimeBudget:
		return int64(b.WallTime)
	default:
		return 0
	}
}
