package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/strictjson"
)

// budgetTool is what the parks that ask for a larger budget have for the name of a tool.
const budgetTool = "budget"

// budgetPark is what a person is shown of a budget that is used up, and what an approving
// answer has of it as its payload: new totals.
type budgetPark struct {
	Exhausted spool.StopReason `json:"exhausted"`
	Spent     budgetTotals     `json:"spent"`
	Budget    budgetTotals     `json:"budget"`
	Currency  string           `json:"currency,omitempty"`
}

type budgetTotals struct {
	Tokens     *int64 `json:"tokenBudget,omitempty"`
	CostMicros *int64 `json:"costBudgetMicros,omitempty"`
	ToolCalls  *int64 `json:"toolCallBudget,omitempty"`
	WallTimeMS *int64 `json:"wallTimeMs,omitempty"`
}

// parksBudget reports whether the loop's run waits for a larger budget than the one that is used
// up, rather than ends. It ends where no run may have a larger one.
func (l *loop) parksBudget(reason spool.StopReason) bool {
	if reason == spool.StopStorageLimit || l.s.overTime.Load() { // which nobody can raise
		return false
	}
	agent := l.s.main.agent
	return agent != nil && agent.OnBudget == spool.BudgetPark && !l.s.atMost(reason)
}

// useUp is the transition of a run whose budget has no room for another step: it ends, or it
// parks and asks for more.
func (l *loop) useUp(ctx context.Context, reason spool.StopReason) error {
	if !l.parksBudget(reason) {
		if err := l.takeUp(ctx); err != nil {
			return err
		}
	}
	err := l.commit(ctx, func(h *held) error {
		switch {
		case !h.tree().run.StopAt.IsZero():
			return l.conclusion(h, spool.Ending{State: spool.Cancelled, Reason: spool.StopCancelled})
		case l.parksBudget(reason):
			return l.parkBudget(h, reason)
		}
		if err := l.exhausted(h, reason); err != nil {
			return err
		}
		return l.conclusion(h, spool.Ending{State: spool.Completed, Reason: reason})
	})
	switch {
	case err != nil:
		return err
	case l.run.State == spool.WaitingForInput:
		l.parked()
		return nil
	}
	return l.concluded(ctx)
}

// exhausted adds the entry that tells of a budget that is used up.
func (l *loop) exhausted(h *held, reason spool.StopReason) error {
	root := h.tree().run
	var agent *spool.AgentID
	if id := h.run.AgentID(); id != "" {
		agent = &id
	}
	var entry *spool.Entry
	switch a := root.Allowance; reason {
	case spool.StopTimeLimit:
		entry = l.timeLimitReached(h)
	case spool.StopStorageLimit:
		entry = l.storageLimitReached(root.ID)
	case spool.StopCostBudget:
		entry = spool.NewEntry(spool.EntryCostBudgetExhausted, root.ID, spool.CostBudgetExhausted{
			AgentID: agent, CostMicros: a.Spent.CostMicros, CostBudgetMicros: a.Budget.CostMicros, Currency: cmp.Or(root.Currency, a.Budget.Currency),
		})
	case spool.StopTokenBudget:
		entry = spool.NewEntry(spool.EntryTokenBudgetExhausted, root.ID, spool.TokenBudgetExhausted{
			AgentID: agent, TokensUsed: a.Spent.Tokens, TokenBudget: a.Budget.Tokens,
		})
	case spool.StopToolCallBudget:
		entry = spool.NewEntry(spool.EntryToolCallBudgetExhausted, root.ID, spool.ToolCallBudgetExhausted{
			AgentID: agent, ToolCalls: a.Spent.ToolCalls, ToolCallBudget: a.Budget.ToolCalls,
		})
	default:
		entry = spool.NewEntry(spool.EntryTimeBudgetExhausted, root.ID, spool.TimeBudgetExhausted{
			AgentID: agent, WallTimeMS: wallTime(a, h.now).Milliseconds(), WallTimeBudgetMS: a.Budget.WallTime.Milliseconds(),
		})
	}
	return h.entries(entry)
}

