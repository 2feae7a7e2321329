package engine

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/spoolhq/spool"
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

// allowanceOf returns the budget that a run starts with, nil for none.
func allowanceOf(b spool.Budget) *spool.Allowance {
	if !b.Bounds() {
		return nil
	}
	return &spool.Allowance{Budget: b}
}

// usedUp returns the budget of which nothing is left, the one that counts most, or "".
func usedUp(a *spool.Allowance, now time.Time) spool.StopReason {
	if a == nil {
		return ""
	}
	switch b := a.Budget; {
	case b.CostMicros > 0 && a.Spent.CostMicros >= b.CostMicros:
		return spool.StopCostBudget
	case b.Tokens > 0 && a.Spent.Tokens >= b.Tokens:
		return spool.StopTokenBudget
	case a.Refused > 0:
		return spool.StopToolCallBudget
	case b.WallTime > 0 && wallTime(a, now) >= b.WallTime:
		return spool.StopTimeBudget
	default:
		return ""
	}
}

// wallTime returns how long workers have carried a run.
func wallTime(a *spool.Allowance, now time.Time) time.Duration {
	if a.Since.IsZero() {
		return a.Spent.WallTime
	}
	return a.Spent.WallTime + max(0, now.Sub(a.Since))
}

// startClock counts the time from now on.
func (h *held) startClock() {
	h.run.Carriage.Since = h.now
	if a := h.run.Allowance; a != nil {
		a.Since = h.now
	}
}

// stopClock counts the time up to then.
func (h *held) stopClock(at time.Time) {
	c := &h.run.Carriage
	c.Carried, c.Since = c.Until(at), time.Time{}
	if a := h.run.Allowance; a != nil {
		a.Spent.WallTime = wallTime(a, at)
		a.Since = time.Time{}
	}
}

// settle counts a row of the ledger against the budget, and frees what was set aside for it.
func settle(a *spool.Allowance, row spool.UsageRow) {
	if a == nil {
		return
	}
	a.Spent.Tokens = plus(a.Spent.Tokens, row.Best().Count().TotalTokens)
	if row.Cost != nil {
		a.Spent.CostMicros = plus(a.Spent.CostMicros, row.Cost.Micros)
	}
	left := make([]spool.Hold, 0, len(a.Holds))
	for _, hold := range a.Holds {
		if hold.AgentID != row.AgentID || hold.Kind != row.Kind {
			left = append(left, hold)
		}
	}
	a.Holds = left
}

// cutHolds writes the rows of model calls whose end nobody will tell. Their prompts are
// taken for read, and what was said to them is not known.
func (h *held) cutHolds(outcome spool.Outcome) error {
	a := h.run.Allowance
	if a == nil {
		return nil
	}
	for _, hold := range a.Holds {
		row := spool.UsageRow{
			RunID: h.run.ID, AgentID: hold.AgentID, Agent: hold.Agent, Kind: hold.Kind, Step: hold.Step,
			Model: hold.Model, Outcome: outcome, Guess: spool.Usage{Input: new(hold.Input)}, Cost: hold.Prompt,
		}
		if err := h.charge(row, nil); err != nil {
			return err
		}
	}
	return nil
}

// allowCalls counts the calls in hand that are about to run, or to be asked for, against the
// budget of tool calls. It returns those that are beyond it.
func (h *held) allowCalls(plan []*plannedCall) (refused []*plannedCall) {
	a := h.tree().run.Allowance
	if a == nil {
		return nil
	}
	for _, p := range plan {
		switch {
		case p.result != nil:
		case a.Budget.ToolCalls > 0 && a.Spent.ToolCalls >= a.Budget.ToolCalls:
			a.Refused++
			refused = append(refused, p)
		default:
			a.Spent.ToolCalls++
		}
	}
	return refused
}

// refusedResult is what the model reads of a call that was beyond the budget, should the
// budget be raised.
func refusedResult() json.RawMessage {
	return errorResult("the run's budget of tool calls was used up, and this call did not run")
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
