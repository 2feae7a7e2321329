package budget

import (
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

const (
	// leastOutput is the smallest number of answer tokens for which a budget must have room.
	leastOutput = 16
	// usualOutput bounds an answer in a run with a token or cost budget, if neither the agent nor the
	// model's window bounds it.
	usualOutput = 8192
)

// Call is a model call that needs room in a budget.
type Call struct {
	// Reservation is what the call sets aside, except for the amounts that depend on the answer's
	// bound.
	Reservation wire.Reservation
	// Want is the bound of the answer, in tokens.
	Want int64
	// PerToken is the highest cost of a token of the answer.
	PerToken int64
	// Unpriced is true if a budget of money does not bound the call.
	Unpriced bool
	// Receipted is true if a budget of money bounds the call only by the cost that its provider reports.
	Receipted bool
}

// Room is the room that a budget has for a [Call].
type Room struct {
	// Reservation is what the call sets aside.
	Reservation wire.Reservation
	// Output bounds the answer. Zero: no budget bounds it.
	Output int64
	// Capped is the budget that limits the answer, or empty.
	Capped wire.StopReason
	// Short is the budget that has no room at all, or empty.
	Short wire.StopReason
	// Unpriced is the model without a price because of which the budget of money has no room, or empty.
	Unpriced string
	// Wait is true if the call may get room when other calls have ended.
	Wait bool
}

// Want returns the bound of an answer: the requested bound or, if requested is 0, the usual bound for a
// window. The window may be 0.
func Want(requested, window int64) int64 {
	switch {
	case requested > 0:
		return requested
	case window > 0:
		return min(usualOutput, max(leastOutput, window/4))
	default:
		return usualOutput
	}
}

// Price sets the call's costs from the price of its prompt and the price of the whole call. A nil price
// is unknown.
func (c *Call) Price(prompt, whole *spool.Cost) {
	c.Reservation.Prompt = prompt
	if whole != nil && prompt != nil && whole.Micros > prompt.Micros {
		c.PerToken = (whole.Micros - prompt.Micros + c.Want - 1) / c.Want
	}
}

// Reserves reports whether a budget needs a reservation for each call.
func Reserves(a *wire.Allowance) bool { return a.Budget.Tokens > 0 || a.Budget.CostMicros > 0 }

// RoomFor returns the room for a model call. It changes nothing.
func RoomFor(a *wire.Allowance, c Call, now time.Time) Room {
	if reason := UsedUp(a, now); reason != "" {
		return Room{Short: reason}
	}
	if a.Budget.CostMicros > 0 && (c.Unpriced || c.Receipted && a.Unreported == c.Reservation.Model) {
		return Room{Short: wire.StopCostBudget, Unpriced: c.Reservation.Model}
	}
	r := Room{Reservation: c.Reservation}
	if !Reserves(a) {
		return r
	}
	r.Output = c.Want
	tokens, cost := a.Budget.Tokens-a.Spent.Tokens-c.Reservation.Input, a.Budget.CostMicros-a.Spent.CostMicros
	if p := c.Reservation.Prompt; p != nil {
		cost -= p.Micros
		r.Reservation.CostMicros = p.Micros
	}
	own, others := false, false
	for _, reserved := range a.Reservations {
		tokens -= reserved.Tokens
		cost -= reserved.CostMicros
		own = own || reserved.AgentID == c.Reservation.AgentID
		others = others || reserved.AgentID != c.Reservation.AgentID
	}
	if a.Budget.Tokens > 0 && tokens < r.Output {
		r.Output, r.Capped = tokens, wire.StopTokenBudget
	}
	if room := roomFor(cost, c.PerToken); a.Budget.CostMicros > 0 && room < r.Output {
		r.Output, r.Capped = room, wire.StopCostBudget
	}
	switch {
	// an agent with a reservation of its own waits for nobody, because others may wait for it
	case r.Capped != "" && others && !own:
		r.Wait = true
	case r.Output < min(leastOutput, c.Want):
		r.Short = r.Capped
	}
	r.Reservation.Tokens = c.Reservation.Input + r.Output
	r.Reservation.CostMicros += r.Output * c.PerToken
	return r
}

// roomFor returns how many tokens an amount pays for.
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
