package enginetest

import (
	"context"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// From the cursor before a segment, a client gets the segment from its first frame to its last.
func testFollowBeforeSegment(s followTest) {
	e, frames := s.told()
	whole := frameLines(frames)
	for segment, started := range map[int]string{1: "r1:1", 2: "r1:2"} {
		place, err := e.BeforeSegment(context.Background(), chat, "r1", segment)
		if err != nil || place == nil {
			s.Fatalf("the place before segment %d: %v, %v", segment, place, err)
		}
		got := frameLines(s.collect(e, chat, wire.FollowOptions{Cursor: place}))
		at := slices.IndexFunc(whole, func(line string) bool {
			return strings.Contains(line, string(wire.EntryRunStarted)) && strings.Contains(line, started)
		})
		if at < 0 {
			s.Fatalf("nobody saw the start of segment %d", segment)
		}
		s.lines("from before the segment", got, whole[at:]...)
	}
	for _, c := range []struct {
		run     spool.RunID
		segment int
	}{{"r1", 3}, {"r2", 1}} {
		if place, err := e.BeforeSegment(context.Background(), chat, c.run, c.segment); err != nil || place != nil {
			s.Errorf("the place before segment %d of %s: %v, %v", c.segment, c.run, place, err)
		}
	}
}

// UserTurns returns the user turns in the view, without their contents.
func testTurnsListed(s followTest) {
	e := s.working(s.config(echo()))
	branchTest(s).said(e, "one", "two", "three")
	branchTest(s).edited(e, 2, "zwei")
	thread, turns, err := e.UserTurns(context.Background(), chat)
	if err != nil {
		s.Fatal(err)
	}
	s.same("the thread", thread, s.thread())
	var want []spool.Message
	for _, m := range s.messagesOf(chat) {
		if m.Role == spool.RoleUser {
			m.Content = nil
			want = append(want, m)
		}
	}
	s.same("the turns", turns, want)
	s.same("how many", len(turns), 2)
}
