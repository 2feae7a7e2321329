package record

import (
	"slices"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// If a call has asked more than once, only its open question is left, with the entries about it.
func TestOpenCallsKeepTheLastQuestion(t *testing.T) {
	t.Parallel()

	record := []wire.Entry{
		*wire.NewEntry(wire.EntryRunStarted, "r", wire.RunStarted{}),
		*wire.NewEntry(wire.EntryInputRequired, "r", wire.InputRequired{ToolCallID: "twice"}),
		*wire.NewEntry(wire.EntryInputRequired, "r", wire.InputRequired{ToolCallID: "over"}),
		*wire.NewEntry(wire.EntryHITLResponse, "r", wire.HITLResponse{ToolCallID: "twice"}),
		*wire.NewEntry(wire.EntryInputExpired, "r", wire.InputExpired{ToolCallID: "over"}),
		*wire.NewEntry("note", "r", struct{}{}),
		*wire.NewEntry(wire.EntryInputRequired, "r", wire.InputRequired{ToolCallID: "twice"}),
		*wire.NewEntry(wire.EntryInputExtended, "r", wire.InputExtended{ToolCallID: "twice"}),
	}
	for i := range record {
		record[i].Seq = int64(i + 1)
	}
	var left []int64
	for _, e := range (OpenCalls{"twice": wire.ParkOpen}).Entries(record) {
		left = append(left, e.Seq)
	}
	if want := []int64{1, 6, 7, 8}; !slices.Equal(left, want) {
		t.Errorf("the entries %v are left, want %v", left, want)
	}
}

// Items that come after the record was read are newer than the parks that were read.
func TestOpenCallsKeepNewerQuestions(t *testing.T) {
	t.Parallel()

	item := func(seq int64, call spool.ToolCallID) wire.Item {
		return wire.NewItem(wire.ItemInputRequired, wire.Offset{Fence: 1, N: seq}, seq, wire.InputRequired{ToolCallID: call})
	}
	left := OpenCalls{"open": wire.ParkOpen}.Items([]wire.Item{item(2, "over"), item(3, "open"), item(5, "new")}, 4)
	if len(left) != 2 || left[0].Seq != 3 || left[1].Seq != 5 {
		t.Errorf("the items %v are left", left)
	}
}