// parkBudget parks the run for a larger budget. All runs of the tree wait for one answer,
// which no call gets a result of.
func (l *loop) parkBudget(h *held, reason spool.StopReason) error {
	parks, err := h.parks()
	if err != nil {
		return err
	}
	asked := func(p spool.Park) bool { return p.Reason == spool.ParkBudget && p.State == spool.ParkOpen }
	if !slices.ContainsFunc(parks, asked) {
		if err := l.askBudget(h, reason); err != nil {
			return err
		}
	}
	if h.root != nil {
		h.run.State = spool.WaitingForInput
		return h.put()
	}
	return l.s.park(h)
}

// askBudget adds the park for a larger budget.
func (l *loop) askBudget(h *held, reason spool.StopReason) error {
	root := h.tree()
	root.run.Allowance.Parks++
	park := spool.Park{
		RunID: root.run.ID, ToolCallID: spool.ToolCallID(h.random.id("budget")), ToolName: budgetTool, Step: root.run.Steps,
		Args: encode(shownBudget(root.run, reason, h.now)), Reason: spool.ParkBudget, State: spool.ParkOpen,
		CreatedAt: h.now, Expiry: spool.Expiry{}.Or(l.s.e.config.ParkTTL), DistinctApprover: l.s.main.agent.DistinctApprover,
	}
	park.Digest = park.DigestOf(nil)
	return h.PutPark(park)
}

// askIfAlone adds the park for more time where the run would wait for nobody: the nested runs
// that wait have their answers, and had no time to take them up.
func (l *loop) askIfAlone(h *held) error {
	if !l.late || h.root != nil || !l.parksBudget(spool.StopTimeBudget) {
		return nil
	}
	parks, err := h.parks()
	if err != nil || slices.ContainsFunc(parks, func(p spool.Park) bool { return p.State == spool.ParkOpen }) {
		return err
	}
	return l.askBudget(h, spool.StopTimeBudget)
}

func shownBudget(root spool.Run, reason spool.StopReason, now time.Time) budgetPark {
	a := root.Allowance
	p := budgetPark{Exhausted: reason, Currency: cmp.Or(root.Currency, a.Budget.Currency)}
	if n := a.Budget.Tokens; n > 0 {
		p.Spent.Tokens, p.Budget.Tokens = &a.Spent.Tokens, &n
	}
	if n := a.Budget.CostMicros; n > 0 {
		p.Spent.CostMicros, p.Budget.CostMicros = &a.Spent.CostMicros, &n
	}
	if n := a.Budget.ToolCalls; n > 0 {
		p.Spent.ToolCalls, p.Budget.ToolCalls = &a.Spent.ToolCalls, &n
	}
	if a.Budget.WallTime > 0 {
		p.Spent.WallTimeMS, p.Budget.WallTimeMS = new(wallTime(a, now).Milliseconds()), new(a.Budget.WallTime.Milliseconds())
	}
	return p
}

// landBudget takes up the answer to a park for a larger budget. One that was denied, or that
// nobody has given, ends the run.
func (l *loop) landBudget(ctx context.Context) (done bool, err error) {
	if !l.s.budgeted || l.parent != nil {
		return false, nil
	}
	var park *spool.Park
	err = l.s.e.store.View(ctx, l.s.key, func(v spool.View) error {
		parks, err := v.Parks(l.run.ID)
		for _, p := range parks {
			if p.Reason == spool.ParkBudget && !p.Landed && (p.State == spool.ParkAnswered || p.State == spool.ParkExpired) {
				park = &p
			}
		}
		return err
	})
	switch {
	case err != nil:
		return false, storeError{err}
	case park == nil:
		return false, nil
	}
	park.Landed = true
	if park.State == spool.ParkAnswered && park.Answer.Approved {
		return false, l.update(ctx, func(h *held) error { return h.PutPark(*park) })
	}
	var shown budgetPark
	_ = json.Unmarshal(park.Args, &shown) // the engine's own
	err = l.commit(ctx, func(h *held) error {
		if err := h.PutPark(*park); err != nil {
			return err
		}
		if !h.run.StopAt.IsZero() {
			return l.conclusion(h, spool.Ending{State: spool.Cancelled, Reason: spool.StopCancelled})
		}
		if err := l.exhausted(h, shown.Exhausted); err != nil {
			return err
		}
		return l.conclusion(h, spool.Ending{State: spool.Completed, Reason: shown.Exhausted})
	})
	if err != nil {
		return true, err
	}
	return true, l.concluded(ctx)
}

