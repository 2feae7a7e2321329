package form

import (
	"time"

	"github.com/spoolhq/spool/wire"
)

// JobState returns the state of a job that is not dead. A claim that has lapsed leaves the job ready.
func JobState(due time.Time, claimed bool, now time.Time) wire.JobState {
	switch {
	case !due.After(now):
		return wire.JobReady
	case claimed:
		return wire.JobInFlight
	default:
		return wire.JobDelayed
	}
}
