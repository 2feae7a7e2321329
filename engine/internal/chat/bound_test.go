package chat

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
)

// Each event takes room of an answer. The first one that does not fit is cut, or left out.
func TestFit(t *testing.T) {
	t.Parallel()
	data := json.RawMessage(`{"a":1}`)
	for name, c := range map[string]struct {
		event    spool.ModelEvent
		streamed int
		size     int              // of the whole event
		cut      spool.ModelEvent // what is left of it in one byte less
	}{
		"text":              {event: say("ab€"), size: 6, cut: say("ab€")},
		"reasoning":         {event: spool.ReasoningDelta{Text: "abc"}, size: 4, cut: spool.ReasoningDelta{Text: "abc"}},
		"end of text":       {event: spool.TextEnd{Provider: data}, size: 8},
		"end of reasoning":  {event: spool.ReasoningEnd{Provider: data}, size: 8},
		"part":              {event: spool.ProviderPart{Provider: data}, size: 8},
		"call":              {event: spool.ToolCallStart{ID: "c1", Name: "look"}, size: 1 + 4096 + 6},
		"arguments":         {event: spool.ToolCallDelta{ID: "c1", Args: "{}"}, size: 3},
		"end of call":       {event: spool.ToolCallEnd{ID: "c1", Args: "{}", Provider: data}, size: 10},
		"streamed before":   {event: spool.ToolCallEnd{ID: "c1", Args: "{}", Provider: data}, streamed: 2, size: 8},
		"streamed too much": {event: spool.ToolCallEnd{ID: "c1", Args: "{}"}, streamed: 9, size: 1},
		"nothing":           {event: spool.UsageSeen{}, size: 1},
	} {
		b := bound{left: c.size}
		if got, whole := b.fit(c.event, c.streamed); !whole || b.left != 0 || b.exceeded || !cmp.Equal(got, c.event) {
			t.Errorf("%s: %v, %d bytes are left", name, got, b.left)
		}
		b = bound{left: c.size - 1}
		if got, whole := b.fit(c.event, c.streamed); whole || b.left != 0 || !b.exceeded || !cmp.Equal(got, c.cut) {
			t.Errorf("%s, cut: %v, %d bytes are left", name, got, b.left)
		}
	}
	b := bound{}
	if _, whole := b.fit(spool.Finish{}, 0); !whole || b.exceeded {
		t.Error("the end of an answer does not fit")
	}
}

// A cut text has whole characters only.
func TestHead(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{-1: "", 0: "", 1: "a", 2: "a", 3: "a", 4: "a€", 5: "a€b", 9: "a€b"} {
		if got := head("a€b", n); got != want {
			t.Errorf("%d bytes: %q", n, got)
		}
	}
	b := bound{left: 1000}
	if got, _ := b.fit(say(strings.Repeat("€", 1<<20)), 0); got != say(strings.Repeat("€", 333)) {
		t.Errorf("a large piece is cut to %.100v", got)
	}
}
