package thread

import (
	"time"

	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// HandBack is the transition back to QUEUED when a worker gives the run up. It adds a ticket for the
// next segment, due at the given time or, if that is zero, now.
func HandBack(tx *Tx, due time.Time, reason string) error {
	next := tx.ticket(wire.JobHandBack, 0)
	next.DueAt = due
	return requeue(tx, next, wire.RunEnded{Status: wire.SegmentLost, Error: reason})
}

// RetryLater is the transition back to QUEUED when a step of the run failed. It adds a ticket for the
// next attempt, due after the given wait.
func RetryLater(tx *Tx, wait time.Duration, reason string) error {
	ended := wire.RunEnded{Status: wire.SegmentError, Error: reason, RetryAfterMS: wait.Milliseconds()}
	return requeue(tx, tx.ticket(wire.JobRetry, wait), ended)
}

func requeue(tx *Tx, next wire.Job, ended wire.RunEnded) error {
	failed := wire.StreamFailed{Status: ended.Status, Error: ended.Error, RetryAfterMS: ended.RetryAfterMS}
	c := store.Changes{Entries: []*wire.Entry{tx.closeSegment(wire.ItemRunError, failed, ended)}, Jobs: []wire.Job{next}}
	if err := tx.move(wire.Queued); err != nil {
		return err
	}
	asking, err := tx.agentsAskingAgain()
	if err != nil {
		return err
	}
	c.Usage = tx.price(tx.reservations(wire.OutcomeAborted, asking))
	tx.release()
	return tx.save(c)
}

// closeSegment ends the latest segment: first its stream, with an item. It returns the entry that ends
// the segment in the record.
func (tx *Tx) closeSegment(t wire.ItemType, item any, ended wire.RunEnded) *wire.Entry {
	tx.list.End(t, item)
	tx.closed = true
	return tx.runEnded(ended)
}

func (tx *Tx) runEnded(ended wire.RunEnded) *wire.Entry {
	ended.RunID, ended.StreamID, ended.Segment = tx.Run.ID, tx.Run.Stream(), tx.Run.Segments
	return wire.NewEntry(wire.EntryRunEnded, tx.Run.ID, ended)
}
