package thread

import (
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/toolresult"
)

// Conclude ends the dispatched run in the transaction of its last step. With a settle hook the end
// is written when the hook has returned: see [Settle].
func Conclude(tx *Tx, ending spool.Ending) error {
	if tx.Settles {
		tx.forgetStep()
		tx.Run.Ending = &ending
		return tx.save()
	}
	return end(tx, ending)
}

// settleRetry is when a failed settlement is tried again from the queue.
const settleRetry = time.Minute

// Settle writes the end state of a run whose settle hook has returned. A hook that failed is called
// again, for which there is a job.
func Settle(tx *Tx, ending spool.Ending, settled bool) error {
	if settled {
		tx.Run.SettledAt = tx.Now
	} else if err := tx.enqueueSettle(tx.Run, settleRetry); err != nil {
		return err
	}
	return end(tx, ending)
}

// end is the transition to an end state. A segment whose stream is open is closed with it.
func end(tx *Tx, ending spool.Ending) error {
	if err := finish(tx, ending); err != nil {
		return err
	}
	if tx.list != nil {
		if err := closeLast(tx, ending); err != nil {
			return err
		}
	}
	return handOver(tx)
}

// finish brings the runs of the tree to their end states, the dispatched one last. It leaves to its
// caller to write that one.
func finish(tx *Tx, ending spool.Ending) error {
	runs, err := activeNested(tx)
	if err != nil {
		return err
	}
	for _, run := range runs {
		if err := finishNested(tx.nested(run), endingBelow(ending), ""); err != nil {
			return err
		}
	}
	if err := finishRun(tx, ending); err != nil {
		return err
	}
	tx.Thread.State, tx.Run.Ending = ending.State, nil
	if err := tx.Charge(tx.reservations(spool.OutcomeAborted)...); err != nil {
		return err
	}
	tx.release()
	return nil
}

// activeNested returns the nested runs of a dispatched run that have not ended.
func activeNested(tx *Tx) ([]spool.RunRow, error) {
	if tx.Run.Children == 0 {
		return nil, nil
	}
	runs, err := tx.Store.Nested(tx.Run.ID)
	return slices.DeleteFunc(runs, func(r spool.RunRow) bool { return r.State.Terminal() }), err
}

// endingBelow returns how nested runs end with the run that they belong to.
func endingBelow(ending spool.Ending) spool.Ending {
	switch ending.State {
	case spool.Completed: // none is at work then
		return cancelled
	case spool.Failed:
		ending.Error = "the run that it belongs to failed"
	default:
	}
	return ending
}

// handOver writes a run that has ended, and gives the thread to the first run that waits and can have
// it: tx.Run stays the one that has ended.
func handOver(tx *Tx) error {
	if err := tx.save(); err != nil {
		return err
	}
	return next(tx)
}

// closeLast closes the last segment of a run that ends.
func closeLast(tx *Tx, ending spool.Ending) error {
	var ended spool.RunEnded
	switch ending.State {
	case spool.Cancelled:
		ended.Status = spool.SegmentStopped
	case spool.Failed:
		ended.Status, ended.Error = spool.SegmentError, ending.Error
		return tx.closeSegment(spool.ItemRunError, spool.StreamFailed{Status: ended.Status, Error: ended.Error}, ended)
	default:
		ended.Status = spool.SegmentFinished
		if ending.Reason != spool.StopCompleted {
			ended.StopReason = ending.Reason
		}
	}
	usage := tx.Run.TokenCount
	return tx.closeSegment(spool.ItemRunFinished, spool.StreamFinished{
		Status: ended.Status, Usage: &usage, Costs: tx.Run.Costs(), FinishReason: ending.Reason,
	}, ended)
}

// Unsettled is a run that has ended but for its settle hook, and the lease that it was given for
// that.
type Unsettled struct {
	Thread spool.Thread
	Run    spool.RunRow
	// Saved is the last offset of its stream that is in the messages.
	Saved spool.Offset
}

