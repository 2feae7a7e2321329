package stream

import (
	"context"
	"errors"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/agui"
	"github.com/spoolhq/spool/server/aisdk"
	"github.com/spoolhq/spool/wire"
)

// errBroken ends a stream whose client has to resume. The connection breaks off, because the client would take an
// ordinary end for the end of the message.
var errBroken = errors.New("the client has to resume")

// OpenAISDK opens the stream of the message of a run for a client of the AI SDK, which lasts as long as ctx does.
func (s *Streams) OpenAISDK(ctx context.Context, key spool.ThreadKey, o aisdk.Options) (*Live, error) {
	a, err := s.translate(ctx, key, time.Time{}, aisdk.Form, o.RunID, o.From, func(
		load func() (*wire.FormedSnapshot, error),
	) translator {
		o.Load = load
		return aisdkTranslator{aisdk.New(o)}
	})
	if err != nil {
		return nil, err
	}
	a.cuts = true
	return &Live{streams: s, events: a, key: key, Breaks: true}, nil
}

// aisdkTranslator writes chunks of the AI SDK. They have no ids: a client resumes from the start of the message.
type aisdkTranslator struct{ *aisdk.Translator }

func (aisdkTranslator) form() wire.SnapshotForm { return aisdk.Form }

func (t aisdkTranslator) prelude(text *agui.Text, s *wire.FormedSnapshot, _ *wire.Cursor) error {
	return t.add(text)(t.Prelude(s))
}

func (t aisdkTranslator) replay(text *agui.Text, s *wire.FormedSnapshot, at wire.Cursor) error {
	return t.add(text)(t.Replay(s, at))
}

func (t aisdkTranslator) frame(text *agui.Text, f wire.FormedFrame) error {
	return t.add(text)(t.Frame(f))
}

func (t aisdkTranslator) add(text *agui.Text) func([]aisdk.Chunk, error) error {
	return func(chunks []aisdk.Chunk, err error) error {
		for _, c := range chunks {
			if err == nil {
				err = text.AddText(func(b []byte) ([]byte, error) { return aisdk.AppendChunk(b, c) })
			}
		}
		switch {
		case err != nil:
			return err
		case t.Cut():
			return errBroken
		case t.Done():
			return text.AddText(func(b []byte) ([]byte, error) { return append(b, aisdk.Done...), nil })
		}
		return nil
	}
}

func (t aisdkTranslator) endEarly(*agui.Text) error {
	t.Leave()
	return errBroken
}

func (aisdkTranslator) failed(*agui.Text, error) {} // the connection breaks off
