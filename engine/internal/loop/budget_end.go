package loop

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/spoolhq/spool/engine/internal/active"
	"github.com/spoolhq/spool/engine/internal/budget"
	"github.com/spoolhq/spool/engine/internal/chat"
	"github.com/spoolhq/spool/engine/internal/history"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// exhausted parks the run for a larger budget, or ends it, after its budget left no room for another
// step.
//
// A run that has come to a model without a price ends: no larger budget bounds that.
func (l *Loop) exhausted(ctx context.Context, short exhaustedError) error {
	parks := short.unpriced == "" && l.run.ParksForBudget(short.reason)
	if !parks {
		if err := l.run.Revive(ctx); err != nil {
			return err
		}
	}
	return l.run.Commit(ctx, func(tx *thread.Tx) error {
		if parks && !tx.Stopping() {
			return thread.ParkForBudget(tx, short.reason, l.run.DistinctBudgetApprover())
		}
		return l.finishExhausted(tx, short)
	})
}

// finishExhausted ends a run whose budget is used up.
func (l *Loop) finishExhausted(tx *thread.Tx, short exhaustedError) error {
	if !tx.Stopping() {
		if err := l.run.NoteExhausted(tx, short.reason, short.unpriced); err != nil {
			return err
		}
	}
	return l.run.Finish(tx, store.Ending{State: wire.Completed, Reason: short.reason})
}

// afterBudgetAnswer continues after the answer to a park for a larger budget. A denied or expired park
// ends the run.
func (l *Loop) afterBudgetAnswer(ctx context.Context, _ *history.Messages) (done bool, err error) {
	if !l.run.Segment().Budgeted() || l.run.Nested() {
		return false, nil
	}
	var park *store.Park
	err = l.run.View(ctx, func(v store.View) error {
		parks, err := v.Parks(l.run.Row().ID)
		for _, p := range parks {
			if p.Reason == wire.ParkBudget && !p.Landed && (p.State == wire.ParkAnswered || p.State == wire.ParkExpired) {
				park = &p
			}
		}
		return err
	})
	if err != nil || park == nil {
		return false, err
	}
	park.Landed = true
	if park.State == wire.ParkAnswered && park.Answer.Approved {
		return false, l.run.Update(ctx, func(tx *thread.Tx) error {
			return tx.Write(store.Changes{Parks: []store.Park{*park}})
		})
	}
	var asked budget.Question
	_ = json.Unmarshal(park.Args, &asked) // the engine wrote these arguments
	return true, l.run.Commit(ctx, func(tx *thread.Tx) error {
		if err := tx.Write(store.Changes{Parks: []store.Park{*park}}); err != nil {
			return err
		}
		return l.finishExhausted(tx, exhaustedError{reason: asked.Exhausted})
	})
}

// OutOfTime ends the work on a run whose time is up. It keeps the model's partial answer and the
// results of tools.
func (l *Loop) OutOfTime(ctx context.Context, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), active.SaveTimeout)
	defer cancel()
	l.run.Events().EndBlock(ctx)
	if !l.calls.Planned() && l.run.Row().Draft != nil { // an earlier worker's draft
		if _, err := l.calls.PlanDraft(ctx); err != nil {
			return err
		}
	}
	if l.calls.Planned() {
		if err := l.outOfTimeNested(ctx, cause); err != nil {
			return err
		}
		if _, done, err := l.calls.Save(ctx, true); done || err != nil {
			return err
		}
		return l.exhausted(ctx, exhaustedError{reason: l.run.Segment().TimeReason()})
	}
	if cut, ok := errors.AsType[*chat.CutOffError](cause); ok {
		if err := l.saveCut(ctx, cut.Turn); err != nil {
			return err
		}
	}
	return l.exhausted(ctx, exhaustedError{reason: l.run.Segment().TimeReason()})
}

// saveCut saves a partial answer that the time limit cut off. It does not end the run.
func (l *Loop) saveCut(ctx context.Context, t chat.Turn) error {
	err := l.run.Commit(ctx, func(tx *thread.Tx) error {
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
		l.run.SetAnswer(cmp.Or(t.Message.Text(), l.run.Answer()))
	}
	return err
}

// finishIfStorageFull ends a run before its next step if its tenant has reached its storage limit.
func (l *Loop) finishIfStorageFull(ctx context.Context, _ *history.Messages) (bool, error) {
	full, err := l.run.Host().StorageFull(ctx, l.run.Key().Tenant)
	switch {
	case err != nil:
		return false, active.FromStore(err)
	case full:
		return true, l.exhausted(ctx, exhaustedError{reason: wire.StopStorageLimit})
	}
	return false, nil
}
