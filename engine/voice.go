package engine

import (
	"context"

	"github.com/spoolhq/spool"
)

// voice is a loop's part in the stream of its segment. It keeps the loop's open block, and
// wraps the content of a nested run. Only the loop's goroutine uses it.
type voice struct {
	w     *writer
	agent spool.AgentID // of a nested run, empty for the dispatched one

	block    string         // id of the open block
	blockEnd spool.ItemType // what closes it, empty when none is open
	alone    bool           // the loop has the stream to itself
}

// take gives the loop the stream to itself until give, so that the offsets which it counts
// with in a transaction are those that its items then get.
func (v *voice) take() {
	v.w.turn.Lock()
	v.alone = true
}

func (v *voice) give() {
	v.alone = false
	v.w.turn.Unlock()
}

// emit adds an item of the loop.
func (v *voice) emit(ctx context.Context, t spool.ItemType, payload any) {
	now := atOnce(t)
	if v.agent != "" && t.Content() {
		t, payload = spool.ItemSubagentEvent, spool.WrapItem(v.agent, t, payload)
	}
	if !v.alone {
		v.w.turn.Lock()
	}
	full := v.w.add(ctx, t, payload)
	if !v.alone {
		v.w.turn.Unlock()
	}
	if full || now {
		v.w.flush(ctx)
	}
}

// atOnce reports whether somebody waits for an item of this type.
func atOnce(t spool.ItemType) bool {
	switch t {
	case spool.ItemRunStarted, spool.ItemToolResult, spool.ItemStepFinished, spool.ItemInputRequired, spool.ItemSubagentFinished:
		return true
	default:
		return false
	}
}

// text adds to the open block of text, or opens one.
func (v *voice) text(ctx context.Context, delta string) {
	v.in(ctx, spool.ItemTextStart, spool.ItemTextEnd)
	v.emit(ctx, spool.ItemTextContent, spool.Delta{MessageID: v.block, Delta: delta})
}

// reasoning adds to the open block of reasoning, or opens one.
func (v *voice) reasoning(ctx context.Context, delta string) {
	v.in(ctx, spool.ItemReasoningStart, spool.ItemReasoningEnd)
	v.emit(ctx, spool.ItemReasoningContent, spool.Delta{MessageID: v.block, Delta: delta})
}

// in makes a block of one kind the open one.
func (v *voice) in(ctx context.Context, start, end spool.ItemType) {
	if v.blockEnd == end {
		return
	}
	v.endBlock(ctx)
	v.block, v.blockEnd = v.w.newBlock(), end
	b := spool.Block{MessageID: v.block}
	if start == spool.ItemTextStart {
		b.Role = spool.RoleAssistant
	}
	v.emit(ctx, start, b)
}

// endBlock closes the open block, if there is one.
func (v *voice) endBlock(ctx context.Context) {
	if v.blockEnd == "" {
		return
	}
	t := v.blockEnd
	v.blockEnd = ""
	v.emit(ctx, t, spool.Block{MessageID: v.block})
}
