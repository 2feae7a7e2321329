package form

import (
	"time"

	"github.com/spoolhq/spool"
)

// JobState returns the state of a job that is not dead. A claim that has lapsed leaves the job ready.
func JobState(due time.Time, claimed bool, now time.Time) spool.JobState {
	switch {
	case !due.After(now):
		return spool.JobReady
	case claimed:
		return spool.JobInFlight
	default:
		return spool.JobDelayed
	}
}
