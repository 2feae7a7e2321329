package agui

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
)

// become returns the events that bring any client to the snapshot. Have is how far it has
// read, of which only custom events make use: what they say is in no message.
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
	messages, customs, err := t.hear(s, r, have)
	if err != nil {
		return nil, err
	}
	if t.o.From != nil && r.ID == t.o.From.ID && r.Segments == t.o.From.Segments {
		if messages, err = t.given(messages); err != nil {
			return nil, err
		}
	}
	if !r.State.Terminal() {
		events = append(events, t.states.tell(ThreadState{State: r.State, RunID: id})...)
	}
	events = append(events, messages)
	events = append(events, t.step.reopen()...)
	events = append(events, append(t.told(), append(missed(s.Snapshot, have), customs...)...)...)
	switch {
	case r.State.Terminal():
		events = append(events, t.ended(r)...)
	case r.State == spool.WaitingForInput && len(t.parks) > 0:
		events = append(events, t.parked()...)
	}
	return events, nil
}

// missed returns the durable events of the application that a client at have lacks of a run that is
// not over: they are in no message, and no stream has them. Nil: nobody knows what it lacks.
func missed(s *spool.Snapshot, have *spool.Cursor) (events []Event) {
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

// BeganSince reports whether the run of [Options.From] has gone on before the snapshot was
// made, and has the thread still. A client that is to see all of it then begins with
// [Translator.Replay].
func (t *Translator) BeganSince(s *engine.FormedSnapshot) bool {
	if t.o.From == nil || s.Thread.RunID != t.o.From.ID {
		return false
	}
	r, ok := runOf(s.Snapshot, t.o.From.ID)
	return ok && r.Segments > t.o.From.Segments
}

// Replay is [Translator.Prelude] for a client that comes later than the run of
// [Options.From] went on. It returns what the client would have been told before that. At is
// the place right before the run's next segment. The frames behind it come next.
func (t *Translator) Replay(s *engine.FormedSnapshot, at spool.Cursor) ([]Event, error) {
	t.thread = s.Thread.ID
	events := t.begin(t.o.From.ID)
	t.step.last, t.segment = t.o.From.Steps, t.o.From.Segments
	events = append(events, t.states.tell(ThreadState{State: spool.Queued, RunID: t.o.From.ID})...)
	messages, err := t.given(Messages{s.Before(max(at.Seq, 0))})
	return append(events, messages), err
}
