package agui

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/projection"
	"github.com/spoolhq/spool/wire"
)

// Options describe the client of a [Translator].
type Options struct {
	// Load returns the present thread, in the form of [NewForm]. The translator calls it when frames alone are not enough.
	// The caller of the translator releases the result after it has sent the events. Required.
	Load func() (*wire.FormedSnapshot, error)
	// RunID is the only run that the client wants to see. The translator is done when that run is over.
	// Empty: all runs.
	RunID spool.RunID
	// ClientRunID is the client's id of RunID. Defaults to RunID.
	ClientRunID string
	// From is the state of RunID when the client started it or answered it. The client then sees everything
	// that the run says from there on. Nil: the client sees the thread as it is.
	From *wire.Run
	// Results are the results that the client has sent for calls of From, and so knows.
	Results []ClientResult
	// Connect shows a run that was over before the connection as an end without an error, because opening a
	// page did not fail. The state says how the run ended.
	Connect bool
	// State says how to treat the client's state.
	State StateUse
	// Before1 says that the client speaks a version before 1.0: see [RunAgentInput.Before1].
	Before1 bool
	// Address is that of the form.
	Address Address
}

// Translator turns the frames of a thread into events. It is for one client and one goroutine. The events that
// a method returns are valid until the next call.
type Translator struct {
	projection *projection.Projection
	encoder    encoder
	events     []Event
}

// New returns a translator. Give it a snapshot first: see [Translator.Prelude].
func New(o Options) *Translator {
	t := &Translator{
		encoder: encoder{
			connect: o.Connect, before1: o.Before1, states: states{use: o.State}, address: o.Address, clientRunID: o.ClientRunID,
		},
	}
	if o.ClientRunID == "" {
		t.encoder.clientRunID = string(o.RunID)
	}
	given := make([]projection.Given, len(o.Results))
	for i, r := range o.Results {
		given[i] = projection.Given{ToolCallID: r.ToolCallID, Payload: r.Payload, Nested: r.nested}
	}
	t.projection = projection.New(projection.Options{Load: o.Load, RunID: o.RunID, From: o.From, Results: given})
	return t
}

// Done reports whether there are no more events.
func (t *Translator) Done() bool { return t.projection.Done() }

// Prelude returns the events that bring any client to the state of the snapshot: see
// [projection.Projection.Prelude].
func (t *Translator) Prelude(s *wire.FormedSnapshot, have *wire.Cursor) ([]Event, error) {
	return t.encode(t.projection.Prelude(s, have))
}

// BeganSince reports whether a client has to begin with [Translator.Replay]: see
// [projection.Projection.BeganSince].
func (t *Translator) BeganSince(s *wire.FormedSnapshot) bool { return t.projection.BeganSince(s) }

// Replay is [Translator.Prelude] for a client that connects after the run of [Options.From] continued.
func (t *Translator) Replay(s *wire.FormedSnapshot, at wire.Cursor) ([]Event, error) {
	return t.encode(t.projection.Replay(s, at))
}

// Frame returns the events of a frame: see [projection.Projection.Frame].
func (t *Translator) Frame(f wire.FormedFrame) ([]Event, error) {
	return t.encode(t.projection.Frame(f))
}

// Left returns the event that ends the stream of a run because the server shuts down while the run continues.
// Without it, a client would take the stream for complete. The translator is done after it.
func (t *Translator) Left() []Event {
	events, _ := t.encode(t.projection.Leave(), nil) // nothing in it can fail
	return events
}

func (t *Translator) encode(changes []projection.Change, err error) ([]Event, error) {
	if err != nil {
		return nil, err
	}
	if cap(t.events) > maxEvents {
		t.events = nil
	}
	clear(t.events)
	t.events = t.events[:0]
	for _, c := range changes {
		if t.events, err = t.encoder.append(t.events, c); err != nil {
			return nil, err
		}
	}
	return t.events, nil
}

// maxEvents bounds the events for which an idle translator keeps room.
const maxEvents = 16
