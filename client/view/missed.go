package view

import (
	"slices"

	"github.com/spoolhq/spool/wire"
)

// Untold returns the runs whose present state the frames do not give, because the client was away: runs that are
// shown as active though another run has the thread, active runs that are nested in a run that is over, and runs that
// have ended at an unknown time, because only an entry has reported their end. A small snapshot has them: see
// [Thread.Tell].
func (t *Thread) Untold() []wire.Run {
	if t.current == "" {
		return nil // nothing has come behind the snapshot
	}
	var out []wire.Run
	for i := range t.runs {
		if t.untold(&t.runs[i]) {
			out = append(out, t.runs[i])
		}
	}
	return out
}

func (t *Thread) untold(r *wire.Run) bool {
	if !r.State.Active() {
		return r.EndedAt.IsZero() && r.Depth == 0 && r.ID != t.current && r.StopReason != wire.StopSteered
	}
	root := t.rootOf(r)
	if slices.ContainsFunc(t.queue, func(q wire.QueuedRun) bool { return q.RunID == root.ID }) {
		return false
	}
	return root.ID != t.current || !root.State.Active()
}

// Tell updates the [Thread.Untold] runs that have ended according to a snapshot. The snapshot needs no messages. Tell
// reports whether it has updated a run.
func (t *Thread) Tell(s *wire.Snapshot) (changed bool) {
	for _, r := range t.Untold() {
		over := func(listed wire.Run) bool { return listed.ID == r.ID && listed.State.Terminal() }
		if at := slices.IndexFunc(s.Runs, over); at >= 0 {
			t.putRun(s.Runs[at])
			changed = true
		}
	}
	return changed
}

// rootOf returns the dispatched run of a nested one, as far up as the view knows.
func (t *Thread) rootOf(r *wire.Run) *wire.Run {
	for r.ParentID != "" {
		parent := t.run(r.ParentID)
		if parent == nil || parent.Depth >= r.Depth {
			break
		}
		r = parent
	}
	return r
}
