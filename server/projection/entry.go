package projection

import (
	"cmp"

	"github.com/spoolhq/spool/wire"
	"github.com/spoolhq/spool/wire/fold"
)

// entry adds the changes of a record entry or a notice.
func (p *Projection) entry(e wire.Entry) {
	if e.Type == wire.NoticeMessageAppended {
		return // the start of its run shows the turn
	}
	payload, err := fold.Entry(e)
	if err != nil {
		p.err = err
		return
	}
	p.parks = p.parks.After(payload)
	switch said := payload.(type) {
	case wire.RunStarted:
		p.runStarted(e, said)
	case fold.Ended:
		p.runEnded(e, said)
	case wire.RunRefused:
		p.runRefused(e, said)
	case wire.Steered:
		p.steered(e, said)
	case wire.StateChange:
		p.stateChange(said)
	case wire.ThreadDeleted:
		p.threadDeleted()
	case fold.Park: // otherwise, the end of the run shows the question
		p.askAgain(e)
	case fold.Settled:
		p.between(customEntry(e))
		p.askAgain(e)
	default:
		p.between(customEntry(e))
	}
}

// customEntry returns the change of an entry that has none of its own.
func customEntry(e wire.Entry) Custom {
	return Custom{string(e.Type), e.Payload, e.Published, e.PublishedBy, e.PublishedByTool}
}

// runStarted opens the run, unless it is open. It also adds the messages of that position in the record: the
// user turn of the run, and what an edit has left.
func (p *Projection) runStarted(e wire.Entry, in wire.RunStarted) {
	if p.o.RunID != "" && in.RunID != p.o.RunID {
		p.missed = true
		p.lookAgain()
		return
	}
	if !p.open || p.run != in.RunID || p.missed {
		s := p.load()
		p.missed = false
		if p.open && p.run != in.RunID {
			p.overtaken(s.Snapshot)
		}
		p.show(in.RunID, Messages{Thread: s, Seq: e.Seq - 1})
	}
	p.segment, p.inSegment, p.end, p.unsaved = in.Segment, true, nil, false
	p.changeState(ThreadState{State: wire.Running, RunID: in.RunID})
}

// overtaken ends the open run because another one has the thread.
func (p *Projection) overtaken(s *wire.Snapshot) {
	r, ok := RunOf(s, p.run)
	if !ok || !r.State.Terminal() {
		r = wire.Run{ID: p.run, State: wire.Cancelled}
	}
	p.segment = r.Segments // no further changes of this run come
	p.ended(r)
}

// lookAgain ends the open run, or the run that waits for answers, if its record says that it is over: nobody can answer
// it any more.
func (p *Projection) lookAgain() {
	if !p.open && !p.asked || p.inSegment {
		return
	}
	s := p.load()
	r, ok := RunOf(s.Snapshot, p.run)
	if !ok || !p.over(r) || r.StopReason == wire.StopSteered { // the entry about the message of a steer follows
		return
	}
	if !p.open {
		p.show(p.run, Messages{Thread: s, All: true})
	}
	p.ended(r)
}

// askAgain opens the run that waits for answers once more and ends it with its present questions. An entry of
// the record has changed them: one of several calls has an answer, or a call has more time.
func (p *Projection) askAgain(e wire.Entry) {
	if p.asked && len(p.parks) > 0 {
		p.show(p.run, Messages{Thread: p.load(), Seq: e.Seq})
		p.parked()
	}
}

// runEnded ends the run, or announces that a failed segment is retried.
func (p *Projection) runEnded(e wire.Entry, in fold.Ended) {
	if !p.open || in.RunID != p.run {
		return
	}
	var last fold.StreamEnded // without it, only the usage is missing
	if p.end != nil {
		last = *p.end
	}
	p.segment, p.inSegment, p.end = in.Segment, false, nil
	end := RunEnded{
		State: ThreadState{State: in.State, RunID: p.run, StopReason: cmp.Or(last.FinishReason, in.StopReason)},
		Usage: last.Usage, Output: in.Output, Expired: in.Expired,
	}
	switch in.Status {
	case wire.SegmentFinished:
		p.retractUnsaved(e.Seq)
		p.finish(end)
	case wire.SegmentStopped:
		p.retract(e.Seq)
		end.State.StopReason, end.Output = in.StopReason, nil
		p.finish(end)
	case wire.SegmentParked:
		p.retractUnsaved(e.Seq)
		p.parked()
	default:
		p.segmentFailed(e, in.RunEnded)
	}
}

// segmentFailed ends the run if it failed with its segment. Otherwise the client forgets what the segment
// streamed and did not save, and waits for the next segment. If the segment ended between two steps, as when
// its run makes room for another tenant, there is nothing to forget.
func (p *Projection) segmentFailed(e wire.Entry, ended wire.RunEnded) {
	if ended.Status == wire.SegmentLost && !p.step.open {
		p.retractUnsaved(e.Seq)
	} else {
		p.retract(e.Seq)
	}
	p.out.add(SegmentFailed{ended, e.Payload})
	r, ok := RunOf(p.load().Snapshot, p.run)
	if !ok { // the run is too old for the snapshot
		r = wire.Run{
			ID: p.run, State: wire.Failed, Error: ended.Error, StopReason: wire.StopFailed, Expired: ended.Expired,
		}
	}
	if r.State == wire.Queued {
		p.changeState(ThreadState{State: r.State, RunID: r.ID})
	}
	p.ended(r)
}

// runRefused ends a run that never had a segment.
func (p *Projection) runRefused(e wire.Entry, in wire.RunRefused) {
	if p.o.RunID != "" && in.RunID != p.o.RunID {
		return
	}
	if !p.open {
		s := p.load()
		p.begin(in.RunID)
		p.out.add(Messages{Thread: s, Seq: e.Seq})
	}
	p.fail(in.RunID, wire.StopReason(in.Reason), in.Error)
}

// stateChange adds a new state. A run can also end this way between two segments: no worker claims a run in
// order to stop it.
func (p *Projection) stateChange(in wire.StateChange) {
	switch {
	case p.inSegment: // the segment's end announces the next state
	case in.RunID != p.run, in.State.Terminal():
		p.lookAgain()
		p.neverBegan(in)
	case p.open && in.State == wire.Queued:
		p.changeState(ThreadState{State: in.State, RunID: in.RunID})
	default: // the next segment announces any other state at its position
	}
}

// neverBegan opens and ends a run that has the thread and was over before its first segment. The record has
// no entries of such a run.
func (p *Projection) neverBegan(in wire.StateChange) {
	if p.open || p.o.RunID != "" || in.RunID == p.run || !in.State.Terminal() {
		return
	}
	s := p.load()
	r, ok := RunOf(s.Snapshot, in.RunID)
	if ok && s.Thread.RunID == in.RunID && r.Segments == 0 && r.State.Terminal() {
		p.show(in.RunID, Messages{Thread: s, All: true})
		p.ended(r)
	}
}

// threadDeleted ends the run, even if it waits for answers.
func (p *Projection) threadDeleted() {
	if p.asked {
		p.begin(p.run)
	}
	if p.open {
		p.fail(p.run, StopDeleted, "the thread was deleted")
	}
}

// StopDeleted is the stop reason of a run whose thread was deleted.
const StopDeleted wire.StopReason = "deleted"
