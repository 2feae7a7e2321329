package stream

import (
	"context"
	"strconv"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/order"
	"github.com/spoolhq/spool/wire"
)

// Emitter emits the items of one agent into the stream of its segment. It tracks the agent's open
// block, and wraps the content of a nested run. Only the agent's goroutine uses it.
type Emitter struct {
	w     *Writer
	agent spool.AgentID

	block    string        // id of the open block
	blockEnd wire.ItemType // the item type that closes the block; empty if none is open
}

// Emitter returns the emitter of an agent of the tree. The dispatched run has the empty id.
func (w *Writer) Emitter(agent spool.AgentID) Emitter { return Emitter{w: w, agent: agent} }

// Item emits an item of the agent.
func (e *Emitter) Item(ctx context.Context, t wire.ItemType, payload any) {
	now := atOnce(t)
	t, payload = order.Wrap(e.agent, t, payload)
	if _, full := e.w.add(ctx, pendingItem{of: t, payload: payload}); full || now {
		e.w.Flush(ctx)
	}
}

// atOnce reports whether items of this type are written at once, because clients wait for them.
func atOnce(t wire.ItemType) bool {
	switch t {
	case wire.ItemRunStarted, wire.ItemProviderWait, wire.ItemToolResult, wire.ItemStepFinished, wire.ItemInputRequired,
		wire.ItemSubagentFinished:
		return true
	default:
		return false
	}
}

// Text adds a delta to the open text block. It opens a block if none is open.
func (e *Emitter) Text(ctx context.Context, delta string) {
	e.in(ctx, wire.ItemTextStart, wire.ItemTextEnd)
	e.Item(ctx, wire.ItemTextContent, wire.Delta{MessageID: e.block, Delta: delta})
}

// Reasoning adds a delta to the open reasoning block. It opens a block if none is open.
func (e *Emitter) Reasoning(ctx context.Context, delta string) {
	e.in(ctx, wire.ItemReasoningStart, wire.ItemReasoningEnd)
	e.Item(ctx, wire.ItemReasoningContent, wire.Delta{MessageID: e.block, Delta: delta})
}

// Source emits a source of the agent's answer.
func (e *Emitter) Source(ctx context.Context, s spool.Source) {
	e.EndBlock(ctx)
	e.Item(ctx, wire.ItemSource, s)
}

// in opens a block of the given kind, unless such a block is open.
func (e *Emitter) in(ctx context.Context, start, end wire.ItemType) {
	if e.blockEnd == end {
		return
	}
	e.EndBlock(ctx)
	e.block, e.blockEnd = e.w.newBlock(), end
	b := wire.Block{MessageID: e.block}
	if start == wire.ItemTextStart {
		b.Role = spool.RoleAssistant
	}
	e.Item(ctx, start, b)
}

// EndBlock closes the open block, if any.
func (e *Emitter) EndBlock(ctx context.Context) {
	if e.blockEnd == "" {
		return
	}
	t := e.blockEnd
	e.blockEnd = ""
	e.Item(ctx, t, wire.Block{MessageID: e.block})
}

// newBlock returns an id that is unique among the blocks of the stream.
func (w *Writer) newBlock() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.blocks++
	return string(w.key.ID) + ":m" + strconv.Itoa(w.blocks)
}
