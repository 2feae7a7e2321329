package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/budget"
	"github.com/spoolhq/spool/engine/internal/chat"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// parksForBudget reports whether the run waits for a larger budget instead of ending. A run that
// already has the largest allowed budget ends. So does a run that has come to a model without a price: no larger budget
// bounds that.
func (l *runState) parksForBudget(reason wire.StopReason) bool {
	if reason == wire.StopStorageLimit || l.unpriced != "" || l.s.overTime.Load() { // nobody can raise these limits
		return false
	}
	agent := l.s.main.agent
	return agent != nil && agent.OnBudget == spool.BudgetPark && !l.s.atMaxBudget(reason)
}

// distinctBudgetApprover reports whether the subject that started the run may not raise its budget.
func (s *segment) distinctBudgetApprover() bool { return s.main.agent.DistinctApprover }

// atMaxBudget reports whether the run already has the largest budget that any run may have.
func (s *segment) atMaxBudget(reason wire.StopReason) bool {
	a := s.main.self.Allowance // no answer raises it while a worker executes the run
	most := budget.Bound(s.runner.Budget.Max, reason)
	return a != nil && most > 0 && budget.Bound(a.Budget, reason) >= most
}

// noteExhausted adds the entry about an exhausted budget or limit.
func (l *runState) noteExhausted(tx *thread.Tx, reason wire.StopReason) error {
	return thread.NoteExhausted(tx, reason, thread.Limits{
		WallTimeMS: l.s.runner.wallTimeLimit(l.s.main.agent).Milliseconds(), TenantBytes: l.s.runner.Limits.TenantBytes,
		Unpriced: l.unpriced,
	})
}

// exhausted parks the run for a larger budget, or ends it, after its budget left no room for another
// step.
func (l *loop) exhausted(ctx context.Context, reason wire.StopReason) error {
	if !l.parksForBudget(reason) {
		if err := l.resume(ctx); err != nil {
			return err
		}
	}
	err := l.commit(ctx, func(tx *thread.Tx) error {
		switch {
		case tx.Stopping():
			return l.finishIn(tx, store.Ending{State: wire.Cancelled, Reason: wire.StopCancelled})
		case l.parksForBudget(reason):
			return thread.ParkForBudget(tx, reason, l.s.distinctBudgetApprover())
		}
		if err := l.noteExhausted(tx, reason); err != nil {
			return err
		}
		return l.finishIn(tx, store.Ending{State: wire.Completed, Reason: reason})
	})
	switch {
	case err != nil:
		return err
	case l.run.State == wire.WaitingForInput:
		l.parked()
		return nil
	}
	return l.afterFinish(ctx)
}

// landBudget continues after the answer to a park for a larger budget. A denied or expired park
// ends the run.
func (l *loop) landBudget(ctx context.Context) (done bool, err error) {
	if !l.s.budgeted || l.parent != nil {
		return false, nil
	}
	var park *store.Park
	err = l.s.runner.Store.View(ctx, l.s.Key, func(v store.View) error {
		parks, err := v.Parks(l.run.ID)
		for _, p := range parks {
			if p.Reason == wire.ParkBudget && !p.Landed && (p.State == wire.ParkAnswered || p.State == wire.ParkExpired) {
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
	if park.State == wire.ParkAnswered && park.Answer.Approved {
		return false, l.update(ctx, func(tx *thread.Tx) error { return tx.Write(store.Changes{Parks: []store.Park{*park}}) })
	}
	var asked budget.Question
	_ = json.Unmarshal(park.Args, &asked) // the engine wrote these arguments
	err = l.commit(ctx, func(tx *thread.Tx) error {
		if err := tx.Write(store.Changes{Parks: []store.Park{*park}}); err != nil {
			return err
		}
		if tx.Stopping() {
			return l.finishIn(tx, store.Ending{State: wire.Cancelled, Reason: wire.StopCancelled})
		}
		if err := l.noteExhausted(tx, asked.Exhausted); err != nil {
			return err
		}
		return l.finishIn(tx, store.Ending{State: wire.Completed, Reason: asked.Exhausted})
	})
	if err != nil {
		return true, err
	}
	return true, l.afterFinish(ctx)
}

// outOfTime ends the work on a run whose time is up. It keeps the model's partial answer and the
// results of tools.
func (l *loop) outOfTime(ctx context.Context, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	l.events.EndBlock(ctx)
	if l.plan == nil && l.run.Draft != nil { // an earlier worker's draft
		if _, err := l.planDraft(ctx); err != nil {
			return err
		}
	}
	if l.plan != nil {
		if err := l.outOfTimeNested(ctx, cause); err != nil {
			return err
		}
		l.late = true
		_, done, err := l.saveCalls(ctx) // it cancels the calls without a result
		l.late = false
		if done || err != nil {
			return err
		}
		return l.exhausted(ctx, l.s.timeReason())
	}
	if cut, ok := errors.AsType[*chat.CutOffError](cause); ok {
		if err := l.saveCut(ctx, cut.Turn); err != nil {
			return err
		}
	}
	return l.exhausted(ctx, l.s.timeReason())
}

// saveCut saves a partial answer that the time limit cut off. It does not end the run.
func (l *loop) saveCut(ctx context.Context, t chat.Turn) error {
	err := l.commit(ctx, func(tx *thread.Tx) error {
		if err := t.Charge(tx, wire.OutcomeAborted); err != nil {
			return err
		}
		saved, err := t.SaveCut(tx)
		if err != nil {
			return err
		}
		if saved {
			thread.NoteCut(tx)
		}
		return tx.Put()
	})
	if err == nil && len(chat.Storable(t.Message.Content)) > 0 {
		l.answer = cmp.Or(t.Message.Text(), l.answer)
	}
	return err
}
