package agui

import (
	"github.com/spoolhq/spool"
)

// become returns the events that bring any client to the snapshot. Have is how far it has
// read, of which only custom events make use: what they say is in no message.
func (t *Translator) become(s *spool.Snapshot, have *spool.Cursor) ([]Event, error) {
	t.thread = s.Thread.ID
	id := s.Thread.RunID
	if t.o.RunID != "" {
		id = t.o.RunID
	}
	r, ok := runOf(s, id)
	if !ok {
		return nil, nil
	}
	events := t.step.abort()
	if t.open && t.run != id {
		events = append(events, t.overtaken(s)...)
	}
	if t.open {
		t.end = nil
	} else {
		events = append(events, t.begin(id)...)
	}
	t.step = step{run: id, last: r.Steps}
	t.segment, t.inSegment = r.Segments, r.State == spool.Running
	t.missed = s.Thread.RunID != id
	t.parks = nil
	for _, e := range s.ActiveEvents {
		if e.RunID == id {
			t.parks.apply(e)
		}
	}
	said, customs, err := t.fold(s, r, have)
	if err != nil {
		return nil, err
	}
	if !r.State.Terminal() {
		events = append(events, t.states.tell(ThreadState{State: r.State, RunID: id})...)
	}
	events = append(events, Messages{reduce(saved(s.Messages), said)})
	events = append(events, t.step.reopen()...)
	events = append(events, append(t.told(), customs...)...)
	switch {
	case r.State.Terminal():
		events = append(events, t.ended(r)...)
	case r.State == spool.WaitingForInput && len(t.parks) > 0:
		events = append(events, t.parked()...)
	}
	return events, nil
}

// fold takes in what the segment has said and the messages lack. It returns the events
// that messages are made of, and custom ones that the client may not have.
func (t *Translator) fold(s *spool.Snapshot, r spool.Run, have *spool.Cursor) (said, customs []Event, err error) {
	if !t.inSegment || s.Stream == nil || s.Stream.StreamID != r.Stream() {
		return nil, nil, nil
	}
	for _, item := range s.Stream.Items {
		if item.Type == spool.ItemStepFinished && t.step.name == "" {
			continue // its content is in the messages
		}
		events, err := t.said(item)
		if err != nil {
			return nil, nil, err
		}
		known := have != nil && have.Stream == s.Stream.StreamID && item.Offset.Compare(have.Offset) <= 0
		for _, e := range events {
			c, ok := e.(Custom)
			switch {
			case !ok:
				said = append(said, e)
			case !known:
				customs = append(customs, c)
			}
		}
	}
	return said, customs, nil
}
