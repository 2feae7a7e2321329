package spooltest

import (
	"maps"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// waits checks a run that waits for its thread: another run has the thread, and the waiting run has not
// begun.
func (c *checker) waits(where string, d ThreadDump, r store.RunRow) {
	switch {
	case r.State != wire.Queued:
		c.wrongf("waiting", where, "run %s waits and is %s", r.ID, r.State)
	case !d.Thread.State.Active() || d.Thread.RunID == r.ID:
		c.wrongf("waiting", where, "run %s waits for a thread that is %s and belongs to %s", r.ID, d.Thread.State,
			d.Thread.RunID)
	case r.Segments > 0 || r.Steps > 0:
		c.wrongf("waiting", where, "run %s waits and has begun", r.ID)
	case r.Wait == nil || len(r.Wait.Content) == 0:
		c.wrongf("waiting", where, "run %s waits without a turn", r.ID)
	}
	for _, m := range d.Messages {
		if m.RunID == r.ID {
			c.wrongf("waiting", where, "run %s waits, and its message %s is there", r.ID, m.ID)
		}
	}
	if c.Settled {
		c.wrongf("end-state", where, "run %s still waits", r.ID)
	}
}

// line checks what a commit has done to the waiting runs: they always wait for another run, and the run
// that gets the thread was the first in line.
func (c *checker) line(n int, where string, commit Commit, before map[spool.RunID]int64, runs []store.RunRow) {
	if commit.Deleted {
		return
	}
	waiting, active := 0, false
	for _, r := range runs {
		if r.QueuePosition > 0 {
			waiting++
		}
		active = active || r.Depth == 0 && r.Active()
	}
	if waiting > 0 && !active {
		c.wrongf("waiting", where, "commit %d leaves %d runs waiting for none", n, waiting)
	}
	for _, r := range runs {
		if before[r.ID] == 0 || !r.Active() {
			continue
		}
		for _, other := range runs {
			if other.QueuePosition > 0 && before[other.ID] > 0 && other.QueuePosition < before[r.ID] {
				c.wrongf("waiting-order", where, "commit %d gives the thread to run %s before %s", n, r.ID, other.ID)
			}
		}
	}
}

// runsOf returns the runs of a map in the order of their ids.
func runsOf[T any](all map[spool.RunID]T, run func(T) store.RunRow) []store.RunRow {
	runs := make([]store.RunRow, 0, len(all))
	for _, id := range slices.Sorted(maps.Keys(all)) {
		runs = append(runs, run(all[id]))
	}
	return runs
}
