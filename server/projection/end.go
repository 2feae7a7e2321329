package projection

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
	"github.com/spoolhq/spool/wire/fold"
)

// finish ends the run for the viewer, and closes everything that is open in it. The caller sets the state and what
// comes with it.
func (p *Projection) finish(end RunEnded) {
	end.Outcome = outcomes[end.State.State]
	p.step.abort(&p.out)
	if end.Outcome == Waits {
		p.out.add(Asked{end.Parks})
	}
	p.changeState(end.State)
	p.close()
	end.Thread, end.Run = p.thread, p.run
	p.out.add(end)
}

var outcomes = map[wire.State]Outcome{
	wire.WaitingForInput: Waits, wire.Cancelled: Cancelled, wire.Failed: Failed, wire.Completed: Finished,
}

func (p *Projection) close() {
	p.open, p.inSegment, p.asked, p.end = false, false, false, nil
	p.done = p.o.RunID != ""
}

// fail ends the run with an error that its record may lack.
func (p *Projection) fail(run spool.RunID, reason wire.StopReason, why string) {
	p.finish(RunEnded{State: ThreadState{State: wire.Failed, RunID: run, StopReason: reason, Error: why}})
}

// over reports whether the run is over for the viewer and the client has seen all of it.
func (p *Projection) over(r wire.Run) bool { return r.State.Terminal() && r.Segments <= p.segment }

// ended ends the run as its record says, if it is over.
func (p *Projection) ended(r wire.Run) {
	if !p.over(r) {
		return
	}
	p.finish(RunEnded{
		State: ThreadState{State: r.State, RunID: r.ID, StopReason: r.StopReason, Error: r.Error}, Usage: &r.TokenCount,
		Old: !p.began, Expired: r.Expired,
	})
}

// parked ends the run with the parks that it waits for. A run without parks continues.
func (p *Projection) parked() {
	if len(p.parks) > 0 {
		p.finish(RunEnded{State: ThreadState{State: wire.WaitingForInput, RunID: p.run}, Parks: p.parks.Questions()})
		p.asked = true
	}
}

// Leave ends the stream of a run because the server shuts down while the run continues. The projection is done
// after it. The changes are valid until the next call.
func (p *Projection) Leave() []Change {
	if p.open {
		p.step.abort(&p.out)
		p.close()
		p.out.add(RunEnded{Thread: p.thread, Run: p.run, Outcome: Left})
	}
	out, _ := p.drain()
	return out
}

// Parks are the open questions of a run, in the order in which they came.
type Parks = []wire.InputRequired

// OpenParks returns the parks for which the thread of a snapshot waits.
func OpenParks(s *wire.Snapshot) Parks {
	if s.Thread.State != wire.WaitingForInput {
		return nil
	}
	return fold.OpenIn(s).Questions()
}

// ForClient reports whether the client must execute the call that waits, and nobody has to answer.
func ForClient(in wire.InputRequired) bool { return in.Reason == wire.ParkClientTool }