// endUnheld ends a run that no worker holds, as stopped if that was asked for. With a settle hook
// it takes the lease instead, and returns the run, which has still to be settled. A run that has an
// ending already only lacks that hook.
func endUnheld(tx *Tx, ending spool.Ending) (*Unsettled, error) {
	if tx.Run.Ending == nil {
		if !tx.Run.StopAt.IsZero() {
			ending = cancelled
		}
		if !tx.Settles {
			if err := finish(tx, ending); err != nil {
				return nil, err
			}
			return nil, handOver(tx)
		}
		tx.forgetStep()
		ending.Closed = true
		tx.Run.Ending = &ending
		if err := tx.enqueue(spool.JobReclaim, tx.Lease); err != nil {
			return nil, err
		}
	}
	saved, err := record.SavedOf(tx.Store, tx.Run)
	if err != nil {
		return nil, err
	}
	tx.lease()
	return &Unsettled{Thread: tx.Thread, Run: tx.Run, Saved: saved.Last()}, tx.save()
}

// finishNested is the transition of a nested run to an end state.
func finishNested(tx *Tx, ending spool.Ending, text string) error {
	if err := finishRun(tx, ending); err != nil {
		return err
	}
	tx.Run.Allowance = nil // which is the whole tree's
	if ending.State == spool.Completed {
		tx.Run.Result = &spool.NestedResult{Text: text}
	}
	return tx.Put()
}

// finishRun brings one run to its end state, and leaves it to its caller to write the run. Every call of
// the run that waits has the result of one that will not go on.
func finishRun(tx *Tx, ending spool.Ending) error {
	if !tx.Run.State.CanBecome(ending.State) {
		return spool.Errorf(spool.Internal, "run %s cannot go from %s to %s", tx.Run.ID, tx.Run.State, ending.State)
	}
	if err := closeCalls(tx, ending); err != nil {
		return err
	}
	tx.Run.State, tx.Run.StopReason, tx.Run.Error, tx.Run.EndedAt = ending.State, ending.Reason, ending.Error, tx.Now
	tx.forgetStep()
	return nil
}

// closeCalls gives every call of the run that waits the result of one that will not go on.
func closeCalls(tx *Tx, ending spool.Ending) error {
	content, err := closeParks(tx, ending)
	if err != nil {
		return err
	}
	if tx.Root().Run.Children > 0 {
		effects, err := tx.Store.Effects(tx.Run.ID, tx.Run.Steps)
		if err != nil {
			return err
		}
		for _, e := range effects {
			if e.State != spool.EffectWaiting {
				continue
			}
			e.State, e.Result = spool.EffectDone, toolresult.CancelledBy(ending)
			if err := tx.Store.PutEffect(e); err != nil {
				return err
			}
			content = append(content, toolresult.Part(e.ToolCallID, spool.SpawnTool, e.Result))
		}
	}
	if len(content) == 0 {
		return nil
	}
	return tx.Store.AppendMessages(tx.Message(spool.RoleTool, content))
}

// closeParks closes the parks of the run itself, and returns the results of their calls.
func closeParks(tx *Tx, ending spool.Ending) (spool.Content, error) {
	parks, err := tx.Parks()
	if err != nil {
		return nil, err
	}
	var content spool.Content
	for _, p := range parks {
		if p.AgentID != tx.Run.AgentID() {
			continue
		}
		if err := tx.Store.CancelJob(expiryKey(p)); err != nil {
			return nil, err
		}
		result := toolresult.Expired(p)
		if p.State != spool.ParkExpired {
			p.State, result = spool.ParkClosed, toolresult.CancelledBy(ending)
		}
		p.Landed = true
		if err := tx.Store.PutPark(p); err != nil {
			return nil, err
		}
		if p.Reason != spool.ParkBudget { // that is of no call
			content = append(content, toolresult.Part(p.ToolCallID, p.ToolName, result))
		}
	}
	return content, nil
}
