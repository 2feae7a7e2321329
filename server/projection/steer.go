package projection

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
	"github.com/spoolhq/spool/wire/fold"
)

// steered shows the message of a steer at its place between two steps. The client that sent the message, and waits
// for an answer to it, sees the rest of the run that reads it.
func (p *Projection) steered(e wire.Entry, in wire.Steered) {
	sender := p.o.RunID == in.SteerRunID && p.o.RunID != ""
	if !sender && (!p.open || p.run != in.RunID) {
		p.between(Steered{in, e.Payload})
		return
	}
	m := Messages{Thread: p.load(), Seq: e.Seq, Through: in.MessageID}
	if sender {
		p.switchRun(in.RunID)
		p.show(in.RunID, m)
		p.step = step{run: in.RunID, last: in.Steps}
		p.inSegment, p.missed, p.unsaved = true, false, false
		_, p.segment, _ = e.Stream.Split()
		p.changeState(ThreadState{State: wire.Running, RunID: in.RunID})
	} else {
		p.out.add(m)
	}
	p.out.add(Steered{in, e.Payload})
}

// switchRun shows another run to the client. If a run is open, the client sees its continuation as the other run.
func (p *Projection) switchRun(run spool.RunID) {
	p.o.RunID = run
	if p.open {
		p.run, p.parks, p.end = run, nil, nil
	}
}

// readerOf returns the active run that has read the message of a steer, or "". The caller knows that one has.
func readerOf(s *wire.Snapshot, steer spool.RunID) spool.RunID {
	for _, e := range s.ActiveEvents {
		payload, _ := fold.Entry(e)
		if in, ok := payload.(wire.Steered); ok && in.SteerRunID == steer {
			return in.RunID
		}
	}
	return ""
}
