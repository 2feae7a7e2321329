package telemetry

import (
	"encoding/json"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Without a provider, what is in the way of a run allocates nothing.
func TestNoTelemetryCostsNothing(t *testing.T) { //nolint:paralleltest // allocations are counted
	var none *Recorder
	ctx := t.Context()
	answer := func(yield func(spool.ModelEvent, error) bool) { yield(spool.Finish{}, nil) }
	perStep := testing.AllocsPerRun(100, func() {
		none.Started(ctx, "t", "r")
		none.Claimed(ctx, store.Delivery{})
		ctx, agent := none.Agent(ctx, wire.Run{})
		ctx, chat := none.Chat(ctx, "t", wire.UsageRow{}, spool.ModelRequest{})
		if chat.Watch(answer) == nil {
			t.Error("the answer is gone")
		}
		chat.Done(nil)
		ctx, tool := none.Tool(ctx, "a", spool.ToolCall{})
		tool.Done(json.RawMessage(nil), nil)
		agent.Done(ctx, wire.Run{}, false, nil)
	})
	if perStep != 0 {
		t.Errorf("%v allocations", perStep)
	}
}
