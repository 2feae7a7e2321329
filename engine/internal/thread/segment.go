package thread

import (
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/order"
	"github.com/spoolhq/spool/engine/internal/record"
)

// Item adds an item of the run to the stream of the segment.
func (tx *Tx) Item(t spool.ItemType, payload any) {
	if tx.list != nil {
		tx.list.Item(tx.Run.AgentID(), t, payload)
	}
}

// Append adds entries to the record. While a segment is open they have a place among its items.
func (tx *Tx) Append(entries ...*spool.Entry) error {
	if tx.list != nil {
		tx.list.Place(entries...)
	}
	err := tx.Store.AppendEntries(entries...)
	if err == nil && tx.list != nil && len(entries) > 0 {
		tx.list.Behind(entries[len(entries)-1].Seq)
	}
	return err
}

// closeSegment ends the latest segment: its stream with an item, and then, in the record, the
// segment itself.
func (tx *Tx) closeSegment(t spool.ItemType, item any, ended spool.RunEnded) error {
	tx.list.End(t, item)
	return tx.Append(tx.runEnded(ended))
}

func (tx *Tx) runEnded(ended spool.RunEnded) *spool.Entry {
	ended.RunID, ended.StreamID, ended.Segment = tx.Run.ID, tx.Run.Stream(), tx.Run.Segments
	return spool.NewEntry(spool.EntryRunEnded, tx.Run.ID, ended)
}

// WorkerDied is why a segment ended whose worker went away.
const WorkerDied = "the worker went away"

// LostStream is the stream of a worker that went away, which another process has to end.
type LostStream struct {
	ID spool.StreamID
	// End is the earliest offset of its end.
	End spool.Offset
}

// loseSegment adds the entry that ends the segment of a worker that went away, and the
// model calls that went with it.
func loseSegment(tx *Tx, reason string) (*LostStream, error) {
	if err := loseCalls(tx); err != nil {
		return nil, err
	}
	saved, err := record.SavedOf(tx.Store, tx.Run)
	if err != nil {
		return nil, err
	}
	lost := &LostStream{ID: tx.Run.Stream(), End: order.EndBehind(saved.Last())}
	entry := tx.runEnded(spool.RunEnded{Status: spool.SegmentLost, Error: reason})
	entry.Stream, entry.After = lost.ID, lost.End
	return lost, tx.Store.AppendEntries(entry)
}

// HandBack is the transition back to QUEUED of a run whose worker gives it up, with a ticket for
// the next segment. A zero due is now.
func HandBack(tx *Tx, due time.Time, reason string) error {
	next := tx.ticket(spool.JobHandBack, 0)
	next.DueAt = due
	return requeue(tx, next, spool.RunEnded{Status: spool.SegmentLost, Error: reason})
}

// RetryLater is the transition back to QUEUED of a run whose step has failed, with a ticket for the
// next attempt after a wait.
func RetryLater(tx *Tx, wait time.Duration, reason string) error {
	ended := spool.RunEnded{Status: spool.SegmentError, Error: reason, RetryAfterMS: wait.Milliseconds()}
	return requeue(tx, tx.ticket(spool.JobRetry, wait), ended)
}

func requeue(tx *Tx, next spool.Job, ended spool.RunEnded) error {
	failed := spool.StreamFailed{Status: ended.Status, Error: ended.Error, RetryAfterMS: ended.RetryAfterMS}
	if err := tx.closeSegment(spool.ItemRunError, failed, ended); err != nil {
		return err
	}
	if err := tx.move(spool.Queued); err != nil {
		return err
	}
	if err := tx.Store.Enqueue(next); err != nil {
		return err
	}
	if err := cutReservations(tx, spool.OutcomeAborted); err != nil {
		return err
	}
	tx.release()
	return tx.save()
}
