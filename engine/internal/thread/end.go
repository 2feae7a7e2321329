package thread

import (
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/toolresult"
)

// Conclude ends the dispatched run in the transaction of its last step. With a settle hook the end
// is written when the hook has returned: see [Settle].
func Conclude(tx *Tx, ending spool.Ending) error {
	if tx.Settles {
		forgetStep(tx)
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
	} else if err := tx.Store.Enqueue(settleJob(tx, tx.Run, settleRetry)); err != nil {
		return err
	}
	return end(tx, ending)
}

func settleJob(tx *Tx, run spool.RunRow, after time.Duration) spool.Job {
	j := tx.jobOf(run, spool.JobSettle, after)
	j.Key = "settle:" + string(run.ID)
	return j
}

// end is the transition to an end state. A segment whose stream is open is closed with it. A run
// that waits has the thread from then on: tx.Run stays the one that has ended.
func end(tx *Tx, ending spool.Ending) error {
	if err := closeTree(tx, ending); err != nil {
		return err
	}
	forgetStep(tx)
	if err := closeCalls(tx, ending); err != nil {
		return err
	}
	if err := tx.move(ending.State); err != nil {
		return err
	}
	tx.Run.StopReason, tx.Run.Error, tx.Run.EndedAt = ending.Reason, ending.Error, tx.Now
	tx.Run.Ending = nil
	if err := cutReservations(tx, spool.OutcomeAborted); err != nil {
		return err
	}
	tx.release()
	if tx.list != nil {
		if err := closeLast(tx, ending); err != nil {
			return err
		}
	}
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
			return nil, end(tx, ending)
		}
		forgetStep(tx)
		ending.Closed = true
		tx.Run.Ending = &ending
		if err := tx.Store.Enqueue(tx.ticket(spool.JobReclaim, tx.Lease)); err != nil {
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

// forgetStep drops the step in hand. What it has used stays used.
func forgetStep(tx *Tx) {
	if d := tx.Run.Draft; d != nil {
		tx.Add(d.Usage)
		tx.Run.Draft = nil
	}
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
	parks, err := Parks(tx)
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

// closeTree ends the nested runs of a dispatched run that ends itself.
func closeTree(tx *Tx, ending spool.Ending) error {
	if tx.Run.Children == 0 {
		return nil
	}
	runs, err := tx.Store.Nested(tx.Run.ID)
	if err != nil {
		return err
	}
	if ending.State == spool.Completed { // none is at work then
		ending = cancelled
	}
	if ending.State == spool.Failed {
		ending.Error = "the run that it belongs to failed"
	}
	for _, run := range runs {
		if run.State.Terminal() {
			continue
		}
		if err := endNested(tx.nested(run), ending, ""); err != nil {
			return err
		}
	}
	return nil
}

func endNested(tx *Tx, ending spool.Ending, text string) error {
	forgetStep(tx)
	if err := closeCalls(tx, ending); err != nil {
		return err
	}
	if !tx.Run.State.CanBecome(ending.State) {
		return spool.Errorf(spool.Internal, "run %s cannot go from %s to %s", tx.Run.ID, tx.Run.State, ending.State)
	}
	tx.Run.State, tx.Run.StopReason, tx.Run.Error, tx.Run.EndedAt = ending.State, ending.Reason, ending.Error, tx.Now
	tx.Run.Allowance = nil // which is the whole tree's
	if ending.State == spool.Completed {
		tx.Run.Result = &spool.NestedResult{Text: text}
	}
	return tx.Put()
}
