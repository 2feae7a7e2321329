package agui

import (
	"cmp"
	"encoding/json"

	"github.com/spoolhq/spool"
)

// entry returns the events of a record entry or a notice.
func (t *Translator) entry(e spool.Entry) ([]Event, error) {
	if t.parks.apply(e) && t.asked && len(t.parks) > 0 {
		return t.askAgain(e)
	}
	switch e.Type {
	case spool.EntryRunStarted:
		return t.runStarted(e)
	case spool.EntryRunEnded:
		return t.runEnded(e)
	case spool.EntryRunRefused:
		return t.runRefused(e)
	case spool.EntrySteered:
		return t.steered(e)
	case spool.NoticeStateChange:
		return t.stateChange(e)
	case spool.NoticeThreadDeleted:
		return t.threadDeleted(), nil
	case spool.EntryInputRequired, spool.NoticeMessageAppended:
		return nil, nil // the run's end shows questions, and its start shows user turns
	default:
		return t.emitCustom(custom(string(e.Type), e.Payload).publishedBy(e.PublishedBy, e.PublishedByTool)), nil
	}
}

func decode(e spool.Entry, into any) error {
	if err := json.Unmarshal(e.Payload, into); err != nil {
		return &spool.Error{Code: spool.Internal, Message: "a " + string(e.Type) + " entry cannot be read", Err: err}
	}
	return nil
}

// runStarted opens the run, unless it is open. It also sends the messages of that position in the record: the
// user turn of the run, and what an edit has left.
func (t *Translator) runStarted(e spool.Entry) ([]Event, error) {
	var p spool.RunStarted
	if err := decode(e, &p); err != nil {
		return nil, err
	}
	if t.o.RunID != "" && p.RunID != t.o.RunID {
		t.missed = true
		return t.lookAgain()
	}
	var events []Event
	if !t.open || t.run != p.RunID || t.missed {
		s, err := t.o.Load()
		if err != nil {
			return nil, err
		}
		t.thread, t.missed = s.Thread.ID, false
		if t.open && t.run != p.RunID {
			events = t.overtaken(s.Snapshot)
		}
		if !t.open {
			events = append(events, t.begin(p.RunID)...)
		}
		events = append(events, Messages{s.Before(e.Seq - 1)})
		events = append(events, t.takeWaiting()...)
	}
	t.segment, t.inSegment, t.end, t.unsaved = p.Segment, true, nil, false
	return append(events, t.states.change(ThreadState{State: spool.Running, RunID: p.RunID})...), nil
}

// overtaken ends the open run because another one has the thread.
func (t *Translator) overtaken(s *spool.Snapshot) []Event {
	r, ok := runOf(s, t.run)
	if !ok || !r.State.Terminal() {
		r = spool.Run{ID: t.run, State: spool.Cancelled}
	}
	t.segment = r.Segments // no further events of this run come
	return t.ended(r)
}

// lookAgain ends the open run, or the run that waits for answers, if its record says that it is over.
func (t *Translator) lookAgain() ([]Event, error) {
	if !t.open {
		return t.unanswered()
	}
	if t.inSegment {
		return nil, nil
	}
	s, err := t.o.Load()
	if err != nil {
		return nil, err
	}
	r, ok := runOf(s.Snapshot, t.run)
	if !ok || r.StopReason == spool.StopSteered { // the entry about its message follows
		return nil, nil
	}
	return t.ended(r), nil
}

// unanswered opens the run that waits for answers once more and ends it, if its record says that it is over:
// nobody can answer it any more.
func (t *Translator) unanswered() ([]Event, error) {
	if !t.asked {
		return nil, nil
	}
	s, err := t.o.Load()
	if err != nil {
		return nil, err
	}
	r, ok := runOf(s.Snapshot, t.run)
	if !ok || !r.State.Terminal() || r.Segments > t.segment {
		return nil, nil
	}
	events := append(t.begin(t.run), Messages{s.All()})
	return append(append(events, t.takeWaiting()...), t.ended(r)...), nil
}

// askAgain opens the run that waits for answers once more and ends it with its present questions. An entry of
// the record has changed them: one of several calls has an answer, or a call has more time.
func (t *Translator) askAgain(e spool.Entry) ([]Event, error) {
	s, err := t.o.Load()
	if err != nil {
		return nil, err
	}
	if e.Type != spool.EntryInputRequired {
		t.emitCustom(custom(string(e.Type), e.Payload).publishedBy(e.PublishedBy, e.PublishedByTool))
	}
	events := append(t.begin(t.run), Messages{s.Before(e.Seq)})
	return append(append(events, t.takeWaiting()...), t.parked()...), nil
}

