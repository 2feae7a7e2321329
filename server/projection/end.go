package projection

import (
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// finish ends the run for the viewer, and closes everything that is open in it. The caller sets the outcome
// and what it has.
func (p *Projection) finish(end RunEnded) {
	p.step.abort(&p.out)
	if end.Outcome == Waits {
		p.out.add(Asked{end.Parks})
	}
	p.changeState(end.State)
	p.close()
	end.Thread, end.Run = p.thread, p.run
	p.out.add(end)
}

func (p *Projection) close() {
	p.open, p.inSegment, p.asked, p.end = false, false, false, nil
	p.done = p.o.RunID != ""
}

// ended ends the run as its record says, if the run is over for the viewer and the client has seen all of it.
func (p *Projection) ended(r wire.Run) {
	if !r.State.Terminal() || r.Segments > p.segment {
		return
	}
	end := RunEnded{
		State: ThreadState{State: r.State, RunID: r.ID, StopReason: r.StopReason, Error: r.Error}, Usage: &r.TokenCount, Old: !p.began,
		Expired: r.Expired,
	}
	switch r.State {
	case wire.Failed:
		end.Outcome = Failed
	case wire.Cancelled:
		end.Outcome = Cancelled
	default:
	}
	p.finish(end)
}

// parked ends the run with the parks that it waits for. A run without parks continues.
func (p *Projection) parked() {
	if len(p.parks) == 0 {
		return
	}
	p.finish(RunEnded{
		Outcome: Waits, State: ThreadState{State: wire.WaitingForInput, RunID: p.run}, Parks: slices.Clone(p.parks),
	})
	p.asked = true
}

// Leave ends the stream of a run because the server shuts down while the run continues. The projection is done
// after it. The changes are valid until the next call.
func (p *Projection) Leave() []Change {
	if p.open {
		p.step.abort(&p.out)
		p.close()
		p.out.add(RunEnded{Thread: p.thread, Run: p.run, Outcome: Left})
	}
	out, _ := p.take(nil)
	return out
}

// endsUnrecorded reports whether the run may have ended without an entry in the record: a run that is stopped
// or fails between two segments has none.
func endsUnrecorded(s *wire.Snapshot, id spool.RunID) bool {
	r, ok := RunOf(s, id)
	return ok && (r.State == wire.Cancelled || r.State == wire.Failed)
}
