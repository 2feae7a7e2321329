package projection

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// steered shows the message of a steer at its place between two steps. The client that sent the message, and waits
// for an answer to it, sees the rest of the run that reads it.
func (p *Projection) steered(e wire.Entry) error {
	var in wire.Steered
	if err := decode(e, &in); err != nil {
		return err
	}
	sender := p.o.RunID == in.SteerRunID && p.o.RunID != ""
	if !sender && (!p.open || p.run != in.RunID) {
		p.between(Steered{in, e.Payload})
		return nil
	}
	s, err := p.o.Load()
	if err != nil {
		return err
	}
	if sender {
		p.thread = s.Thread.ID
		if p.goOver(in.RunID); !p.open {
			p.begin(in.RunID)
		}
		p.step = step{run: in.RunID, last: in.Steps}
		p.inSegment, p.missed, p.unsaved = true, false, false
		_, p.segment, _ = e.Stream.Split()
	}
	p.out.add(Messages{Thread: s, Seq: e.Seq, Through: in.MessageID})
	if sender {
		p.catchUpWaiting()
		p.changeState(ThreadState{State: wire.Running, RunID: in.RunID})
	}
	p.out.add(Steered{in, e.Payload})
	return nil
}

// goOver makes another run the one that the client sees. A run that is open goes on as that run.
func (p *Projection) goOver(run spool.RunID) {
	p.o.RunID = run
	if p.open {
		p.run, p.parks, p.end = run, nil, nil
	}
}

// readerOf returns the active run that has read the message of a steer, or "". The caller knows that one has.
func readerOf(s *wire.Snapshot, steer spool.RunID) spool.RunID {
	for _, e := range s.ActiveEvents {
		var in wire.Steered
		if e.Type == wire.EntrySteered && decode(e, &in) == nil && in.SteerRunID == steer {
			return in.RunID
		}
	}
	return ""
}
