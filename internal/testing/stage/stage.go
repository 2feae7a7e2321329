// Package stage has what the tests of the engine's rooms share: tools of each kind, models, and a live part that keeps
// what it gets.
package stage

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Noon is the time of the store.
var Noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// Errors of a model, and of a tool.
var (
	ErrDown = &spool.ModelError{Status: 503, Message: "down"}
	ErrKey  = &spool.ModelError{Status: 401, Message: "bad key"}
	ErrDial = errors.New("dial: refused")
)

// Screen is a [store.Live] that keeps the types of the items, and how often workers were woken.
type Screen struct {
	store.Live

	Items []wire.ItemType
	Woken int
}

func (l *Screen) Append(_ context.Context, _ store.StreamKey, items []wire.Item) error {
	for _, i := range items {
		l.Items = append(l.Items, i.Type)
	}
	return nil
}

func (l *Screen) Close(_ context.Context, _ store.StreamKey, end wire.Item, _ time.Duration) error {
	l.Items = append(l.Items, end.Type)
	return nil
}

func (l *Screen) Wake(_ spool.ThreadKey, kind store.WakeKind, _ []byte) {
	if kind == store.WakeJobs {
		l.Woken++
	}
}

// Mute is a model that nobody may ask.
type Mute struct{}

func (Mute) Stream(context.Context, spool.ModelRequest) iter.Seq2[spool.ModelEvent, error] {
	panic("the model was asked")
}

// Tool returns a tool that returns null, after changes.
func Tool(name string, changes ...func(t *spool.Tool)) spool.Tool {
	t := spool.Tool{ToolSpec: spool.ToolSpec{Name: name}, Call: Returns(nil, nil)}
	for _, change := range changes {
		change(&t)
	}
	return t
}

// Returns is a tool that gives a result or an error.
func Returns(result json.RawMessage, err error) func(context.Context, spool.ToolCall) (json.RawMessage, error) {
	return func(context.Context, spool.ToolCall) (json.RawMessage, error) { return result, err }
}

// Tools returns a tool of each kind.
func Tools() []spool.Tool {
	approved := func(t *spool.Tool) { t.Approval = spool.AlwaysApprove }
	return []spool.Tool{
		Tool("look"),
		Tool("send", approved),
		Tool("safe", func(t *spool.Tool) { t.Idempotent = true }),
		Tool("work", func(t *spool.Tool) { t.PendingIdempotent = true }),
		Tool("strict", approved, func(t *spool.Tool) {
			t.Check = func(json.RawMessage) error { return errors.New("city is missing") }
		}),
		Tool("free", func(t *spool.Tool) {
			t.Approval = func(context.Context, spool.ToolCall) (bool, error) { return false, nil }
		}),
		Tool("torn", func(t *spool.Tool) {
			t.Approval = func(context.Context, spool.ToolCall) (bool, error) {
				return true, spool.Errorf(spool.Unavailable, "no policy")
			}
		}),
		Tool("broken", approved, func(t *spool.Tool) { t.Check = func(json.RawMessage) error { panic("check") } }),
	}
}

// Desk returns an agent that has a tool of each kind, hands over to the agent "other" and spawns runs.
func Desk() spool.Agent {
	return spool.Agent{
		Tools:     Tools(),
		Transfers: map[string]spool.Transfer{"other": {}},
		Spawn:     &spool.Spawn{Open: true, MaxDepth: 1},
	}
}

// Asked returns the parts of calls without arguments: the first is "c1".
func Asked(names ...string) (calls []spool.Part) {
	for i, name := range names {
		id := spool.ToolCallID("c" + string(rune('1'+i)))
		calls = append(calls, spool.Part{
			Type: spool.PartToolCall, ToolCallID: id, ToolName: name, Args: json.RawMessage("{}"),
		})
	}
	return calls
}
