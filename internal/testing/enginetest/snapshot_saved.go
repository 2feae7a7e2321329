package enginetest

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// testSnapshotBeforeItems takes a snapshot after every commit and every batch of items of a run. Right
// after the commit of a step, the results of its calls are in the messages but not yet in the stream. A
// client that continues from there must not get them twice.
func testSnapshotBeforeItems(s snapshotTest) {
	m, whole := talking()
	c := s.config(m, plain("look", "1"), approved("send", "2"))
	c.Stream.FlushEvery = -1
	reader := s.engine(c)
	var snaps []*wire.Snapshot
	between := 0
	b := s.join()
	p := &probing{Store: b.Store, Live: b.Live}
	p.after = func() {
		snap, err := reader.Snapshot(context.Background(), chat, nil)
		if err != nil {
			return // the thread is not there yet
		}
		snaps = append(snaps, snap)
		if at := s.run("r1").Saved; snap.Stream != nil && !at.IsZero() {
			page, err := s.backend.Live.Read(context.Background(), store.StreamKey{Thread: chat, ID: snap.Stream.StreamID},
				wire.Offset{}, 0)
			if err == nil && page.Last.Compare(at) < 0 {
				between++
			}
		}
	}
	b.Store, b.Live = probingStore{p}, probingLive{p}
	e := s.over(b, c)
	s.start(e, "r1", "go")
	for _, answer := range []spool.ToolCallID{"c3", ""} {
		if _, err := e.HandleJob(context.Background(), ticket("r1")); err != nil {
			s.Error(err)
		}
		if answer != "" {
			s.answer(e, answer, true, "")
		}
	}
	s.ended(wire.Completed)
	if between == 0 {
		s.Error("no snapshot was taken between a step's commit and its last items")
	}
	want := map[spool.ToolCallID]int{"c1": 1, "c2": 1, "c3": 1, "c4": 1}
	for n, snap := range snaps {
		var text strings.Builder
		text.WriteString(snapshotText(snap))
		results := make(map[spool.ToolCallID]int)
		for _, message := range snap.Messages {
			for _, part := range message.ToolResults() {
				results[part.ToolCallID]++
			}
		}
		var items []wire.Item
		if snap.Stream != nil {
			items = snap.Stream.Items
		}
		for _, f := range s.collect(reader, chat, wire.FollowOptions{Cursor: new(snap.Cursor())}) {
			switch f.Kind {
			case wire.FrameStream:
				text.WriteString(deltaOf(*f.Item))
				items = append(slices.Clip(items), *f.Item)
			case wire.FrameSnapshot: // a snapshot replaces everything that was shown before
				items, results = nil, maps.Clone(want)
				text.Reset()
				text.WriteString(snapshotText(f.Snapshot))
			default:
			}
		}
		for _, item := range items {
			var result wire.ToolResulted
			if item.Type == wire.ItemToolResult && item.Decode(&result) == nil {
				results[result.ToolCallID]++
			}
		}
		if text.String() != whole || !maps.Equal(results, want) {
			s.Errorf("snapshot %d and what comes after it say %q, with the results %v", n, text.String(), results)
		}
	}
}
