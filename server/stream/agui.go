package stream

import (
	"context"
	"iter"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/agui"
	"github.com/spoolhq/spool/wire"
)

// wireFormatAGUI is the name of the format that package agui has.
const wireFormatAGUI = "ag-ui"

// openAGUI opens a stream in AG-UI: see [Streams.translate].
func (s *Streams) openAGUI(
	ctx context.Context, key spool.ThreadKey, createdAt time.Time, o agui.Options, have *wire.Cursor,
) (*translated, error) {
	o.Address = s.config.Artifact
	a, err := s.translate(ctx, key, createdAt, s.agui, o.RunID, o.From, func(
		load func() (*wire.FormedSnapshot, error),
	) translator {
		o.Load = load
		return &aguiTranslator{agui.New(o), s.agui}
	})
	if err != nil {
		return nil, err
	}
	a.have = have
	if o.RunID == "" {
		a.retry = a.engine.StreamOptions().RetryHint
	}
	a.cuts = a.retry == 0
	return a, nil
}

// OpenAGUI opens the stream of a run in AG-UI, which lasts as long as ctx does.
func (s *Streams) OpenAGUI(ctx context.Context, key spool.ThreadKey, o agui.Options) (*Live, error) {
	events, err := s.openAGUI(ctx, key, time.Time{}, o, nil)
	if err != nil {
		return nil, err
	}
	return &Live{streams: s, events: events, key: key}, nil
}

// Nothing returns the stream in AG-UI of a thread without messages.
func (s *Streams) Nothing(key spool.ThreadKey, run string) *Live {
	return &Live{streams: s, events: nothingYet{key.ID, run}, key: key}
}

// aguiTranslator writes events of AG-UI. The last event of a frame has the frame's own id, so that a client may
// reconnect with it in either format.
type aguiTranslator struct {
	*agui.Translator

	made wire.SnapshotForm
}

func (t aguiTranslator) form() wire.SnapshotForm { return t.made }

func (t aguiTranslator) prelude(text *agui.Text, s *wire.FormedSnapshot, have *wire.Cursor) error {
	events, err := t.Prelude(s, have)
	if err != nil {
		return err
	}
	id := ""
	if len(events) > 0 {
		id = s.Cursor().String()
	}
	return text.Add(id, events...)
}

func (t aguiTranslator) replay(text *agui.Text, s *wire.FormedSnapshot, at wire.Cursor) error {
	events, err := t.Replay(s, at)
	if err != nil {
		return err
	}
	return text.Add(at.String(), events...)
}

func (t aguiTranslator) frame(text *agui.Text, f wire.FormedFrame) error {
	events, err := t.Frame(f)
	if err != nil {
		return err
	}
	id := ""
	if f.Cursor != nil {
		id = f.Cursor.String()
	}
	return text.Add(id, events...)
}

func (t aguiTranslator) endEarly(text *agui.Text) error { return text.Add("", t.Left()...) }

func (aguiTranslator) failed(text *agui.Text, err error) {
	_ = text.Add("", agui.Cut(err)) // it has texts only
}

// nothingYet is the stream of a thread without messages: a page shows one before its first turn.
type nothingYet struct {
	thread spool.ThreadID
	run    string
}

// Chunks implements [eventSource].
func (n nothingYet) Chunks() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		var text agui.Text
		if err := text.Add("", agui.Nothing(n.thread, n.run)...); err != nil {
			yield(nil, err)
			return
		}
		for _, piece := range text.Pieces() {
			if !yield(piece, nil) {
				return
			}
		}
	}
}

// Close implements [eventSource].
func (nothingYet) Close() error { return nil }
