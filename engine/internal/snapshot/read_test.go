package snapshot

import (
	"strconv"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/internal/inprocess"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// TestSnapshotAtTheLastSavedItem reads a stream with items of two nested runs. Up to each run's last
// saved item, its content is in the messages and not in the snapshot's stream.
func TestSnapshotAtTheLastSavedItem(t *testing.T) {
	t.Parallel()

	nested := func(n int64, id spool.AgentID) wire.Item {
		return wire.NewItem(wire.ItemSubagentEvent, wire.Offset{Fence: 1, N: n}, 0,
			wire.SubagentEvent{SubagentID: id, Event: []byte(`{}`)})
	}
	text := func(n int64) wire.Item {
		return wire.NewItem(wire.ItemTextContent, wire.Offset{Fence: 1, N: n}, 0, nil)
	}
	streams := inprocess.NewLive(0)
	key := store.StreamKey{Thread: spool.ThreadKey{Tenant: "acme", ID: "chat"}, ID: "r1:1"}
	r := reader{streams: streams}
	if err := streams.Open(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	items := []wire.Item{
		text(1), nested(2, "a"), text(3), nested(4, "a"), nested(5, "b"), nested(6, "c"), nested(7, "a"), nested(8, "b"),
		text(9),
	}
	if err := streams.Append(t.Context(), key, items); err != nil {
		t.Fatal(err)
	}
	at := func(n int64) wire.Offset { return wire.Offset{Fence: 1, N: n} }
	for _, test := range []struct {
		main, a, b int64
		left       string
		last       int64
	}{
		{0, 0, 0, "1 2 3 4 5 6 7 8 9", 9},
		{3, 0, 0, "2 4 5 6 7 8 9", 9},
		{2, 4, 0, "3 5 6 7 8 9", 9},
		{3, 3, 5, "4 6 7 8 9", 9},
		{3, 7, 8, "6 9", 9},
		{3, 6, 7, "6 7 8 9", 9},
		{9, 8, 8, "6", 9},
		{3, 7, 12, "6 9", 12}, // b's step was saved before its last items were in the stream
		{11, 7, 8, "6", 11},
	} {
		l := record.Segment{
			Stream: key.ID, Run: "r1", Live: true,
			Saved: record.Saved{Main: at(test.main), Nested: map[spool.AgentID]wire.Offset{}},
		}
		for id, n := range map[spool.AgentID]int64{"a": test.a, "b": test.b} {
			if n > 0 {
				l.Saved.Nested[id] = at(n)
			}
		}
		snap, err := r.stream(t.Context(), key.Thread, l)
		if err != nil {
			t.Fatal(err)
		}
		var left []string
		for _, item := range snap.Items {
			left = append(left, strconv.FormatInt(item.Offset.N, 10))
		}
		if strings.Join(left, " ") != test.left || snap.Offset == nil || *snap.Offset != at(test.last) {
			t.Errorf("saved up to %d, %d and %d: the items %v up to %v, want %s up to %d", test.main, test.a, test.b, left,
				snap.Offset, test.left, test.last)
		}
	}
}
