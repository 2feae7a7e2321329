// Package budget calculates with budgets: what a run has spent and reserved, whether its budget is
// exhausted, and what an answer may raise. It is pure: it changes only the [wire.Allowance] that its
// caller passes.
package budget

import (
	"math"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// Of returns the initial allowance of a budget, or nil if the budget bounds nothing.
func Of(b spool.Budget) *wire.Allowance {
	if !b.Bounds() {
		return nil
	}
	return &wire.Allowance{Budget: b}
}

// UsedUp returns the stop reason of an exhausted budget, or "" if none is exhausted. If several are
// exhausted, it returns the first in the order cost, tokens, tool calls, time.
func UsedUp(a *wire.Allowance, now time.Time) wire.StopReason {
	if a == nil {
		return ""
	}
	switch b := a.Budget; {
	case b.CostMicros > 0 && a.Spent.CostMicros >= b.CostMicros:
		return wire.StopCostBudget
	case b.Tokens > 0 && a.Spent.Tokens >= b.Tokens:
		return wire.StopTokenBudget
	case a.Refused > 0:
		return wire.StopToolCallBudget
	case b.WallTime > 0 && WallTime(a, now) >= b.WallTime:
		return wire.StopTimeBudget
	default:
		return ""
	}
}

// WallTime returns how long workers have executed a run.
func WallTime(a *wire.Allowance, now time.Time) time.Duration {
	if a.Since.IsZero() {
		return a.Spent.WallTime
	}
	return a.Spent.WallTime + max(0, now.Sub(a.Since))
}

// Settle adds a row of the usage ledger to what is spent, and frees the reservation of the row's call.
func Settle(a *wire.Allowance, row wire.UsageRow) {
	if a == nil {
		return
	}
	a.Spent.Tokens = Plus(a.Spent.Tokens, row.Best().Count().TotalTokens)
	switch {
	case row.Cost != nil:
		a.Spent.CostMicros = Plus(a.Spent.CostMicros, row.Cost.Micros)
		if a.Unreported == row.Model {
			a.Unreported = ""
		}
	case row.Outcome == wire.OutcomeFinished && a.Budget.CostMicros > 0:
		a.Unreported = row.Model
	}
	left := make([]wire.Reservation, 0, len(a.Reservations))
	for _, reserved := range a.Reservations {
		if reserved.AgentID != row.AgentID || reserved.Kind != row.Kind {
			left = append(left, reserved)
		}
	}
	a.Reservations = left
}

// AllowCall counts a tool call. It returns false if the call exceeds the budget.
func AllowCall(a *wire.Allowance) bool {
	switch {
	case a == nil:
		return true
	case a.Budget.ToolCalls > 0 && a.Spent.ToolCalls >= a.Budget.ToolCalls:
		a.Refused++
		return false
	default:
		a.Spent.ToolCalls++
		return true
	}
}

// Bound returns the bound of the budget that the stop reason is about. Zero: none.
func Bound(b spool.Budget, reason wire.StopReason) int64 {
	switch reason {
	case wire.StopTokenBudget:
		return b.Tokens
	case wire.StopCostBudget:
		return b.CostMicros
	case wire.StopToolCallBudget:
		return b.ToolCalls
	case wire.StopTimeBudget:
		return int64(b.WallTime)
	default:
		return 0
	}
}

// Plus adds two non-negative numbers. It returns the largest number instead of an overflow.
func Plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
