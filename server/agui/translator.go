package agui

import (
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
)

// Options say for whom a [Translator] translates.
type Options struct {
	// Load returns the thread as it is now, in [Form]. It is called where frames alone do not
	// tell: when a run starts, for what was said before it, and when a segment has failed, for
	// whether the run has. The caller releases what it has loaded once the events are sent.
	// Required.
	Load func() (*engine.FormedSnapshot, error)
	// RunID is the only run that the client wants to see; the translator is done when it
	// is over. Empty: all runs.
	RunID spool.RunID
	// ClientRunID is what the client calls RunID. Defaults to RunID.
	ClientRunID string
	// From is RunID as it was when the client started it, or answered what it waited for: the
	// client is to see all that the run says from there on. Nil: the client is shown the thread
	// as it is.
	From *spool.Run
	// Results are those that the client has given to calls of From, so that it knows them.
	Results []ClientResult
	// Connect shows a run that was over before as an end without an error, as a page which is opened
	// did not fail. The state tells how the run has ended.
	Connect bool
	// State says what is done with the client's state.
	State StateUse
}

// Translator makes events of a thread's frames. It is for one client and one goroutine.
type Translator struct {
	o      Options
	thread spool.ThreadID
	states states
	parks  parks
	step   step

	run  spool.RunID // of the open run, or of the last one
	open bool        // whether the client is in a run
	done bool
	// began is true once the client has the prelude.
	began bool
	// asked is true while an interrupt is the last event that the client has of the run.
	asked bool
	// missed is true when the client has not seen events of another run.
	missed bool
	// segment is the number of the run's last segment that the client has seen, and
	// inSegment is true until its end.
	segment   int
	inSegment bool
	// unsaved is true when the segment has streamed something that no message has.
	unsaved bool
	// end is the last item of the segment. Its events follow when the record has the end too.
	end *spool.Item
	// waiting are custom events that came between two runs, where there can be none.
	waiting []Event
}

// New returns a translator. The first thing that it is given is a snapshot: see
// [Translator.Prelude].
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

// runID returns what the client calls the run.
func (t *Translator) runID() string {
	if t.o.RunID == t.run && t.o.ClientRunID != "" {
		return t.o.ClientRunID
	}
	return string(t.run)
}

// takeWaiting returns the custom events that were kept for the next run.
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

// maxWaiting bounds what is kept for the next run, which may never come.
const maxWaiting = 100
