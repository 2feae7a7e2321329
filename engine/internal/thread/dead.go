package thread

import (
	"fmt"

	"github.com/spoolhq/spool"
)

// Dead fails the run of a job that the queue has given up. It returns [ErrUnchanged] if the job is
// obsolete: the run has ended, another run has the thread, or a worker has the lease.
func Dead(tx *Tx, j spool.Job, attempts int, cause string) (s Stopped, err error) {
	moved := j.Kind == spool.JobCancel || tx.Run.ID != j.RunID || !tx.Run.State.Active() || tx.Thread.Leased(tx.Now) ||
		j.Segment != 0 && j.Segment <= tx.Run.Segments && tx.Run.State != spool.Running
	if moved {
		return s, ErrUnchanged
	}
	ending := spool.Ending{
		State: spool.Failed, Reason: spool.StopFailed,
		Error: fmt.Sprintf("dropped by the queue after %d attempts: %s", attempts, cause),
	}
	t, err := readTree(tx)
	if err != nil {
		return s, err
	}
	var c spool.Changes
	if tx.Run.Ending == nil && tx.Run.State == spool.Running {
		s.Lost = closeLostSegment(tx, t, ending.Error, &c)
	}
	s.Unsettled, err = finishUnleased(tx, ending, t, c)
	return s, err
}
