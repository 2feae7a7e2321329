package agui

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
)

// Prelude returns the events that bring any client to the state of the snapshot. The frames after
// [spool.Snapshot.Cursor] follow. Have is the cursor of a client that reconnects, nil for other clients. A
// client that has seen everything to its end gets no events.
//
// If a run was stopped or failed, the record may lack its end. Then a cursor does not say whether the client
// has seen the end, and the client gets it again.
func (t *Translator) Prelude(s *engine.FormedSnapshot, have *spool.Cursor) ([]Event, error) {
	events, err := t.become(s, have)
	if err == nil && have != nil && !t.open && !t.done && have.Seq >= s.LastEventSeq && !endsUnrecorded(s.Snapshot, t.run) {
		events = nil
		t.states = states{use: t.o.State}
	}
	return events, err
}

// become returns the events that bring any client to the snapshot. Have is the client's position. It matters
// only for custom events, which no message has.
func (t *Translator) become(s *engine.FormedSnapshot, have *spool.Cursor) ([]Event, error) {
	t.thread = s.Thread.ID
	id := s.Thread.RunID
	if t.o.RunID != "" {
		id = t.o.RunID
	}
	r, ok := runOf(s.Snapshot, id)
	if !ok {
		return nil, nil
	}
	if r.StopReason == spool.StopSteered && id == t.o.RunID {
		if reader := readerOf(s.Snapshot, id); reader != "" {
			t.goOver(reader)
			return t.become(s, have)
		}
	}
	events := t.step.abort()
	if t.open && t.run != id {
		events = append(events, t.overtaken(s.Snapshot)...)
	}
	if t.open {
		t.end = nil
	} else {
		events = append(events, t.begin(id)...)
	}
	t.step = step{run: id, last: r.Steps}
	t.segment, t.inSegment = r.Segments, r.State == spool.Running
	t.missed = s.Thread.RunID != id
	t.parks = parksOf(s.Snapshot, id)
	messages, customs, err := t.catchUp(s, r, have)
	if err != nil {
		return nil, err
	}
	if t.o.From != nil && r.ID == t.o.From.ID && r.Segments == t.o.From.Segments {
		if messages, err = t.given(messages); err != nil {
			return nil, err
		}
	}
	if !r.State.Terminal() {
		events = append(events, t.states.change(ThreadState{State: r.State, RunID: id})...)
	}
	events = append(events, messages)
	events = append(events, t.step.reopen()...)
	events = append(events, append(t.takeWaiting(), append(missedEvents(s.Snapshot, have), customs...)...)...)
	switch {
	case r.State.Terminal():
		events = append(events, t.ended(r)...)
	case r.State == spool.WaitingForInput && len(t.parks) > 0:
		events = append(events, t.parked()...)
	}
	return events, nil
}

// missedEvents returns the application's durable events of the unfinished run that a client at have lacks: no
// message and no stream has them. If have is nil, it returns none, because nobody knows what the client
// lacks.
func missedEvents(s *spool.Snapshot, have *spool.Cursor) (events []Event) {
	if have == nil {
		return nil
	}
	for _, e := range s.ActiveEvents {
		if e.Seq > have.Seq && spool.CheckEventType(e.Type) == nil {
			events = append(events, custom(string(e.Type), e.Payload).publishedBy(e.PublishedBy, e.PublishedByTool))
		}
	}
	return events
}

// BeganSince reports whether the run of [Options.From] continued before the snapshot was made, and still has
// the thread. A client that has to see all of the run then begins with [Translator.Replay].
func (t *Translator) BeganSince(s *engine.FormedSnapshot) bool {
	if t.o.From == nil || s.Thread.RunID != t.o.From.ID {
		return false
	}
	r, ok := runOf(s.Snapshot, t.o.From.ID)
	return ok && r.Segments > t.o.From.Segments
}

// Replay is [Translator.Prelude] for a client that connects after the run of [Options.From] continued. It
// returns the events that a client would have got before that moment. At is the position directly before the
// run's next segment, and the frames after it follow.
func (t *Translator) Replay(s *engine.FormedSnapshot, at spool.Cursor) ([]Event, error) {
	t.thread = s.Thread.ID
	events := t.begin(t.o.From.ID)
	t.step.last, t.segment = t.o.From.Steps, t.o.From.Segments
	events = append(events, t.states.change(ThreadState{State: spool.Queued, RunID: t.o.From.ID})...)
	messages, err := t.given(Messages{s.Before(max(at.Seq, 0))})
	return append(events, messages), err
}

// given adds the results that the client has just sent to the messages of a run that has not continued yet. A
// page that sees the call without its result would execute the call again.
func (t *Translator) given(messages Messages) (Messages, error) {
	if len(t.o.Results) == 0 || t.o.From == nil {
		return messages, nil
	}
	var all []Message
	for _, r := range t.o.Results {
		if !r.nested {
			all = append(all, r.message(*t.o.From))
		}
	}
	text, err := appendMessages(nil, all)
	return messages.and(text), err
}
