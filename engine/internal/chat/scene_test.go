package chat

import (
	"context"
	"encoding/json"
	"iter"
	"log/slog"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/history"
	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/engine/internal/stream"
)

// script is a model that gives events, and then fails, calls after, or just ends.
type script struct {
	events []spool.ModelEvent
	err    error
	after  func()
	asked  spool.ModelRequest
}

func (m *script) Stream(_ context.Context, r spool.ModelRequest) iter.Seq2[spool.ModelEvent, error] {
	m.asked = r
	return func(yield func(spool.ModelEvent, error) bool) {
		for _, event := range m.events {
			if !yield(event, nil) {
				return
			}
		}
		if m.after != nil {
			m.after()
		}
		if m.err != nil {
			yield(nil, m.err)
		}
	}
}

// screen is a [spool.Live] that keeps the types of the items.
type screen struct {
	spool.Live

	items []spool.ItemType
}

func (l *screen) Append(_ context.Context, _ spool.StreamKey, items []spool.Item) error {
	for _, i := range items {
		l.items = append(l.items, i.Type)
	}
	return nil
}

func (*screen) Wake(spool.ThreadKey, spool.WakeKind, []byte) {}

// scene is a client of one model. Nothing in it waits.
type scene struct {
	Client

	screen *screen
	past   *history.Messages
	run    spool.RunRow
	saved  []string // the data of resume points
	saving error    // what saving them fails with
}

func newScene(t *testing.T) *scene {
	t.Helper()
	return &scene{
		Client: Client{Log: slog.New(slog.DiscardHandler), MaxAnswerBytes: 100 << 10}, screen: &screen{}, past: history.New(nil, 0, nil),
		run: spool.RunRow{Run: spool.Run{ID: "r"}},
	}
}

// ask asks the model.
func (s *scene) ask(ctx context.Context, m spool.Model, r spool.ModelRequest) (Turn, error) {
	w := stream.New(stream.Settings{Live: s.screen, Log: s.Log, FlushEvery: -1, Grace: time.Minute}, spool.StreamKey{}, 1, 0)
	events := w.Emitter("")
	return s.Ask(ctx, Question{
		Run: s.run, Model: m, Request: r, Weight: history.Weight{Bytes: 400}, Past: s.past, Events: &events, Row: spool.UsageRow{Model: "m"},
		Reserve: func(context.Context, *spool.ModelRequest) (spool.StopReason, error) { return "", nil },
		Arguments: func(_ context.Context, _, text string) (args, sent json.RawMessage) {
			return registry.CallArgs(text), nil
		},
		SaveResume: func(_ context.Context, data json.RawMessage) error {
			s.saved = append(s.saved, string(data))
			return s.saving
		},
	})
}

func say(text string) spool.ModelEvent { return spool.TextDelta{Text: text} }

func tokens(input, output int64) spool.Usage { return spool.Usage{Input: &input, Output: &output} }
