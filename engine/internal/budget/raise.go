package budget

import (
	"cmp"
	"encoding/json"
	"math"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/strictjson"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Question is what a person sees about an exhausted budget.
type Question struct {
	Exhausted wire.StopReason `json:"exhausted"`
	Spent     Totals          `json:"spent"`
	Budget    Totals          `json:"budget"`
	Currency  string          `json:"currency,omitempty"`
}

// Totals are the new totals in the payload of an approving answer.
type Totals struct {
	Tokens     *int64 `json:"tokenBudget,omitempty"`
	CostMicros *int64 `json:"costBudgetMicros,omitempty"`
	ToolCalls  *int64 `json:"toolCallBudget,omitempty"`
	WallTimeMS *int64 `json:"wallTimeMs,omitempty"`
}

// Ask returns the question about a dispatched run.
func Ask(run store.RunRow, reason wire.StopReason, now time.Time) Question {
	a := run.Allowance
	q := Question{Exhausted: reason, Currency: cmp.Or(run.Currency, a.Budget.Currency)}
	if n := a.Budget.Tokens; n > 0 {
		q.Spent.Tokens, q.Budget.Tokens = &a.Spent.Tokens, &n
	}
	if n := a.Budget.CostMicros; n > 0 {
		q.Spent.CostMicros, q.Budget.CostMicros = &a.Spent.CostMicros, &n
	}
	if n := a.Budget.ToolCalls; n > 0 {
		q.Spent.ToolCalls, q.Budget.ToolCalls = &a.Spent.ToolCalls, &n
	}
	if a.Budget.WallTime > 0 {
		q.Spent.WallTimeMS, q.Budget.WallTimeMS = new(WallTime(a, now).Milliseconds()), new(a.Budget.WallTime.Milliseconds())
	}
	return q
}

// Raise sets the totals of an approving answer, up to the largest budget of any run. Each total must
// exceed what is spent, and the answer must raise the exhausted budget. Otherwise Raise returns an
// [spool.Invalid] error that names the field.
func Raise(a *wire.Allowance, question, payload json.RawMessage, most spool.Budget) error {
	var asked Question
	if err := json.Unmarshal(question, &asked); err != nil {
		return spool.Wrap(spool.Internal, "the park cannot be read", err)
	}
	var to Totals
	d := json.NewDecoder(strings.NewReader(cmp.Or(string(payload), "{}")))
	d.DisallowUnknownFields()
	if err := d.Decode(&to); err != nil {
		return spool.Errorf(spool.Invalid,
			"payload must have new totals: tokenBudget, costBudgetMicros, toolCallBudget or wallTimeMs, all of them integers")
	}
	if err := strictjson.Check(payload, to); err != nil {
		return spool.Errorf(spool.Invalid, "payload: %s", spool.MessageOf(err))
	}
	for _, f := range []struct {
		name   string
		to     *int64
		spent  int64
		bound  *int64
		most   int64
		reason wire.StopReason
	}{
		{"tokenBudget", to.Tokens, a.Spent.Tokens, &a.Budget.Tokens, most.Tokens, wire.StopTokenBudget},
		{"costBudgetMicros", to.CostMicros, a.Spent.CostMicros, &a.Budget.CostMicros, most.CostMicros, wire.StopCostBudget},
		{"toolCallBudget", to.ToolCalls, a.Spent.ToolCalls, &a.Budget.ToolCalls, most.ToolCalls, wire.StopToolCallBudget},
	} {
		if err := raiseTo(f.name, f.to, f.spent, f.bound, f.most, f.reason == asked.Exhausted); err != nil {
			return err
		}
	}
	millis := a.Budget.WallTime.Milliseconds()
	if err := raiseTo(
		"wallTimeMs", to.WallTimeMS, a.Spent.WallTime.Milliseconds(), &millis, most.WallTime.Milliseconds(),
		asked.Exhausted == wire.StopTimeBudget,
	); err != nil {
		return err
	}
	if to.WallTimeMS != nil {
		if millis > math.MaxInt64/int64(time.Millisecond) {
			return spool.Errorf(spool.Invalid, "payload.wallTimeMs is too large")
		}
		a.Budget.WallTime = time.Duration(millis) * time.Millisecond
	}
	a.Refused = 0
	return nil
}

// raiseTo sets one total. Most is the largest total of any run, or 0 for no bound.
func raiseTo(name string, to *int64, spent int64, bound *int64, most int64, required bool) error {
	switch {
	case to == nil && required:
		return spool.Errorf(spool.Invalid, "payload.%s is required: it is what is used up", name)
	case to == nil:
		return nil
	case most > 0 && *to > most:
		return spool.Errorf(spool.Invalid, "payload.%s may be %d at the most", name, most)
	case *to <= spent:
		return spool.Errorf(spool.Invalid, "payload.%s must be larger than the %d that are spent", name, spent)
	case required && *to <= *bound:
		return spool.Errorf(spool.Invalid, "payload.%s must be larger than the %d that it is", name, *bound)
	}
	*bound = *to
	return nil
}
