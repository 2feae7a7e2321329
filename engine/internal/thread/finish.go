package thread

import (
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/toolresult"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Finish ends the dispatched run in the transaction of its last step. If the engine has a settle hook,
// [Settle] writes the end state after the hook has returned.
func Finish(tx *Tx, ending store.Ending) error {
	if tx.Settles {
		var c store.Changes
		if err := chargeOpen(tx, &c); err != nil {
			return err
		}
		tx.dropDraft()
		tx.Run.Ending = &ending
		return tx.save(c)
	}
	return finish(tx, ending, store.Changes{})
}

// settleRetry is the wait before the queue tries a failed settlement again.
const settleRetry = time.Minute

// Settle writes the end state of a run whose ending is decided, after the settle hook has returned. If
// the hook failed, Settle adds a job that calls it again.
func Settle(tx *Tx, ending store.Ending, settled bool) error {
	var c store.Changes
	if settled {
		tx.Run.SettledAt = tx.Now
	} else {
		c.Jobs = append(c.Jobs, tx.settleJob(tx.Run, settleRetry))
	}
	return finish(tx, ending, c)
}

// FinishDecided ends a run whose ending a claim has decided. It belongs to the transaction of the claim:
// see [Claimed.Decided].
func FinishDecided(db store.Tx, rules Rules) (Follow, error) {
	tx, err := Open(db, rules)
	if err != nil {
		return Follow{}, err
	}
	err = finish(tx, *tx.Run.Ending, store.Changes{})
	return tx.Follow, err
}

// finish is the transition to an end state, with further changes. It closes the segment if its stream is
// open, and gives the thread to the first waiting run that can have it. tx.Run stays the ended run.
func finish(tx *Tx, ending store.Ending, c store.Changes) error {
	if err := finishTree(tx, ending, &c); err != nil {
		return err
	}
	if tx.list != nil {
		c.Entries = append(c.Entries, closeLastSegment(tx, ending))
	}
	if err := tx.save(c); err != nil {
		return err
	}
	return startNext(tx)
}

// finishTree brings the runs of the tree to their end states, the dispatched run last. It adds the
// changes of all but the dispatched run itself.
func finishTree(tx *Tx, ending store.Ending, c *store.Changes) error {
	runs, err := activeNested(tx)
	if err != nil {
		return err
	}
	for _, run := range runs {
		nested := tx.nested(run)
		if err := finishNested(nested, endingBelow(ending), "", c); err != nil {
			return err
		}
		c.Runs = append(c.Runs, nested.Run)
	}
	if err := finishRun(tx, ending, c); err != nil {
		return err
	}
	tx.Thread.State, tx.Run.Ending = ending.State, nil
	c.Usage = append(c.Usage, tx.price(tx.reservations(wire.OutcomeAborted, nil))...)
	tx.release()
	return nil
}

func activeNested(tx *Tx) ([]store.RunRow, error) {
	if tx.Run.Children == 0 {
		return nil, nil
	}
	runs, err := record.Nested(tx.Store, tx.Run.ID)
	return slices.DeleteFunc(runs, func(r store.RunRow) bool { return r.State.Terminal() }), err
}

// endingBelow returns the ending of the nested runs when their dispatched run has the given ending.
func endingBelow(ending store.Ending) store.Ending {
	switch ending.State {
	case wire.Completed: // no nested run is active in this case
		return Cancelled
	case wire.Failed:
		ending.Error = "the run that it belongs to failed"
	default:
	}
	return ending
}

func closeLastSegment(tx *Tx, ending store.Ending) *wire.Entry {
	ended := wire.RunEnded{Expired: tx.Run.Expired}
	switch ending.State {
	case wire.Cancelled:
		ended.Status = wire.SegmentStopped
	case wire.Failed:
		ended.Status, ended.Error = wire.SegmentError, ending.Error
		return tx.closeSegment(wire.ItemRunError, wire.StreamFailed{Status: ended.Status, Error: ended.Error}, ended)
	default:
		ended.Status = wire.SegmentFinished
		if ending.Reason != wire.StopCompleted {
			ended.StopReason = ending.Reason
		}
	}
	usage := tx.Run.TokenCount
	if value := tx.Run.OutputValue(); ending.State == wire.Completed && len(value) <= wire.MaxOutputEvent {
		ended.Output = value
	}
	return tx.closeSegment(wire.ItemRunFinished, wire.StreamFinished{
		Status: ended.Status, Usage: &usage, Costs: tx.Run.Costs(), FinishReason: ending.Reason, Output: ended.Output,
		Expired: ended.Expired,
	}, ended)
}

// Unsettled is a run whose ending is decided. The process that settles it has its lease.
type Unsettled struct {
	Thread wire.Thread
	Run    store.RunRow
	// Saved is the last offset of its stream that the messages contain.
	Saved wire.Offset
}

// finishUnleased ends a run that no worker has leased. If the engine has a settle hook, it takes the
// lease instead and returns the run for settlement. It also adds a ticket for the case that this
// process dies before the settlement.
func finishUnleased(tx *Tx, ending store.Ending, t tree, c store.Changes) (*Unsettled, error) {
	switch {
	case tx.Run.Ending != nil: // the run has such a ticket
	case tx.Settles:
		c.Jobs = append(c.Jobs, tx.ticket(wire.JobReclaim, tx.Lease))
	default:
		if err := tx.Write(c); err != nil { // before the messages of finish
			return nil, err
		}
		return nil, finish(tx, endingNow(tx, ending), store.Changes{})
	}
	if err := decideEnding(tx, ending, &c); err != nil {
		return nil, err
	}
	tx.lease()
	return &Unsettled{Thread: tx.Thread, Run: tx.Run, Saved: t.saved}, tx.save(c)
}

// decideEnding stores the ending of a run without a worker, unless the run already has an ending. It adds to c what the
// run owes, before the settle hook gets the costs.
func decideEnding(tx *Tx, ending store.Ending, c *store.Changes) error {
	if tx.Run.Ending != nil {
		return nil
	}
	if err := chargeOpen(tx, c); err != nil {
		return err
	}
	ending = endingNow(tx, ending)
	ending.Closed = true
	tx.Run.Ending = &ending
	tx.dropDraft()
	return nil
}

// chargeOpen charges the answers that the tree does not ask for again, and the reservations of calls that will not
// end. The caller stores the dispatched run.
func chargeOpen(tx *Tx, c *store.Changes) error {
	runs, err := activeNested(tx)
	if err != nil {
		return err
	}
	for _, run := range runs {
		if run.Resume != nil {
			nested := tx.nested(run)
			c.Usage = append(c.Usage, nested.abandonAnswer(wire.OutcomeAborted)...)
			c.Runs = append(c.Runs, nested.Run)
		}
	}
	c.Usage = append(c.Usage, tx.abandonAnswer(wire.OutcomeAborted)...)
	c.Usage = append(c.Usage, tx.price(tx.reservations(wire.OutcomeAborted, nil))...)
	return nil
}

// endingNow returns the run's ending, which is cancelled if the run was asked to stop.
func endingNow(tx *Tx, ending store.Ending) store.Ending {
	if !tx.Run.StopAt.IsZero() {
		return Cancelled
	}
	return ending
}

// finishNested is the transition of a nested run to an end state. The caller stores the run.
func finishNested(tx *Tx, ending store.Ending, text string, c *store.Changes) error {
	if err := finishRun(tx, ending, c); err != nil {
		return err
	}
	tx.Run.Allowance = nil // the dispatched run has the allowance of the tree
	if ending.State == wire.Completed {
		tx.Run.Result = &wire.NestedResult{Text: text}
	}
	return nil
}

// finishRun brings one run to its end state and gives its waiting calls a result. The caller stores the
// run.
func finishRun(tx *Tx, ending store.Ending, c *store.Changes) error {
	if !tx.Run.State.CanBecome(ending.State) {
		return spool.Errorf(spool.Internal, "run %s cannot go from %s to %s", tx.Run.ID, tx.Run.State, ending.State)
	}
	if err := closeCalls(tx, ending, c); err != nil {
		return err
	}
	c.Usage = append(c.Usage, tx.abandonAnswer(wire.OutcomeAborted)...)
	tx.Run.State, tx.Run.StopReason, tx.Run.Error, tx.Run.EndedAt = ending.State, ending.Reason, ending.Error, tx.Now
	tx.dropDraft()
	return nil
}

// closeCalls gives every waiting call of the run the result of a cancelled call.
func closeCalls(tx *Tx, ending store.Ending, c *store.Changes) error {
	content, err := closeParks(tx, ending, c)
	if err != nil {
		return err
	}
	if tx.Root().Run.Children > 0 {
		effects, err := tx.Store.Effects(tx.Run.ID, tx.Run.Steps)
		if err != nil {
			return err
		}
		for _, e := range effects {
			if e.State != wire.EffectWaiting {
				continue
			}
			e.State, e.Result = wire.EffectDone, toolresult.CancelledBy(ending, toolresult.NoEffect)
			c.Effects = append(c.Effects, e)
			content = append(content, toolresult.Part(e.ToolCallID, spool.SpawnTool, e.Result))
		}
	}
	if len(content) > 0 {
		c.Messages = append(c.Messages, tx.Message(spool.RoleTool, content))
	}
	return nil
}

// closeParks closes the run's own parks and returns the results of their calls.
func closeParks(tx *Tx, ending store.Ending, c *store.Changes) (spool.Content, error) {
	parks, err := tx.Parks()
	if err != nil {
		return nil, err
	}
	var content spool.Content
	for _, p := range parks {
		if p.AgentID != tx.Run.AgentID() {
			continue
		}
		if p.Pending != nil {
			Abandon(tx, c, p)
		}
		outcome, err := effectOf(tx, p)
		if err != nil {
			return nil, err
		}
		result := toolresult.Expired(p)
		switch {
		case p.State != wire.ParkExpired:
			p.State, result = wire.ParkClosed, toolresult.CancelledBy(ending, outcome)
		case p.Reason != wire.ParkOutcomeUnknown && outcome != toolresult.NoEffect: // the tool was called about it
			result = toolresult.CancelledBy(ending, outcome)
		}
		p.Landed = true
		c.Parks, c.CancelJobs = append(c.Parks, p), append(c.CancelJobs, expiryKey(p))
		unsaved := p.State == wire.ParkClosed && p.Pending != nil && p.Step > tx.Run.Steps // the step was lost with its draft
		// a park for a budget belongs to no call
		if p.Reason != wire.ParkBudget && !unsaved {
			content = append(content, toolresult.Part(p.ToolCallID, p.ToolName, result))
		}
	}
	return content, nil
}

// effectOf returns whether the call of a park that the run's end closes may have had an effect.
func effectOf(tx *Tx, p store.Park) (toolresult.Effect, error) {
	if p.Pending != nil || p.Reason == wire.ParkOutcomeUnknown {
		return toolresult.MaybeEffect, nil
	}
	if p.State == wire.ParkOpen { // its tool has asked, or was not called yet
		return toolresult.NoEffect, nil
	}
	effects, err := tx.Store.Effects(tx.Run.ID, p.Step)
	begun := slices.ContainsFunc(effects,
		func(e store.Effect) bool { return e.ToolCallID == p.ToolCallID && e.State == wire.EffectPending })
	return toolresult.EffectOf(begun), err
}
