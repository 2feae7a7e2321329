package engine

import (
	"encoding/json"
	"testing"

	"github.com/spoolhq/spool"
)

// Without a provider, what is in the way of a run allocates nothing.
func TestNoTelemetryCostsNothing(t *testing.T) { //nolint:paralleltest // allocations are counted
	var none *telemetry
	ctx := t.Context()
	l := &loop{s: &segment{}}
	answer := func(yield func(spool.ModelEvent, error) bool) { yield(spool.Finish{}, nil) }
	perStep := testing.AllocsPerRun(100, func() {
		none.started(ctx, "t", "r")
		none.claimed(ctx, spool.Delivery{})
		ctx, agent := none.agent(ctx, l)
		ctx, chat := none.chat(ctx, "t", spool.UsageRow{}, spool.ModelRequest{})
		if chat.watch(answer) == nil {
			t.Error("the answer is gone")
		}
		chat.done(nil)
		ctx, tool := none.tool(ctx, l, spool.ToolCall{})
		tool.done(json.RawMessage(nil), nil)
		agent.done(ctx, l.run, nil)
	})
	if perStep != 0 {
		t.Errorf("%v allocations", perStep)
	}
}
