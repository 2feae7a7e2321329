package view

import (
	"cmp"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
	"github.com/spoolhq/spool/wire/fold"
)

// startRun applies the beginning of a segment. The state of the run that a STATE_CHANGE has named comes with those
// notices. A client that was away gets no state of the runs that began and ended meanwhile, but their entries.
func (t *Thread) startRun(s wire.RunStarted, at time.Time) {
	if s.RunID == "" {
		return
	}
	r := t.knownRun(wire.Run{ID: s.RunID, EnqueuedAt: s.EnqueuedAt}, at)
	// Until a worker claims it, a run has the time of its start.
	if s.Segment <= 1 && (r.StartedAt.IsZero() || r.State == wire.Queued) {
		r.StartedAt = at
	}
	if s.RunID != t.current && (r.State == "" || r.State.Active()) {
		r.State = wire.Running
	}
}

// endRun applies the end of a segment, which ends its run if it is finished, stopped, or failed without another
// attempt.
func (t *Thread) endRun(e fold.Ended, at time.Time) {
	t.parkNested(e.RunID, e.Status)
	present := e.RunID == t.current
	if r := t.run(e.RunID); e.RunID == "" || present && (r == nil || !r.State.Active()) {
		return
	}
	if !e.State.Terminal() || e.State == wire.Failed && present { // the run goes on, or another attempt may follow
		return
	}
	r := t.knownRun(wire.Run{ID: e.RunID}, at)
	if r.State == e.State {
		return // a snapshot says more
	}
	r.State, r.StopReason, r.Error, r.Expired = e.State, e.StopReason, e.Error, e.Expired
	if e.State == wire.Completed {
		r.StopReason = cmp.Or(e.StopReason, wire.StopCompleted)
	}
}

// parkNested applies the end of a segment to the runs nested in its run. A run parks when each of them has ended or
// waits.
func (t *Thread) parkNested(run spool.RunID, status wire.SegmentStatus) {
	if status != wire.SegmentParked || run == "" {
		return
	}
	of := t.family(run)
	for i := range t.runs {
		if r := &t.runs[i]; r.ID != run && of[r.ID] && r.State.Active() {
			r.State = wire.WaitingForInput
		}
	}
}

// knownRun returns a run to be changed, which is added if it is new. See insertRun.
func (t *Thread) knownRun(r wire.Run, began time.Time) *wire.Run {
	if known := t.run(r.ID); known != nil {
		return known
	}
	r.ThreadID = t.row.ID
	return t.insertRun(r, began)
}

// insertRun adds a run: a nested one as the newest of its family, and any other behind those that are newer than it.
// A run that does not say when it was accepted is as old as the entry that it came with. Zero: it is the newest.
func (t *Thread) insertRun(r wire.Run, began time.Time) *wire.Run {
	if r.ParentID != "" {
		t.runs = byFamily(slices.Insert(t.runs, 0, r))
		return t.run(r.ID)
	}
	at := 0
	for i, known := range t.runs {
		if known.ParentID == "" && newer(known, r, began) {
			at = i + 1
		}
	}
	t.runs = slices.Insert(t.runs, at, r)
	return &t.runs[at]
}

// newer reports whether a known run was accepted after another one. If one of them does not say when that was, it
// reports whether the known run began after the given time.
func newer(known, r wire.Run, began time.Time) bool {
	if !known.EnqueuedAt.IsZero() && !r.EnqueuedAt.IsZero() {
		return known.EnqueuedAt.After(r.EnqueuedAt)
	}
	return !began.IsZero() && cmp.Or(known.StartedAt, known.EnqueuedAt).After(began)
}

// byFamily sorts runs so that those of one family stand together: a dispatched run, and before it the runs nested in
// it, the newest first. A snapshot has them in the order in which the store got them, with runs in between that were
// accepted meanwhile. No frame tells a client that follows where these are.
func byFamily(runs []wire.Run) []wire.Run {
	place := make(map[spool.RunID]int, len(runs))
	for i, r := range slices.Backward(runs) { // a run comes before those nested in it
		parent := cmp.Or(r.ParentID, r.ID)
		at, known := place[parent]
		if !known {
			at = i
		}
		place[parent], place[r.ID] = at, at
	}
	slices.SortStableFunc(runs, func(a, b wire.Run) int { return place[a.ID] - place[b.ID] })
	return runs
}

// putRun replaces a run, or adds it.
func (t *Thread) putRun(r wire.Run) {
	if known := t.run(r.ID); known != nil {
		*known = r
		return
	}
	t.insertRun(r, time.Time{})
}

// run returns a run to be changed. Nil: the view does not know it.
func (t *Thread) run(id spool.RunID) *wire.Run {
	for i := range t.runs {
		if t.runs[i].ID == id {
			return &t.runs[i]
		}
	}
	return nil
}
