package thread

import (
	"time"

	"github.com/spoolhq/spool"
)

// HandBack is the transition back to QUEUED when a worker gives the run up. It adds a ticket for the
// next segment, due at the given time or, if that is zero, now.
func HandBack(tx *Tx, due time.Time, reason string) error {
	next := tx.ticket(spool.JobHandBack, 0)
	next.DueAt = due
	return requeue(tx, next, spool.RunEnded{Status: spool.SegmentLost, Error: reason})
}

// RetryLater is the transition back to QUEUED when a step of the run failed. It adds a ticket for the
// next attempt, due after the given wait.
func RetryLater(tx *Tx, wait time.Duration, reason string) error {
	ended := spool.RunEnded{Status: spool.SegmentError, Error: reason, RetryAfterMS: wait.Milliseconds()}
	return requeue(tx, tx.ticket(spool.JobRetry, wait), ended)
}

func requeue(tx *Tx, next spool.Job, ended spool.RunEnded) error {
	failed := spool.StreamFailed{Status: ended.Status, Error: ended.Error, RetryAfterMS: ended.RetryAfterMS}
	c := spool.Changes{Entries: []*spool.Entry{tx.closeSegment(spool.ItemRunError, failed, ended)}, Jobs: []spool.Job{next}}
	if err := tx.move(spool.Queued); err != nil {
		return err
	}
	asking, err := tx.agentsAskingAgain()
	if err != nil {
		return err
	}
	c.Usage = tx.price(tx.reservations(spool.OutcomeAborted, asking))
	tx.release()
	return tx.save(c)
}

// closeSegment ends the latest segment: first its stream, with an item. It returns the entry that ends
// the segment in the record.
func (tx *Tx) closeSegment(t spool.ItemType, item any, ended spool.RunEnded) *spool.Entry {
	tx.list.End(t, item)
	return tx.runEnded(ended)
}

func (tx *Tx) runEnded(ended spool.RunEnded) *spool.Entry {
	ended.RunID, ended.StreamID, ended.Segment = tx.Run.ID, tx.Run.Stream(), tx.Run.Segments
	return spool.NewEntry(spool.EntryRunEnded, tx.Run.ID, ended)
}
