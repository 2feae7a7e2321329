package projection

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// Frame returns the changes of a frame, which are valid until the next call. Call it with the frames of a
// thread in their order. It returns the error of [Options.Load], or an error for a frame that cannot be
// decoded, and after that nothing else. The caller releases the frame's snapshot as it releases the snapshots of
// [Options.Load].
func (p *Projection) Frame(f wire.FormedFrame) ([]Change, error) {
	p.began = true
	switch {
	case p.done || p.err != nil:
	case f.Formed != nil:
		p.become(f.Formed, nil)
	case f.Kind == wire.FrameSnapshot:
		p.retracted(f.Snapshot)
	case f.Kind == wire.FrameStream:
		p.item(f.StreamID, *f.Item)
	default:
		p.entry(*f.Event)
	}
	return p.drain()
}

// retracted applies the snapshot of one run: only what the messages have counts of what the run's segment
// said. In a segment, the client gets [TakenBack] when the segment ends, which comes next. Between two
// segments, where waiting calls of the run got their results, the client gets the messages at once. If the
// run waited for answers, the client gets the run's end.
func (p *Projection) retracted(s *wire.Snapshot) {
	switch {
	case !isAbout(s, p.run):
	case !p.open:
		p.lookAgain()
	case p.inSegment:
		p.unsaved = true
	default:
		p.out.add(Messages{Thread: p.load(), All: true})
	}
}

// isAbout reports whether the snapshot of one run is about this run.
func isAbout(s *wire.Snapshot, run spool.RunID) bool {
	if s.Stream != nil {
		return s.Stream.RunID == run
	}
	_, ok := RunOf(s, run)
	return ok
}

// retract makes a client drop what was streamed and not saved.
func (p *Projection) retract(seq int64) {
	s := p.load()
	p.o.Results = nil // the client gets them from the thread
	left := p.step
	p.step.abort(&p.out)
	p.out.add(
		TakenBack{Run: p.run, Step: left.number, Opened: left.open, Reasonings: left.reasonings},
		Messages{Thread: s, Seq: seq},
	)
}

// retractUnsaved retracts what a segment has streamed, if the segment has left anything unsaved.
func (p *Projection) retractUnsaved(seq int64) {
	if p.unsaved {
		p.retract(seq)
	}
}
