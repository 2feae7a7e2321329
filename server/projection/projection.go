package projection

import (
	"encoding/json"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
	"github.com/spoolhq/spool/wire/fold"
)

// Options describe the client of a [Projection].
type Options struct {
	// Load returns the present thread, in the form of the wire. The projection calls it when frames alone are
	// not enough: when a run starts, to get the messages before it, and when a segment has failed, to see
	// whether the run has failed too. The caller of the projection releases the result after it has used the
	// changes. Required.
	Load func() (*wire.FormedSnapshot, error)
	// RunID is the only run that the client wants to see. The projection is done when that run is over.
	// Empty: all runs.
	RunID spool.RunID
	// From is the state of RunID when the client started it or answered it. The client then sees everything
	// that the run says from there on. Nil: the client sees the thread as it is.
	From *wire.Run
	// Results are the results that the client has sent for calls of From, and so knows.
	Results []Given
}

// Given is a result that the client gave to a call.
type Given struct {
	ToolCallID spool.ToolCallID
	Payload    json.RawMessage
	// Nested is true if a nested run made the call.
	Nested bool
}

// Projection turns the frames of a thread into changes. It is for one client and one goroutine.
type Projection struct {
	o      Options
	out    changes
	thread spool.ThreadID
	// state is the last one that the client has got.
	state ThreadState
	parks fold.Parks
	step  step
	// err is the first error, after which nothing counts.
	err error

	run  spool.RunID // of the open run, or of the last one
	open bool        // whether the client is in a run
	done bool
	// began is true after the client has got the prelude.
	began bool
	// asked is true while what the run waits for is the client's last change of the run.
	asked bool
	// missed is true if the client has not seen changes of another run.
	missed bool
	// segment is the number of the last segment that the client has seen of the run. inSegment is true until
	// that segment's end.
	segment   int
	inSegment bool
	// unsaved is true if the segment has streamed content that no message has.
	unsaved bool
	// end is the last item of the segment. Its changes follow when the record has the segment's end too.
	end *fold.StreamEnded
	// waiting are changes that came between two runs.
	waiting []Change
}

// changes are the changes of one call.
type changes []Change

func (c *changes) add(more ...Change) { *c = append(*c, more...) }

// New returns a projection. Give it a snapshot first: see [Projection.Prelude].
func New(o Options) *Projection { return &Projection{o: o} }

// Done reports whether there are no more changes.
func (p *Projection) Done() bool { return p.done }

// Run returns the run that is open, or was last open, and whether it is open.
func (p *Projection) Run() (run spool.RunID, open bool) { return p.run, p.open }

// load returns the present thread. After an error it is an empty one, whose changes no client gets: see
// [Projection.take].
func (p *Projection) load() *wire.FormedSnapshot {
	if p.err == nil {
		var s *wire.FormedSnapshot
		if s, p.err = p.o.Load(); p.err == nil {
			p.thread = s.Thread.ID
			return s
		}
	}
	return &wire.FormedSnapshot{Snapshot: &wire.Snapshot{}}
}

// drain returns the changes of a call.
func (p *Projection) drain() ([]Change, error) {
	if p.err != nil {
		return nil, p.err
	}
	out := p.out
	clear(out[len(out):cap(out)]) // of an earlier call
	if p.out = p.out[:0]; cap(p.out) > maxKept {
		p.out = nil
	}
	return out, nil
}

// maxKept bounds the changes for which an idle projection keeps room.
const maxKept = 16

// begin opens a run.
func (p *Projection) begin(run spool.RunID) {
	if run != p.run {
		p.step, p.parks, p.segment = step{run: run}, nil, 0
	}
	p.run, p.open, p.asked, p.end = run, true, false, nil
	p.out.add(RunOpened{Thread: p.thread, Run: run, Asked: p.o.RunID == run})
}

// show opens a run, unless it is open, with the messages before it and the changes that waited for it.
func (p *Projection) show(run spool.RunID, m Messages) {
	if !p.open {
		p.begin(run)
	}
	p.out.add(m)
	p.catchUpWaiting()
}

// changeState announces a new state, unless the client has it.
func (p *Projection) changeState(state ThreadState) {
	if state.State == "" || state == p.state {
		return
	}
	p.state = state
	p.out.add(StateChanged{state})
}

// catchUpWaiting adds the changes that waited for the next run.
func (p *Projection) catchUpWaiting() {
	p.out.add(p.waiting...)
	p.waiting = nil
}

// between adds a change, or keeps it for the next run.
func (p *Projection) between(c Change) {
	if p.open {
		p.out.add(c)
		return
	}
	if p.waiting = append(p.waiting, c); len(p.waiting) > maxWaiting {
		p.waiting = slices.Delete(p.waiting, 0, 1)
	}
}

// maxWaiting bounds the changes that wait for the next run, which may never come.
const maxWaiting = 100
