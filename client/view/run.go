package view

import (
	"cmp"
	"slices"
	"time"

	"github.com/spoolhq/spool"
)

// startRun applies the beginning of a segment. The state of the run that a STATE_CHANGE has named comes with those
// notices. A client that was away gets no state of the runs that began and ended meanwhile, but their entries.
func (t *Thread) startRun(s spool.RunStarted, at time.Time) {
	if s.RunID == "" {
		return
	}
	r := t.knownRun(s.RunID, s.RunID, at)
	if s.RunID != t.current && (r.State == "" || r.State.Active()) {
		r.State = spool.Running
	}
	if s.Segment <= 1 && r.StartedAt.IsZero() {
		r.StartedAt = at
	}
}

// endRun applies the end of a segment, which ends its run if it is finished, stopped, or failed without another attempt.
func (t *Thread) endRun(e spool.RunEnded, at time.Time) {
	t.parkNested(e.RunID, e.Status)
	present := e.RunID == t.current
	if r := t.run(e.RunID); e.RunID == "" || present && (r == nil || !r.State.Active()) {
		return
	}
	var state spool.State
	reason := e.StopReason
	switch {
	case e.Status == spool.SegmentFinished:
		state, reason = spool.Completed, cmp.Or(reason, spool.StopCompleted)
	case e.Status == spool.SegmentStopped:
		state, reason = spool.Cancelled, spool.StopCancelled
	case e.Status == spool.SegmentError && e.RetryAfterMS == 0 && !present: // another attempt ends with an entry too
		state = spool.Failed
	default: // the run goes on
		return
	}
	r := t.knownRun(e.RunID, e.RunID, at)
	if r.State == state {
		return // a snapshot says more
	}
	r.State, r.StopReason, r.Error = state, reason, e.Error
}

// parkNested applies the end of a segment to the runs nested in its run. A run parks when each of them has ended or
// waits.
func (t *Thread) parkNested(run spool.RunID, status spool.SegmentStatus) {
	if status != spool.SegmentParked || run == "" {
		return
	}
	of := t.family(run)
	for i := range t.runs {
		if r := &t.runs[i]; r.ID != run && of[r.ID] && r.State.Active() {
			r.State = spool.WaitingForInput
		}
	}
}

// knownRun returns a run to be changed, which is added if it is new. See insertRun.
func (t *Thread) knownRun(id, root spool.RunID, began time.Time) *spool.Run {
	if r := t.run(id); r != nil {
		return r
	}
	return t.insertRun(spool.Run{ID: id, ThreadID: t.row.ID}, root, began)
}

// insertRun adds a run before the run root and those nested in it. If the view does not have these, the run is the
// newest but for those that began after the given time.
func (t *Thread) insertRun(r spool.Run, root spool.RunID, began time.Time) *spool.Run {
	of := t.family(root)
	at := slices.IndexFunc(t.runs, func(known spool.Run) bool { return of[known.ID] })
	if at < 0 {
		at = slices.IndexFunc(t.runs, func(known spool.Run) bool {
			return began.IsZero() || !cmp.Or(known.StartedAt, known.EnqueuedAt).After(began)
		})
	}
	if at < 0 {
		at = len(t.runs)
	}
	t.runs = slices.Insert(t.runs, at, r)
	return &t.runs[at]
}

// putRun replaces a run, or adds it as the newest.
func (t *Thread) putRun(r spool.Run) {
	if known := t.run(r.ID); known != nil {
		*known = r
		return
	}
	t.runs = slices.Insert(t.runs, 0, r)
}

// run returns a run to be changed. Nil: the view does not know it.
func (t *Thread) run(id spool.RunID) *spool.Run {
	for i := range t.runs {
		if t.runs[i].ID == id {
			return &t.runs[i]
		}
	}
	return nil
}
