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
	// began is true once the client has got all that there was when it came.
	began bool
	// asked is true while an interrupt is the last word that the client has of the run.
	asked bool
	// missed is true when the client was not told of another run.
	missed bool
	// segment is the number of the run's last segment that the client has seen, and
	// inSegment is true until its end.
	segment   int
	inSegment bool
	// unsaid is true when the segment has said something that no message has.
	unsaid bool
	// end is the last item of the segment, which is told when the record has the end too.
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

// Done reports whether there is nothing more to tell.
func (t *Translator) Done() bool { return t.done }

// Prelude returns the events that bring a client to where the snapshot is, whatever it
// has. The frames behind [spool.Snapshot.Cursor] come next. Have is the cursor of a client
// that comes back, nil for another: one that has seen the end of everything is told
// nothing. The record may lack the end of a run that was stopped or has failed, so that a
// cursor does not tell whether the client has seen that end: it is told again.
func (t *Translator) Prelude(s *engine.FormedSnapshot, have *spool.Cursor) ([]Event, error) {
	events, err := t.become(s, have)
	if err == nil && have != nil && !t.open && !t.done && have.Seq >= s.LastEventSeq && !endsUnrecorded(s.Snapshot, t.run) {
		events = nil
		t.states = states{use: t.o.State}
	}
	return events, err
}

// Frame returns the events of a frame, in the order in which a thread's frames come. It
// returns the error of [Options.Load], or one for a frame that cannot be read. What the frame
// has of a snapshot is released as what [Options.Load] has returned.
func (t *Translator) Frame(f engine.FormedFrame) ([]Event, error) {
	t.began = true
	switch {
	case t.done:
		return nil, nil
	case f.Formed != nil:
		return t.become(f.Formed, nil)
	case f.Kind == spool.FrameSnapshot:
		return t.retracted(f.Snapshot)
	case f.Kind == spool.FrameStream:
		return t.item(f.StreamID, *f.Item)
	default:
		return t.entry(*f.Event)
	}
}

// item returns the events of an item of a run stream.
func (t *Translator) item(id spool.StreamID, item spool.Item) ([]Event, error) {
	run, _, _ := id.Split()
	if t.o.RunID != "" && run != t.o.RunID {
		t.missed = true
		return nil, nil
	}
	var before []Event
	if !t.open && item.Type != spool.ItemRunStarted {
		before = t.begin(run)
	}
	events, err := t.said(item)
	return append(before, events...), err
}

// said returns the events of an item within a run.
func (t *Translator) said(item spool.Item) ([]Event, error) {
	switch item.Type {
	case spool.ItemRunStarted:
		return nil, nil
	case spool.ItemRunFinished, spool.ItemRunError:
		t.end = &item
		return nil, nil
	case spool.ItemInputRequired:
		t.parks.add(item.Data)
		return nil, nil
	case spool.ItemStepFinished:
		return t.stepFinished(item)
	case spool.ItemToolResult:
		if t.knows(item) {
			return nil, nil
		}
	case spool.ItemSubagentEvent: // content of a nested run, which is none of the client's messages
		return []Event{custom(string(item.Type), item.Data)}, nil
	case spool.ItemCustom:
		var c spool.Custom
		if err := item.Decode(&c); err != nil {
			return nil, unreadable(item, err)
		}
		return []Event{custom(c.Name, c.Value).publishedBy(c.PublishedBy, c.PublishedByTool)}, nil
	}
	if item.Type.Content() && item.Type != spool.ItemSubagentEvent {
		return t.step.content(item)
	}
	return []Event{custom(string(item.Type), item.Data)}, nil
}

// stepFinished ends the step. One of a nested run is not the client's.
func (t *Translator) stepFinished(item spool.Item) ([]Event, error) {
	var f spool.StepFinished
	if err := item.Decode(&f); err != nil {
		return nil, unreadable(item, err)
	}
	if f.AgentID != nil {
		return []Event{custom(string(item.Type), item.Data)}, nil
	}
	return t.step.finish(f), nil
}

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

// told returns what was kept for the next run.
func (t *Translator) told() []Event {
	events := t.waiting
	t.waiting = nil
	return events
}

// tell adds a custom event, or keeps it for the next run.
func (t *Translator) tell(e Event) []Event {
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
