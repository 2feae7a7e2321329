package thread

import (
	"fmt"

	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Dead fails the run of a job that the queue has given up. It returns [ErrUnchanged] if the job is
// obsolete: the run has ended, another run has the thread, or a worker has the lease.
func Dead(tx *Tx, j wire.Job, attempts int, cause string) (s Stopped, err error) {
	moved := j.Kind == wire.JobCancel || tx.Run.ID != j.RunID || !tx.Run.State.Active() || tx.Thread.Leased(tx.Now) ||
		j.Segment != 0 && j.Segment <= tx.Run.Segments && tx.Run.State != wire.Running
	if moved {
		return s, ErrUnchanged
	}
	ending := store.Ending{
		State: wire.Failed, Reason: wire.StopFailed,
		Error: fmt.Sprintf("dropped by the queue after %d attempts: %s", attempts, cause),
	}
	t, err := readTree(tx)
	if err != nil {
		return s, err
	}
	var c store.Changes
	if tx.Run.Ending == nil && tx.Run.State == wire.Running {
		s.Lost = closeLostSegment(tx, t, ending.Error, &c)
	}
	s.Unsettled, err = finishUnleased(tx, ending, t, c)
	return s, err
}
