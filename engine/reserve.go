package engine

import (
	"context"
	"errors"

	"github.com/spoolhq/spool"
)

const (
	// leastOutput is how many tokens of an answer have to have room in a budget.
	leastOutput = 16
	// usualOutput bounds an answer where neither the agent nor the window of its model does,
	// in a run whose tokens or cost are bounded.
	usualOutput = 8192
)

// usedUpError says that a budget has no room for the next model call.
type usedUpError struct{ reason spool.StopReason }

func (u *usedUpError) Error() string { return "the budget is used up: " + string(u.reason) }

// grant is what a transaction has found for a model call.
type grant struct {
	hold   spool.Hold
	output int64
	// capped is the budget by which the answer is shorter than it could be. Empty: none.
	capped spool.StopReason
	// short is the budget that has no room at all, wait says that others may give some back.
	short spool.StopReason
	wait  bool
}

// reserve sets aside what a model call may use, for as long as it is under way, so that
// loops that share a budget cannot overspend it together. It bounds the request's answer by
// what is left, and returns the budget that made it shorter, if one did. Where the rest of
// the budget is set aside for others, it waits for what they give back. It returns a
// [usedUpError] where there is no room.
func (l *loop) reserve(ctx context.Context, row spool.UsageRow, m spool.Model, r *spool.ModelRequest, prompt int64) (spool.StopReason, error) {
	if !l.s.budgeted {
		return "", nil
	}
	call := l.callOf(ctx, row, m, *r, prompt)
	for {
		changed := l.s.freed.next()
		var g grant
		err := l.update(ctx, func(h *held) error {
			g = h.grant(call)
			a := h.tree().run.Allowance
			switch {
			case g.short != "" || g.wait:
				return errUnchanged
			case call.bounded(a):
				a.Holds = append(a.Holds, g.hold)
			case h.root == nil || h.run.State == spool.Running:
				return errUnchanged
			}
			if h.root != nil { // it may have waited for the budget
				h.run.State = spool.Running
			}
			return h.put()
		})
		switch {
		case err != nil && !errors.Is(err, errUnchanged):
			return "", err
		case g.short != "":
			return "", &usedUpError{g.short}
		case !g.wait:
			if g.output > 0 {
				r.MaxOutputTokens = int(g.output)
			}
			return g.capped, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// pendingCall is a model call for which room is wanted.
type pendingCall struct {
	hold spool.Hold // but for what depends on the answer's bound
	want int64      // the bound of the answer
	// perToken is what a token of the answer costs at the most.
	perToken int64
}

func (c pendingCall) bounded(a *spool.Allowance) bool {
	return a.Budget.Tokens > 0 || a.Budget.CostMicros > 0
}

// callOf prices a model call before it is made: its prompt, and each token of its answer.
func (l *loop) callOf(ctx context.Context, row spool.UsageRow, m spool.Model, r spool.ModelRequest, prompt int64) pendingCall {
	c := pendingCall{
		hold: spool.Hold{AgentID: row.AgentID, Agent: row.Agent, Kind: row.Kind, Step: row.Step, Model: row.Model, Input: prompt},
		want: int64(r.MaxOutputTokens),
	}
	if c.want <= 0 {
		c.want = usualOutput
		if w, ok := m.(spool.Windowed); ok && w.ContextWindow() > 0 {
			c.want = min(c.want, max(leastOutput, int64(w.ContextWindow())/4))
		}
	}
	row.Guess = spool.Usage{Input: &prompt, Output: new(int64)}
	c.hold.Prompt = l.s.e.price(ctx, m, row, nil)
	row.Guess.Output = &c.want
	whole := l.s.e.price(ctx, m, row, nil)
	if whole != nil && c.hold.Prompt != nil && whole.Micros > c.hold.Prompt.Micros {
		c.perToken = (whole.Micros - c.hold.Prompt.Micros + c.want - 1) / c.want
	}
	return c
}

// grant finds what is left for a model call.
func (h *held) grant(c pendingCall) grant {
	a := h.tree().run.Allowance
	if reason := usedUp(a, h.now); reason != "" {
		return grant{short: reason}
	}
	g := grant{hold: c.hold}
	if !c.bounded(a) {
		return g
	}
	g.output = c.want
	tokens, cost := a.Budget.Tokens-a.Spent.Tokens-c.hold.Input, a.Budget.CostMicros-a.Spent.CostMicros
	if p := c.hold.Prompt; p != nil {
		cost -= p.Micros
		g.hold.CostMicros = p.Micros
	}
	own, others := false, false
	for _, hold := range a.Holds {
		tokens -= hold.Tokens
		cost -= hold.CostMicros
		own = own || hold.AgentID == c.hold.AgentID
		others = others || hold.AgentID != c.hold.AgentID
	}
	if a.Budget.Tokens > 0 && tokens < g.output {
		g.output, g.capped = tokens, spool.StopTokenBudget
	}
	if room := roomFor(cost, c.perToken); a.Budget.CostMicros > 0 && room < g.output {
		g.output, g.capped = room, spool.StopCostBudget
	}
	switch {
	case g.capped != "" && others && !own: // who holds something waits for nobody, as others may wait for that
		g.wait = true
	case g.output < min(leastOutput, c.want):
		g.short = g.capped
	}
	g.hold.Tokens = c.hold.Input + g.output
	g.hold.CostMicros += g.output * c.perToken
	return g
}

// roomFor returns how many tokens a sum pays for.
func roomFor(micros, perToken int64) int64 {
	switch {
	case micros < 0:
		return -1
	case perToken == 0:
		return usualOutput << 32
	default:
		return micros / perToken
	}
}
