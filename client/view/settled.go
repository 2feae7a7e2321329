package view

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
	"github.com/spoolhq/spool/wire/fold"
)

// lastEnd is the end of the last segment that the view has, or what stands for it.
type lastEnd struct {
	run    spool.RunID
	status wire.SegmentStatus
}

// Settled reports whether the view has all that the thread's last run has said: the run has ended, or it waits for an
// answer or for the work of a call, and everything before that is applied. A state can come before the text of its
// run, so a program that waits for an answer waits until the view is settled, and not for a state.
func (t *Thread) Settled() bool {
	switch {
	case t.row.State == wire.Idle:
		return true
	case t.row.State == wire.Queued, t.row.State == wire.Running, t.stream != "":
		return false
	case t.whole:
		return true
	case t.row.State == wire.WaitingForInput:
		return len(t.parks)+len(t.pending) > 0 && t.ended == lastEnd{t.current, wire.SegmentParked}
	case t.behind():
		return false
	case t.ended.run == t.current:
		return t.row.State != wire.Completed || t.ended.status == wire.SegmentFinished
	default: // the run never had a segment
		r := t.run(t.current)
		return r != nil && t.row.State != wire.Completed && (r.StartedAt.IsZero() || r.StartedAt.Equal(r.EnqueuedAt))
	}
}

// behind reports whether the record has ended a later run than the one of the state: the state comes later then. The
// later run is the one that began after the end of the other one, as runs can overtake each other. If this is not
// known, it is the newer one.
func (t *Thread) behind() bool {
	if ended, current := t.run(t.ended.run), t.run(t.current); ended != nil && current != nil {
		if began, over := ended.StartedAt, current.EndedAt; !began.IsZero() && !over.IsZero() && !began.Equal(over) {
			return began.After(over)
		}
	}
	for _, r := range t.runs {
		switch r.ID {
		case t.current:
			return false
		case t.ended.run:
			return true
		}
	}
	return false
}

// stateOf keeps which run a state is about. A snapshot is whole until its state changes.
func (t *Thread) stateOf(c wire.StateChange) {
	t.whole = t.whole && c.State == t.row.State && (c.RunID == t.current || t.current == "")
	if c.RunID != "" {
		t.current = c.RunID
	}
}

// endOf keeps the end of a segment. An answer continues the run, so it removes the end that was kept before.
func (t *Thread) endOf(payload any) {
	switch said := payload.(type) {
	case fold.Ended:
		t.ended = lastEnd{said.RunID, said.Status}
	case wire.RunStarted, fold.Settled:
		t.ended, t.whole = lastEnd{}, false
	}
}

// restsIn keeps that the last segment of the run that waits in a snapshot has ended, for an answer or to be tried
// again. A stop then ends the run without another segment.
func (t *Thread) restsIn() {
	waits := t.row.State == wire.WaitingForInput || t.row.State == wire.Queued
	for _, r := range t.runs {
		if waits && r.ParentID == "" && r.State == t.row.State && !r.StartedAt.IsZero() {
			t.ended = lastEnd{r.ID, wire.SegmentParked}
			return
		}
	}
}

// endedIn keeps that the snapshot of a run says how the run has ended.
func (t *Thread) endedIn(s *wire.Snapshot, run spool.RunID) {
	if !s.Thread.State.Terminal() || s.Stream != nil && s.Stream.End == nil || run != t.current {
		return
	}
	t.ended = lastEnd{run: run, status: wire.SegmentStopped}
	if s.Thread.State == wire.Completed {
		t.ended.status = wire.SegmentFinished
	}
}
