package spooltest_test

import (
	"slices"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// A history of several processes has no commits. What an edit has removed from the view is then known from the
// branches.
func TestHistoryWithoutCommits(t *testing.T) {
	t.Parallel()

	dropped := func() *spooltest.History {
		h := sound()
		d := &h.Threads[0]
		d.Branches = []spooltest.BranchDump{{Branch: wire.Branch{ID: 1}, Messages: d.Messages}}
		h.Commits, d.Messages = nil, nil
		return h
	}
	for _, v := range dropped().Violations() {
		t.Error(v)
	}

	h := dropped()
	h.Threads[0].Branches[0].Messages = h.Threads[0].Branches[0].Messages[:3]
	found := h.Violations()
	if len(found) == 0 || found[0].Invariant != "client-text" {
		t.Errorf("an answer that a client has seen is not saved: found %v", found)
	}

	h = dropped() // a client that was away during the edit gets a snapshot of the run, without the messages that are gone
	frames := h.Clients[0].Frames
	last := wire.Offset{Fence: 2, N: 3}
	h.Clients[0].Frames = slices.Concat(frames[:15], []wire.Frame{{Kind: wire.FrameSnapshot, Snapshot: &wire.Snapshot{
		Thread: wire.Thread{ID: "t"}, Runs: []wire.Run{h.Threads[0].Runs[0].Run}, LastEventSeq: 5,
		AfterMessageID: new(spool.MessageID), Stream: &wire.StreamSnapshot{StreamID: "r:2", RunID: "r", Offset: &last},
	}}}, frames[15:])
	for _, v := range h.Violations() {
		t.Error(v)
	}
}
