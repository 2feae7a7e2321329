package projection

import (
	"github.com/spoolhq/spool/wire"
	"github.com/spoolhq/spool/wire/fold"
)

// Prelude returns the changes that bring any client to the state of the snapshot. They are valid until the
// next call. The frames after [wire.Snapshot.Cursor] follow. Have is the cursor of a client that reconnects,
// nil for other clients. A client that has seen everything to its end gets no changes.
//
// If a run was stopped or failed, the record may lack its end. Then a cursor does not say whether the client
// has seen the end, and the client gets it again.
//
// The translators of packages agui and aisdk make the events of their protocols from the changes.
func (p *Projection) Prelude(s *wire.FormedSnapshot, have *wire.Cursor) ([]Change, error) {
	p.become(s, have)
	r, _ := RunOf(s.Snapshot, p.run)
	recorded := r.State != wire.Cancelled && r.State != wire.Failed // else it may have ended between two segments
	if have != nil && !p.open && !p.done && have.Seq >= s.LastEventSeq && recorded {
		p.out, p.state = p.out[:0], ThreadState{}
	}
	return p.drain()
}

// become adds the changes that bring any client to the snapshot. Have is the client's position. It matters
// only for changes that no message has.
func (p *Projection) become(s *wire.FormedSnapshot, have *wire.Cursor) {
	p.thread = s.Thread.ID
	id := s.Thread.RunID
	if p.o.RunID != "" {
		id = p.o.RunID
	}
	r, ok := RunOf(s.Snapshot, id)
	if !ok {
		return
	}
	if r.StopReason == wire.StopSteered && id == p.o.RunID {
		if reader := readerOf(s.Snapshot, id); reader != "" {
			p.switchRun(reader)
			p.become(s, have)
			return
		}
	}
	p.step.abort(&p.out)
	if p.open && p.run != id {
		p.overtaken(s.Snapshot)
	}
	if p.open {
		p.end = nil
	} else {
		p.begin(id)
	}
	p.step = step{run: id, last: r.Steps}
	p.segment, p.inSegment = r.Segments, r.State == wire.Running
	p.missed = s.Thread.RunID != id
	p.parks = fold.OpenIn(s.Snapshot).Of(id)
	messages, others := p.catchUp(s, r, have)
	if p.o.From != nil && r.ID == p.o.From.ID && r.Segments == p.o.From.Segments {
		messages = p.addClientResults(messages)
	}
	if !r.State.Terminal() {
		p.changeState(ThreadState{State: r.State, RunID: id})
	}
	p.out.add(messages)
	p.step.reopen(&p.out)
	p.catchUpWaiting()
	p.addMissed(s.Snapshot, have)
	p.out.add(others...)
	p.ended(r)
	if r.State == wire.WaitingForInput {
		p.parked()
	}
}

// addMissed adds the application's durable events of the unfinished run that a client at have lacks: no
// message and no stream has them. If have is nil, it adds none, because nobody knows what the client lacks.
func (p *Projection) addMissed(s *wire.Snapshot, have *wire.Cursor) {
	if have == nil {
		return
	}
	for _, e := range s.ActiveEvents {
		if e.Seq > have.Seq && e.Published {
			p.out.add(customEntry(e))
		}
	}
}

// BeganSince reports whether the run of [Options.From] continued before the snapshot was made, and still has
// the thread. A client that has to see all of the run then begins with [Projection.Replay].
func (p *Projection) BeganSince(s *wire.FormedSnapshot) bool {
	if p.o.From == nil || s.Thread.RunID != p.o.From.ID {
		return false
	}
	r, ok := RunOf(s.Snapshot, p.o.From.ID)
	return ok && r.Segments > p.o.From.Segments
}

// Replay is [Projection.Prelude] for a client that connects after the run of [Options.From] continued. It
// returns the changes that a client would have got before that moment. At is the position directly before the
// run's next segment, and the frames after it follow.
func (p *Projection) Replay(s *wire.FormedSnapshot, at wire.Cursor) ([]Change, error) {
	p.thread = s.Thread.ID
	p.begin(p.o.From.ID)
	p.step.last, p.segment = p.o.From.Steps, p.o.From.Segments
	p.changeState(ThreadState{State: wire.Queued, RunID: p.o.From.ID})
	p.out.add(p.addClientResults(Messages{Thread: s, Seq: max(at.Seq, 0)}))
	return p.drain()
}

// addClientResults adds the results that the client has just sent to the messages of a run that has not continued
// yet. A client that sees the call without its result would execute the call again.
func (p *Projection) addClientResults(messages Messages) Messages {
	if p.o.From == nil {
		return messages
	}
	messages.By = *p.o.From
	for _, r := range p.o.Results {
		if !r.Nested {
			messages.Given = append(messages.Given, r)
		}
	}
	return messages
}
