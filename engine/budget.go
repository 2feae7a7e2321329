package engine

import (
	"sync"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/budget"
	"github.com/spoolhq/spool/engine/internal/thread"
)

// checkBudget fills in what becomes of a run without a budget that is left, and says what is
// wrong with a budget.
func (c Config) checkBudget(where string, b spool.Budget, on *spool.BudgetAction) error {
	for _, f := range []struct {
		name  string
		value int64
	}{
		{"Tokens", b.Tokens},
		{"CostMicros", b.CostMicros},
		{"ToolCalls", b.ToolCalls},
		{"WallTime", int64(b.WallTime)},
	} {
		if f.value < 0 {
			return spool.Errorf(spool.Invalid, "%sBudget.%s is negative", where, f.name)
		}
	}
	switch *on {
	case "", spool.BudgetEnd, spool.BudgetPark:
	default:
		return spool.Errorf(spool.Invalid, "%sOnBudget has no action of the name %q", where, *on)
	}
	if b.CostMicros > 0 && c.Pricer == nil {
		return spool.Errorf(spool.Invalid, "%sBudget.CostMicros needs a Config.Pricer", where)
	}
	return nil
}

// checkStartBudget says what is wrong with the budget of a start.
func (e *Engine) checkStartBudget(b spool.Budget) error {
	for _, f := range []struct {
		name  string
		value int64
	}{
		{"tokenBudget", b.Tokens},
		{"costBudgetMicros", b.CostMicros},
		{"toolCallBudget", b.ToolCalls},
		{"wallTimeMs", int64(b.WallTime)},
	} {
		if f.value < 0 {
			return spool.Errorf(spool.Invalid, "%s must be zero or a positive number", f.name)
		}
	}
	if b.CostMicros > 0 && e.config.Pricer == nil {
		return spool.Errorf(spool.Invalid, "costBudgetMicros cannot be kept: this server knows no prices")
	}
	return nil
}

// allowCalls counts the calls in hand that are about to run, or to be asked for, against the
// budget of tool calls. It returns those that are beyond it.
func allowCalls(tx *thread.Tx, plan []*plannedCall) (refused []*plannedCall) {
	for _, p := range plan {
		if p.result == nil && !budget.AllowCall(tx.Root().Run.Allowance) {
			refused = append(refused, p)
		}
	}
	return refused
}

// signal wakes all who wait for something to change.
type signal struct {
	mu sync.Mutex
	ch chan struct{}
}

// next returns a channel that is closed by the next send.
func (s *signal) next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ch == nil {
		s.ch = make(chan struct{})
	}
	return s.ch
}

func (s *signal) send() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ch != nil {
		close(s.ch)
		s.ch = nil
	}
}
