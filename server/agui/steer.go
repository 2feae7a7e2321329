package agui

import (
	"github.com/spoolhq/spool"
)

// steered shows the message of a steer at its place between two steps. The client that sent the message, and waits
// for an answer to it, sees the rest of the run that reads it.
func (t *Translator) steered(e spool.Entry) ([]Event, error) {
	var p spool.Steered
	if err := decode(e, &p); err != nil {
		return nil, err
	}
	sender := t.o.RunID == p.SteerRunID && t.o.RunID != ""
	if !sender && (!t.open || t.run != p.RunID) {
		return t.emitCustom(custom(string(e.Type), e.Payload)), nil
	}
	s, err := t.o.Load()
	if err != nil {
		return nil, err
	}
	var events []Event
	if sender {
		t.thread = s.Thread.ID
		if t.goOver(p.RunID); !t.open {
			events = t.begin(p.RunID)
		}
		t.step = step{run: p.RunID, last: p.Steps}
		t.inSegment, t.missed, t.unsaved = true, false, false
		_, t.segment, _ = e.Stream.Split()
	}
	events = append(events, Messages{s.Before(e.Seq)})
	if sender {
		events = append(events, t.takeWaiting()...)
		events = append(events, t.states.change(ThreadState{State: spool.Running, RunID: p.RunID})...)
	}
	return append(events, custom(string(e.Type), e.Payload)), nil
}

// goOver makes another run the one that the client sees. A run that is open goes on as that run.
func (t *Translator) goOver(run spool.RunID) {
	t.o.RunID = run
	if t.open {
		t.run, t.parks, t.end = run, nil, nil
	}
}

// readerOf returns the active run that has read the message of a steer, or "". The caller knows that one has.
func readerOf(s *spool.Snapshot, steer spool.RunID) spool.RunID {
	for _, e := range s.ActiveEvents {
		var p spool.Steered
		if e.Type == spool.EntrySteered && decode(e, &p) == nil && p.SteerRunID == steer {
			return p.RunID
		}
	}
	return ""
}