// raise sets the totals that an approving answer gives. Each has to be larger than what is
// spent, and the budget that is used up has to be among them.
func (h *held) raise(park spool.Park, payload json.RawMessage, most spool.Budget) error {
	var shown budgetPark
	if err := json.Unmarshal(park.Args, &shown); err != nil {
		return spool.Wrap(spool.Internal, "the park cannot be read", err)
	}
	var to budgetTotals
	d := json.NewDecoder(strings.NewReader(cmp.Or(string(payload), "{}")))
	d.DisallowUnknownFields()
	if err := d.Decode(&to); err != nil {
		return spool.Errorf(spool.Invalid, "payload must have new totals: tokenBudget, costBudgetMicros, toolCallBudget or wallTimeMs, all of them integers")
	}
	if err := strictjson.Check(payload, to); err != nil {
		return spool.Errorf(spool.Invalid, "payload: %s", spool.MessageOf(err))
	}
	a := h.run.Allowance
	for _, f := range []struct {
		name   string
		to     *int64
		spent  int64
		bound  *int64
		most   int64
		reason spool.StopReason
	}{
		{"tokenBudget", to.Tokens, a.Spent.Tokens, &a.Budget.Tokens, most.Tokens, spool.StopTokenBudget},
		{"costBudgetMicros", to.CostMicros, a.Spent.CostMicros, &a.Budget.CostMicros, most.CostMicros, spool.StopCostBudget},
		{"toolCallBudget", to.ToolCalls, a.Spent.ToolCalls, &a.Budget.ToolCalls, most.ToolCalls, spool.StopToolCallBudget},
	} {
		if err := raiseTo(f.name, f.to, f.spent, f.bound, f.most, f.reason == shown.Exhausted); err != nil {
			return err
		}
	}
	millis := a.Budget.WallTime.Milliseconds()
	if err := raiseTo("wallTimeMs", to.WallTimeMS, a.Spent.WallTime.Milliseconds(), &millis, most.WallTime.Milliseconds(), shown.Exhausted == spool.StopTimeBudget); err != nil {
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

// raiseTo sets one total. Most is what no run may have more than, 0 for no such bound.
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

// outOfTime ends the work on a run that has had its time: what the model had said, and what
// the tools had answered, is kept.
func (l *loop) outOfTime(ctx context.Context, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	l.events.EndBlock(ctx)
	if l.plan == nil && l.run.Draft != nil { // of a worker before this one
		if _, err := l.planDraft(ctx); err != nil {
			return err
		}
	}
	if l.plan != nil {
		if err := l.outOfTimeNested(ctx, cause); err != nil {
			return err
		}
		l.late = true
		_, done, err := l.saveCalls(ctx) // those that have not answered are cancelled
		l.late = false
		if done || err != nil {
			return err
		}
		return l.useUp(ctx, l.s.timeReason())
	}
	if cut, ok := errors.AsType[*cutOffError](cause); ok {
		if err := l.saveCut(ctx, cut.turn); err != nil {
			return err
		}
	}
	return l.useUp(ctx, l.s.timeReason())
}

// saveCut saves what came of an answer for which there was no more time. The run is not over
// by it.
func (l *loop) saveCut(ctx context.Context, t turn) error {
	err := l.commit(ctx, func(h *held) error {
		if err := t.charge(h, spool.OutcomeAborted); err != nil {
			return err
		}
		saved, err := h.saveCut(t)
		if err != nil {
			return err
		}
		if saved {
			h.cut()
		}
		return h.put()
	})
	if err == nil && len(spoken(t.message.Content)) > 0 {
		l.said = cmp.Or(t.message.Text(), l.said)
	}
	return err
}

// cut notes that the last answer is not the run's last. A nested run has no budget of its
// own, and keeps only that.
func (h *held) cut() {
	switch {
	case h.run.Allowance != nil:
	case h.root == nil: // the time limit has cut it off, which the next worker sees without being told
		return
	default:
		h.run.Allowance = &spool.Allowance{}
	}
	h.run.Allowance.Cut = true
}
