package agui

import (
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
)

// Options describe the client of a [Translator].
type Options struct {
	// Load returns the present thread, in [Form]. The translator calls it when frames alone are not enough:
	// when a run starts, to get the messages before it, and when a segment has failed, to see whether the run
	// has failed too. The caller of the translator releases the result after it has sent the events.
	// Required.
	Load func() (*engine.FormedSnapshot, error)
	// RunID is the only run that the client wants to see. The translator is done when that run is over.
	// Empty: all runs.
	RunID spool.RunID
	// ClientRunID is the client's id of RunID. Defaults to RunID.
	ClientRunID string
	// From is the state of RunID when the client started it or answered it. The client then sees everything
	// that the run says from there on. Nil: the client sees the thread as it is.
	From *spool.Run
	// Results are the results that the client has sent for calls of From, and so knows.
	Results []ClientResult
	// Connect shows a run that was over before the connection as an end without an error, because opening a
	// page did not fail. The state says how the run ended.
	Connect bool
	// State says how to treat the client's state.
	State StateUse
}

// Translator turns the frames of a thread into events. It is for one client and one goroutine.
type Translator struct {
	o      Options
	thread spool.ThreadID
	states states
	parks  parks
	step   step

	run  spool.RunID // of the open run, or of the last one
	open bool        // whether the client is in a run
	done bool
	// began is true after the client has got the prelude.
	began bool
	// asked is true while an interrupt is the client's last event of the run.
	asked bool
	// missed is true if the client has not seen events of another run.
	missed bool
	// segment is the number of the last segment that the client has seen of the run. inSegment is true until
	// that segment's end.
	segment   int
	inSegment bool
	// unsaved is true if the segment has streamed content that no message has.
	unsaved bool
	// end is the last item of the segment. Its events follow when the record has the segment's end too.
	end *spool.Item
	// waiting are custom events that came between two runs, where the protocol allows no events.
	waiting []Event
}

// New returns a translator. Give it a snapshot first: see [Translator.Prelude].
func New(o Options) *Translator {
	if o.ClientRunID == "" {
		o.ClientRunID = string(o.RunID)
	}
	return &Translator{o: o, states: states{use: o.State}}
}

// Done reports whether there are no more events.
func (t *Translator) Done() bool { return t.done }

// begin opens a run.
func (t *Translator) begin(run spool.RunID) []Event {
	if run != t.run {
		t.step, t.parks, t.segment = step{run: run}, nil, 0
	}
	t.run, t.open, t.asked, t.end = run, true, false, nil
	started := RunStarted{ThreadID: t.thread, RunID: t.runID(), ProtocolVersion: Version}
	if started.RunID != string(run) {
		started.Metadata = &Metadata[OwnRun]{OwnRun{run}}
	}
	return []Event{started}
}

// runID returns the client's id of the run.
func (t *Translator) runID() string {
	if t.o.RunID == t.run && t.o.ClientRunID != "" {
		return t.o.ClientRunID
	}
	return string(t.run)
}

// takeWaiting returns the custom events that waited for the next run, and forgets them.
func (t *Translator) takeWaiting() []Event {
	events := t.waiting
	t.waiting = nil
	return events
}

// emitCustom adds a custom event, or keeps it for the next run.
func (t *Translator) emitCustom(e Event) []Event {
	if t.open {
		return []Event{e}
	}
	if t.waiting = append(t.waiting, e); len(t.waiting) > maxWaiting {
		t.waiting = slices.Delete(t.waiting, 0, 1)
	}
	return nil
}

// maxWaiting bounds the custom events that wait for the next run, which may never come.
const maxWaiting = 100
