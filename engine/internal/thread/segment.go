package thread

import (
	"time"

	"github.com/spoolhq/spool"
)

// HandBack is the transition back to QUEUED of a run that its worker gives up, with a ticket for
// the next segment. A zero due means now.
func HandBack(tx *Tx, due time.Time, reason string) error {
	next := tx.ticket(spool.JobHandBack, 0)
	next.DueAt = due
	return requeue(tx, next, spool.RunEnded{Status: spool.SegmentLost, Error: reason})
}

// RetryLater is the transition back to QUEUED of a run whose step failed, with a delayed ticket for
// the next attempt.
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
	if err := tx.Charge(tx.reservations(spool.OutcomeAborted)...); err != nil {
		return err
	}
	tx.release()
	return tx.save()
}
