package delta

import (
	"time"

	"github.com/spoolhq/spool/wire"
)

// shown returns what a snapshot shows of a run, without the times that follow from others. Two values of the
// same run are equal if clients see the same.
func shown(r wire.Run) wire.RunJSON {
	w := r.Wire()
	w.DurationMS, w.QueuedMS = 0, 0
	w.EnqueuedAt, w.StartedAt, w.EndedAt = plain(w.EnqueuedAt), plain(w.StartedAt), plain(w.EndedAt)
	w.Expired.Since = plain(w.Expired.Since)
	return w
}

// plain returns a time in a form in which == compares times.
func plain(t time.Time) time.Time { return t.UTC().Round(0) }
