package aisdk

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/projection"
	"github.com/spoolhq/spool/wire"
)

// Options describe the client of a [Translator].
type Options struct {
	// Load returns the present thread, in [Form]: see [projection.Options].
	Load func() (*wire.FormedSnapshot, error)
	// RunID is the run whose message the client gets. Required.
	RunID spool.RunID
	// From is the state of RunID when the client started it or answered it. Nil: the client sees the run as it is.
	From *wire.Run
	// Version says which chunks the client knows. Required.
	Version Version
	// Copied are the calls of the message that the client already has, if it continues its own copy. It gets only
	// what follows. Nil: it gets the whole message.
	Copied map[spool.ToolCallID]Part
	// Results are the results that the client has sent for its own calls, and so knows.
	Results []projection.Given
	// Questions reads what a run has asked. Nil: no run has asked about its budget.
	Questions Questions
	// Address returns the URLs of artifacts. Nil: the client gets their URIs.
	Address Address
}

// Translator turns the frames of a thread into the chunks of one message. It is for one client and one goroutine.
// The chunks that a method returns are valid until the next call.
type Translator struct {
	projection *projection.Projection
	encoder    *encoder
}

// New returns a translator. Give it a snapshot first: see [Translator.Prelude].
func New(o Options) *Translator {
	t := &Translator{encoder: newEncoder(o.Version)}
	t.projection = projection.New(projection.Options{Load: o.Load, RunID: o.RunID, From: o.From, Results: o.Results})
	t.encoder.copied, t.encoder.questions, t.encoder.address = o.Copied, o.Questions, o.Address
	t.encoder.of = func() spool.RunID {
		run, _ := t.projection.Run()
		return run
	}
	return t
}

// Done reports whether there are no more chunks.
func (t *Translator) Done() bool { return t.projection.Done() || t.encoder.cut }

// Cut reports whether the stream has to break off here, without an end: the client then resumes.
func (t *Translator) Cut() bool { return t.encoder.cut }

// Prelude returns the message as it is in the snapshot: see [projection.Projection.Prelude].
func (t *Translator) Prelude(s *wire.FormedSnapshot) ([]Chunk, error) {
	return t.encode(t.projection.Prelude(s, nil))
}

// BeganSince reports whether a client has to begin with [Translator.Replay]: see
// [projection.Projection.BeganSince].
func (t *Translator) BeganSince(s *wire.FormedSnapshot) bool { return t.projection.BeganSince(s) }

// Replay is [Translator.Prelude] for a client that connects after the run of [Options.From] continued.
func (t *Translator) Replay(s *wire.FormedSnapshot, at wire.Cursor) ([]Chunk, error) {
	return t.encode(t.projection.Replay(s, at))
}

// Frame returns the chunks of a frame: see [projection.Projection.Frame]. A snapshot of the thread replaces frames
// that the client has missed. The client cannot take them back, so the stream is cut.
func (t *Translator) Frame(f wire.FormedFrame) ([]Chunk, error) {
	if f.Formed != nil && t.encoder.started {
		t.encoder.cut = true
		return nil, nil
	}
	return t.encode(t.projection.Frame(f))
}

// Leave ends the stream because the server shuts down while the run continues.
func (t *Translator) Leave() { t.encoder.cut = true }

func (t *Translator) encode(changes []projection.Change, err error) ([]Chunk, error) {
	if err != nil {
		return nil, err
	}
	clear(t.encoder.out)
	if t.encoder.out = t.encoder.out[:0]; cap(t.encoder.out) > maxChunks {
		t.encoder.out = nil
	}
	for _, c := range changes {
		if err := t.encoder.encode(c); err != nil {
			return nil, err
		}
	}
	return t.encoder.out, nil
}

// maxChunks bounds the chunks for which an idle translator keeps room.
const maxChunks = 2
