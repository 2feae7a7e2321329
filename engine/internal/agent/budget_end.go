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
)

// parksBudget reports whether the loop's run waits for a larger budget than the one that is used
// up, rather than ends. It ends where no run may have a larger one.
func (l *runState) parksBudget(reason spool.StopReason) bool {
	if reason == spool.StopStorageLimit || l.s.overTime.Load() { // which nobody can raise
		return false
	}
	agent := l.s.main.agent
	return agent != nil && agent.OnBudget == spool.BudgetPark && !l.s.atMost(reason)
}

// distinct reports whether a larger budget has to come from another subject than the one that
// started the run.
func (s *segment) distinct() bool { return s.main.agent.DistinctApprover }

// atMost reports whether the run has as much as any run may have of the budget that a stop reason
// tells of.
func (s *segment) atMost(reason spool.StopReason) bool {
	a := s.main.self.Allowance // whose budget no answer raises while a worker has the run
	most := budget.Bound(s.runner.Budget.Max, reason)
	return a != nil && most > 0 && budget.Bound(a.Budget, reason) >= most
}

// noteExhausted adds the entry that tells of a budget, or a limit, that is used up.
func (l *runState) noteExhausted(tx *thread.Tx, reason spool.StopReason) error {
	return thread.NoteExhausted(tx, reason, thread.Limits{
		WallTimeMS: l.s.runner.wallTimeLimit(l.s.main.agent).Milliseconds(), TenantBytes: l.s.runner.Limits.TenantBytes,
	})
}

// useUp is the transition of a run whose budget has no room for another step: it ends, or it
// parks and asks for more.
func (l *loop) useUp(ctx context.Context, reason spool.StopReason) error {
	if !l.parksBudget(reason) {
		if err := l.takeUp(ctx); err != nil {
			return err
		}
	}
	err := l.commit(ctx, func(tx *thread.Tx) error {
		switch {
		case tx.Stopping():
			return l.conclusion(tx, spool.Ending{State: spool.Cancelled, Reason: spool.StopCancelled})
		case l.parksBudget(reason):
			return thread.ParkForBudget(tx, reason, l.s.distinct())
		}
		if err := l.noteExhausted(tx, reason); err != nil {
			return err
		}
		return l.conclusion(tx, spool.Ending{State: spool.Completed, Reason: reason})
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

// landBudget takes up the answer to a park for a larger budget. One that was denied, or that
// nobody has given, ends the run.
func (l *loop) landBudget(ctx context.Context) (done bool, err error) {
	if !l.s.budgeted || l.parent != nil {
		return false, nil
	}
	var park *spool.Park
	err = l.s.runner.Store.View(ctx, l.s.Key, func(v spool.View) error {
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
		return false, l.update(ctx, func(tx *thread.Tx) error { return tx.Store.PutPark(*park) })
	}
	var asked budget.Question
	_ = json.Unmarshal(park.Args, &asked) // the engine's own
	err = l.commit(ctx, func(tx *thread.Tx) error {
		if err := tx.Store.PutPark(*park); err != nil {
			return err
		}
		if tx.Stopping() {
			return l.conclusion(tx, spool.Ending{State: spool.Cancelled, Reason: spool.StopCancelled})
		}
		if err := l.noteExhausted(tx, asked.Exhausted); err != nil {
			return err
		}
		return l.conclusion(tx, spool.Ending{State: spool.Completed, Reason: asked.Exhausted})
	})
	if err != nil {
		return true, err
	}
	return true, l.concluded(ctx)
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
	if cut, ok := errors.AsType[*chat.CutOffError](cause); ok {
		if err := l.saveCut(ctx, cut.Turn); err != nil {
			return err
		}
	}
	return l.useUp(ctx, l.s.timeReason())
}

// saveCut saves what came of an answer for which there was no more time. The run is not over
// by it.
func (l *loop) saveCut(ctx context.Context, t chat.Turn) error {
	err := l.commit(ctx, func(tx *thread.Tx) error {
		if err := t.Charge(tx, spool.OutcomeAborted); err != nil {
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
	if err == nil && len(chat.Spoken(t.Message.Content)) > 0 {
		l.answer = cmp.Or(t.Message.Text(), l.answer)
	}
	return err
}
