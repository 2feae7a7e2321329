package projection

import (
	"cmp"
	"encoding/json"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// entry adds the changes of a record entry or a notice.
func (p *Projection) entry(e wire.Entry) error {
	if p.parks.apply(e) && p.asked && len(p.parks) > 0 {
		return p.askAgain(e)
	}
	switch e.Type {
	case wire.EntryRunStarted:
		return p.runStarted(e)
	case wire.EntryRunEnded:
		return p.runEnded(e)
	case wire.EntryRunRefused:
		return p.runRefused(e)
	case wire.EntrySteered:
		return p.steered(e)
	case wire.NoticeStateChange:
		return p.stateChange(e)
	case wire.NoticeThreadDeleted:
		p.threadDeleted()
		return nil
	case wire.EntryInputRequired, wire.NoticeMessageAppended:
		return nil // the run's end shows questions, and its start shows user turns
	default:
		p.between(customEntry(e))
		return nil
	}
}

// customEntry returns the change of an entry that has none of its own.
func customEntry(e wire.Entry) Custom {
	return Custom{string(e.Type), e.Payload, e.Published, e.PublishedBy, e.PublishedByTool}
}

func decode(e wire.Entry, into any) error {
	if err := json.Unmarshal(e.Payload, into); err != nil { //nolint:forbidigo // a saved entry
		return &spool.Error{Code: spool.Internal, Message: "a " + string(e.Type) + " entry cannot be read", Err: err}
	}
	return nil
}

// runStarted opens the run, unless it is open. It also adds the messages of that position in the record: the
// user turn of the run, and what an edit has left.
func (p *Projection) runStarted(e wire.Entry) error {
	var in wire.RunStarted
	if err := decode(e, &in); err != nil {
		return err
	}
	if p.o.RunID != "" && in.RunID != p.o.RunID {
		p.missed = true
		return p.lookAgain()
	}
	if !p.open || p.run != in.RunID || p.missed {
		s, err := p.o.Load()
		if err != nil {
			return err
		}
		p.thread, p.missed = s.Thread.ID, false
		if p.open && p.run != in.RunID {
			p.overtaken(s.Snapshot)
		}
		if !p.open {
			p.begin(in.RunID)
		}
		p.out.add(Messages{Thread: s, Seq: e.Seq - 1})
		p.catchUpWaiting()
	}
	p.segment, p.inSegment, p.end, p.unsaved = in.Segment, true, nil, false
	p.changeState(ThreadState{State: wire.Running, RunID: in.RunID})
	return nil
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

// lookAgain ends the open run, or the run that waits for answers, if its record says that it is over.
func (p *Projection) lookAgain() error {
	if !p.open {
		return p.unanswered()
	}
	if p.inSegment {
		return nil
	}
	s, err := p.o.Load()
	if err != nil {
		return err
	}
	r, ok := RunOf(s.Snapshot, p.run)
	if ok && r.StopReason != wire.StopSteered { // else the entry about its message follows
		p.ended(r)
	}
	return nil
}

// unanswered opens the run that waits for answers once more and ends it, if its record says that it is over:
// nobody can answer it any more.
func (p *Projection) unanswered() error {
	if !p.asked {
		return nil
	}
	s, err := p.o.Load()
	if err != nil {
		return err
	}
	r, ok := RunOf(s.Snapshot, p.run)
	if !ok || !r.State.Terminal() || r.Segments > p.segment {
		return nil
	}
	p.begin(p.run)
	p.out.add(Messages{Thread: s, All: true})
	p.catchUpWaiting()
	p.ended(r)
	return nil
}

// askAgain opens the run that waits for answers once more and ends it with its present questions. An entry of
// the record has changed them: one of several calls has an answer, or a call has more time.
func (p *Projection) askAgain(e wire.Entry) error {
	s, err := p.o.Load()
	if err != nil {
		return err
	}
	if e.Type != wire.EntryInputRequired {
		p.between(customEntry(e))
	}
	p.begin(p.run)
	p.out.add(Messages{Thread: s, Seq: e.Seq})
	p.catchUpWaiting()
	p.parked()
	return nil
}

// runEnded ends the run, or announces that a failed segment is retried.
func (p *Projection) runEnded(e wire.Entry) error {
	var in wire.RunEnded
	if err := decode(e, &in); err != nil {
		return err
	}
	if !p.open || in.RunID != p.run {
		return nil
	}
	p.segment, p.inSegment = in.Segment, false
	var end wire.StreamFinished
	if p.end != nil {
		_ = p.end.Decode(&end) // without it, only the usage is missing
		p.end = nil
	}
	switch in.Status {
	case wire.SegmentFinished:
		if err := p.takeRestBack(e.Seq); err != nil {
			return err
		}
		p.finish(RunEnded{
			State: ThreadState{State: wire.Completed, RunID: p.run, StopReason: cmp.Or(end.FinishReason, in.StopReason)},
			Usage: end.Usage, Output: in.Output, Expired: in.Expired,
		})
	case wire.SegmentStopped:
		if err := p.takeBack(e.Seq); err != nil {
			return err
		}
		p.finish(RunEnded{
			Outcome: Cancelled, State: ThreadState{State: wire.Cancelled, RunID: p.run, StopReason: wire.StopCancelled}, Usage: end.Usage,
			Expired: in.Expired,
		})
	case wire.SegmentParked:
		if err := p.takeRestBack(e.Seq); err != nil {
			return err
		}
		p.parked()
	default:
		return p.segmentFailed(e, in)
	}
	return nil
}

// segmentFailed ends the run if it failed with its segment. Otherwise the client forgets what the segment
// streamed and did not save, and waits for the next segment. If the segment ended between two steps, as when
// its run makes room for another tenant, there is nothing to forget.
func (p *Projection) segmentFailed(e wire.Entry, ended wire.RunEnded) error {
	takeBack := p.takeBack
	if ended.Status == wire.SegmentLost && !p.step.open {
		takeBack = p.takeRestBack
	}
	if err := takeBack(e.Seq); err != nil {
		return err
	}
	s, err := p.o.Load()
	if err != nil {
		return err
	}
	p.out.add(SegmentFailed{ended, e.Payload})
	r, ok := RunOf(s.Snapshot, p.run)
	if !ok { // the run is too old for the snapshot
		r = wire.Run{ID: p.run, State: wire.Failed, Error: ended.Error, StopReason: wire.StopFailed, Expired: ended.Expired}
	}
	if r.State == wire.Queued {
		p.changeState(ThreadState{State: r.State, RunID: r.ID})
	}
	p.ended(r)
	return nil
}

// runRefused ends a run that never had a segment.
func (p *Projection) runRefused(e wire.Entry) error {
	var in wire.RunRefused
	if err := decode(e, &in); err != nil {
		return err
	}
	if in.RunID == "" {
		in.RunID = e.RunID
	}
	if p.o.RunID != "" && in.RunID != p.o.RunID {
		return nil
	}
	if !p.open {
		s, err := p.o.Load()
		if err != nil {
			return err
		}
		p.thread = s.Thread.ID
		p.begin(in.RunID)
		p.out.add(Messages{Thread: s, Seq: e.Seq})
	}
	p.finish(RunEnded{Outcome: Failed, State: ThreadState{
		State: wire.Failed, RunID: in.RunID, StopReason: wire.StopReason(in.Reason), Error: in.Error,
	}})
	return nil
}

// stateChange adds a new state. A run can also end this way between two segments: no worker claims a run in
// order to stop it.
func (p *Projection) stateChange(e wire.Entry) error {
	var in wire.StateChange
	if err := decode(e, &in); err != nil {
		return err
	}
	switch {
	case p.inSegment: // the segment's end announces the next state
		return nil
	case in.RunID != p.run, in.State.Terminal():
		if err := p.lookAgain(); err != nil {
			return err
		}
		return p.neverBegan(in)
	case p.open && in.State == wire.Queued:
		p.changeState(ThreadState{State: in.State, RunID: in.RunID})
	}
	return nil // the next segment announces any other state at its position
}

// neverBegan opens and ends a run that has the thread and was over before its first segment. The record has
// no entries of such a run.
func (p *Projection) neverBegan(in wire.StateChange) error {
	if p.open || p.o.RunID != "" || in.RunID == p.run || !in.State.Terminal() {
		return nil
	}
	s, err := p.o.Load()
	if err != nil {
		return err
	}
	r, ok := RunOf(s.Snapshot, in.RunID)
	if !ok || s.Thread.RunID != in.RunID || r.Segments > 0 || !r.State.Terminal() {
		return nil
	}
	p.thread = s.Thread.ID
	p.begin(in.RunID)
	p.out.add(Messages{Thread: s, All: true})
	p.catchUpWaiting()
	p.ended(r)
	return nil
}

// threadDeleted ends the run, even if it waits for answers.
func (p *Projection) threadDeleted() {
	switch {
	case p.asked:
		p.begin(p.run)
	case !p.open:
		return
	}
	p.finish(RunEnded{Outcome: Failed, State: ThreadState{
		State: wire.Failed, RunID: p.run, StopReason: StopDeleted, Error: "the thread was deleted",
	}})
}

// StopDeleted is the stop reason of a run whose thread was deleted.
const StopDeleted wire.StopReason = "deleted"