// runEnded ends the run, or announces that a failed segment is retried.
func (t *Translator) runEnded(e spool.Entry) ([]Event, error) {
	var p spool.RunEnded
	if err := decode(e, &p); err != nil {
		return nil, err
	}
	if !t.open || p.RunID != t.run {
		return nil, nil
	}
	t.segment, t.inSegment = p.Segment, false
	var end spool.StreamFinished
	if t.end != nil {
		_ = t.end.Decode(&end) // without it, only the usage is missing
		t.end = nil
	}
	switch p.Status {
	case spool.SegmentFinished:
		events, err := t.unlearnRest(e.Seq)
		return append(events, t.finishedWith(p.Output, ThreadState{State: spool.Completed, RunID: t.run, StopReason: cmp.Or(end.FinishReason, p.StopReason)}, end.Usage)...), err
	case spool.SegmentStopped:
		events, err := t.unlearn(e.Seq)
		return append(events, t.finished(ThreadState{State: spool.Cancelled, RunID: t.run, StopReason: spool.StopCancelled}, Outcome{Type: OutcomeCancelled}, end.Usage)...), err
	case spool.SegmentParked:
		events, err := t.unlearnRest(e.Seq)
		return append(events, t.parked()...), err
	default:
		return t.segmentFailed(e, p)
	}
}

// segmentFailed ends the run if it failed with its segment. Otherwise the client unlearns what the segment
// streamed and did not save, and waits for the next segment. If the segment ended between two steps, as when
// its run makes room for another tenant, there is nothing to unlearn.
func (t *Translator) segmentFailed(e spool.Entry, ended spool.RunEnded) ([]Event, error) {
	unlearn := t.unlearn
	if ended.Status == spool.SegmentLost && t.step.name == "" {
		unlearn = t.unlearnRest
	}
	events, err := unlearn(e.Seq)
	if err != nil {
		return nil, err
	}
	s, err := t.o.Load()
	if err != nil {
		return nil, err
	}
	events = append(events, custom(string(e.Type), e.Payload))
	r, ok := runOf(s.Snapshot, t.run)
	if !ok { // the run is too old for the snapshot
		r = spool.Run{ID: t.run, State: spool.Failed, Error: ended.Error, StopReason: spool.StopFailed}
	}
	if r.State == spool.Queued {
		events = append(events, t.states.change(ThreadState{State: r.State, RunID: r.ID})...)
	}
	return append(events, t.ended(r)...), nil
}

// runRefused ends a run that never had a segment.
func (t *Translator) runRefused(e spool.Entry) ([]Event, error) {
	var p spool.RunRefused
	if err := decode(e, &p); err != nil {
		return nil, err
	}
	if p.RunID == "" {
		p.RunID = e.RunID
	}
	if t.o.RunID != "" && p.RunID != t.o.RunID {
		return nil, nil
	}
	var events []Event
	if !t.open {
		s, err := t.o.Load()
		if err != nil {
			return nil, err
		}
		t.thread = s.Thread.ID
		events = append(t.begin(p.RunID), Messages{s.Before(e.Seq)})
	}
	return append(events, t.failed(ThreadState{
		State: spool.Failed, RunID: p.RunID, StopReason: spool.StopReason(p.Reason), Error: p.Error,
	}, nil)...), nil
}

// stateChange returns the event of a new state. A run can also end this way between two segments: no worker
// claims a run in order to stop it.
func (t *Translator) stateChange(e spool.Entry) ([]Event, error) {
	var p spool.StateChange
	if err := decode(e, &p); err != nil {
		return nil, err
	}
	switch {
	case t.inSegment: // the segment's end announces the next state
		return nil, nil
	case p.RunID != t.run, p.State.Terminal():
		events, err := t.lookAgain()
		if err != nil {
			return nil, err
		}
		more, err := t.neverBegan(p)
		return append(events, more...), err
	case !t.open:
		return nil, nil
	case p.State == spool.Queued:
		return t.states.change(ThreadState{State: p.State, RunID: p.RunID}), nil
	default:
		return nil, nil // the next segment announces the state at its position
	}
}

// neverBegan opens and ends a run that has the thread and was over before its first segment. The record has
// no entries of such a run.
func (t *Translator) neverBegan(p spool.StateChange) ([]Event, error) {
	if t.open || t.o.RunID != "" || p.RunID == t.run || !p.State.Terminal() {
		return nil, nil
	}
	s, err := t.o.Load()
	if err != nil {
		return nil, err
	}
	r, ok := runOf(s.Snapshot, p.RunID)
	if !ok || s.Thread.RunID != p.RunID || r.Segments > 0 || !r.State.Terminal() {
		return nil, nil
	}
	t.thread = s.Thread.ID
	events := append(t.begin(p.RunID), Messages{s.All()})
	return append(append(events, t.takeWaiting()...), t.ended(r)...), nil
}

// threadDeleted ends the run, even if it waits for answers.
func (t *Translator) threadDeleted() (events []Event) {
	switch {
	case t.asked:
		events = t.begin(t.run)
	case !t.open:
		return nil
	}
	return append(events, t.failed(ThreadState{State: spool.Failed, RunID: t.run, StopReason: "deleted", Error: "the thread was deleted"}, nil)...)
}
