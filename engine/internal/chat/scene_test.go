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
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
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

// screen is a [store.Live] that keeps the types of the items.
type screen struct {
	store.Live

	items []wire.ItemType
}

func (l *screen) Append(_ context.Context, _ store.StreamKey, items []wire.Item) error {
	for _, i := range items {
		l.items = append(l.items, i.Type)
	}
	return nil
}

func (*screen) Wake(spool.ThreadKey, store.WakeKind, []byte) {}

// scene is a client of one model. Nothing in it waits.
type scene struct {
	Client

	screen *screen
	past   *history.Messages
	weight history.Weight
	run    store.RunRow
	saved  []string // the data of resume points
	saving error    // what saving them fails with
}

func newScene(t *testing.T) *scene {
	t.Helper()
	return &scene{
		Client: Client{Log: slog.New(slog.DiscardHandler), MaxAnswerBytes: 100 << 10}, screen: &screen{},
		past:   history.New(nil, 0, nil),
		weight: history.Weight{Bytes: 400},
		run:    store.RunRow{Run: wire.Run{ID: "r"}},
	}
}

// ask asks the model.
func (s *scene) ask(ctx context.Context, m spool.Model, r spool.ModelRequest) (Turn, error) {
	w := stream.New(stream.Settings{Live: s.screen, Log: s.Log, FlushEvery: -1, Grace: time.Minute}, store.StreamKey{}, 1,
		0)
	events := w.Emitter("")
	return s.Ask(ctx, Question{
		Run: s.run, Model: m, Request: r, Weight: s.weight, Past: s.past, Events: &events, Row: wire.UsageRow{Model: "m"},
		Reserve: func(context.Context, *spool.ModelRequest) (wire.StopReason, error) { return "", nil },
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
