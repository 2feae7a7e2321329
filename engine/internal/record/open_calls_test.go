package record

import (
	"slices"
	"testing"

	"github.com/spoolhq/spool"
)

// If a call has asked more than once, only its open question is left, with the entries about it.
func TestOpenCallsKeepTheLastQuestion(t *testing.T) {
	t.Parallel()

	record := []spool.Entry{
		*spool.NewEntry(spool.EntryRunStarted, "r", spool.RunStarted{}),
		*spool.NewEntry(spool.EntryInputRequired, "r", spool.InputRequired{ToolCallID: "twice"}),
		*spool.NewEntry(spool.EntryInputRequired, "r", spool.InputRequired{ToolCallID: "over"}),
		*spool.NewEntry(spool.EntryHITLResponse, "r", spool.HITLResponse{ToolCallID: "twice"}),
		*spool.NewEntry(spool.EntryInputExpired, "r", spool.InputExpired{ToolCallID: "over"}),
		*spool.NewEntry("note", "r", struct{}{}),
		*spool.NewEntry(spool.EntryInputRequired, "r", spool.InputRequired{ToolCallID: "twice"}),
		*spool.NewEntry(spool.EntryInputExtended, "r", spool.InputExtended{ToolCallID: "twice"}),
	}
	for i := range record {
		record[i].Seq = int64(i + 1)
	}
	var left []int64
	for _, e := range (OpenCalls{"twice": spool.ParkOpen}).Entries(record) {
		left = append(left, e.Seq)
	}
	if want := []int64{1, 6, 7, 8}; !slices.Equal(left, want) {
		t.Errorf("the entries %v are left, want %v", left, want)
	}
}

// Items that come after the record was read are newer than the parks that were read.
func TestOpenCallsKeepNewerQuestions(t *testing.T) {
	t.Parallel()

	item := func(seq int64, call spool.ToolCallID) spool.Item {
		return spool.NewItem(spool.ItemInputRequired, spool.Offset{Fence: 1, N: seq}, seq, spool.InputRequired{ToolCallID: call})
	}
	left := OpenCalls{"open": spool.ParkOpen}.Items([]spool.Item{item(2, "over"), item(3, "open"), item(5, "new")}, 4)
	if len(left) != 2 || left[0].Seq != 3 || left[1].Seq != 5 {
		t.Errorf("the items %v are left", left)
	}
}
