package record

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// TestContentOf reads the agent and the type of an item of a nested run, however the item is written.
func TestContentOf(t *testing.T) {
	t.Parallel()

	at := wire.Offset{Fence: 1, N: 1}
	wrapped := func(agent spool.AgentID, kind wire.ItemType, payload any) wire.Item {
		return wire.NewItem(wire.ItemSubagentEvent, at, 1, wire.WrapItem(agent, kind, payload))
	}
	text := wire.Delta{MessageID: "m", Delta: `said "so"`}
	as := func(data string) wire.Item {
		return wire.Item{Offset: at, Type: wire.ItemSubagentEvent, Data: json.RawMessage(data)}
	}
	for _, c := range []struct {
		item  wire.Item
		agent spool.AgentID
		kind  wire.ItemType
	}{
		{wrapped("sub_1", wire.ItemTextContent, text), "sub_1", wire.ItemTextContent},
		{wrapped(`a"b\`, wire.ItemTextContent, text), `a"b\`, wire.ItemTextContent},
		{wrapped("é<", wire.ItemTextContent, text), "é<", wire.ItemTextContent},
		{wrapped("sub_1", wire.ItemReasoningContent, text), "sub_1", wire.ItemReasoningContent},
		{wrapped("sub_1", wire.ItemToolStart, wire.ToolStarted{ToolCallID: "c"}), "sub_1", wire.ItemToolStart},
		{as(`{"event":{"delta":"a","type":"TEXT_MESSAGE_CONTENT"},"subagentId":"sub_1"}`), "sub_1", wire.ItemTextContent},
		{as(`{"type":"SUBAGENT_EVENT","subagentId":"sub_1`), "", wire.ItemSubagentEvent},
		{wire.NewItem(wire.ItemTextContent, at, 1, text), "", wire.ItemTextContent},
	} {
		if agent, inner := contentOf(c.item); agent != c.agent || inner.Type != c.kind {
			t.Errorf("%s is a %s of %q, want a %s of %q", c.item.Data, inner.Type, agent, c.kind, c.agent)
		}
	}
	_, inner := contentOf(wrapped("sub_1", wire.ItemToolResult, wire.ToolResulted{ToolCallID: "c"}))
	var r wire.ToolResulted
	if err := inner.Decode(&r); err != nil || r.ToolCallID != "c" {
		t.Errorf("the result is of the call %q: %v", r.ToolCallID, err)
	}
}

// TestReadItemsAllocates bounds what the words of a nested run cost at the end of its segment, where each hub and each
// client that is behind reads all of them.
func TestReadItemsAllocates(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts what others allocate too
	const words = 1000
	items := make([]wire.Item, words)
	for i := range items {
		items[i] = wire.NewItem(wire.ItemSubagentEvent, wire.Offset{Fence: 1, N: int64(i) + 1}, 1,
			wire.WrapItem("sub_1", wire.ItemTextContent, wire.Delta{MessageID: "m", Delta: strconv.Itoa(i)}))
	}
	if n := testing.AllocsPerRun(5, func() { ReadItems(items) }); n > 3*words {
		t.Errorf("%d words take %v allocations, want at most three for each", words, n)
	}
	if s := ReadItems(items); !s.Unsaved() || !s.Lost(items[words-1]) {
		t.Error("nobody has saved the words, and they are not lost")
	}
}
