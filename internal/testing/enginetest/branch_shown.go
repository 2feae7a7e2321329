package enginetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// shownByContract returns what a client shows that knows only the contract's own events: turns come and
// go, a snapshot replaces everything, and a restored branch means nothing to it. It takes answers from
// snapshots.
func shownByContract(frames []wire.Frame) (shown []string) {
	var messages []spool.Message
	for _, f := range frames {
		switch {
		case f.Kind == wire.FrameSnapshot:
			messages = slices.Clone(f.Snapshot.Messages)
		case f.Kind != wire.FrameThread:
		case f.Event.Type == wire.NoticeMessageAppended:
			var m spool.Message
			_ = m.UnmarshalJSON(f.Event.Payload)
			if messageAt(messages, m.ID) < 0 {
				messages = append(messages, m)
			}
		case f.Event.Type == wire.EntryMessagesDropped:
			var p wire.MessagesDropped
			_ = json.Unmarshal(f.Event.Payload, &p)
			if at := messageAt(messages, p.FromMessageID); at >= 0 {
				messages = messages[:at]
			}
		}
	}
	for _, m := range messages {
		shown = append(shown, m.Text())
	}
	return shown
}

// testBranchShown restores a branch while clients follow. Every client must show the branch's messages,
// including clients that reconnect after any frame and clients that fall behind.
func testBranchShown(s branchTest) {
	e := s.working(s.config(echo()))
	s.said(e, "one", "two")
	s.edited(e, 2, "zwei")
	live := []*spooltest.Client{{Name: "one"}, {Name: "another"}}
	stops := make([]func() []wire.Frame, len(live))
	for i, c := range live {
		stops[i] = s.watch(e, c, wire.FollowOptions{Cursor: &wire.Cursor{}})
	}
	<-time.After(time.Second)
	s.restored(e, 5)
	<-time.After(time.Second)
	s.said(e, "three")
	<-time.After(time.Second)
	s.history.Settled = true
	want := []string{"one", "re: one", "two", "re: two", "three"} // its answer is in the stream
	frames := stops[0]()
	s.lines("live", shownByContract(frames), want...)
	s.lines("another", orderLines(stops[1]()), orderLines(frames)...)
	at := slices.IndexFunc(frames, func(f wire.Frame) bool {
		return f.Kind == wire.FrameThread && f.Event.Type == wire.EntryMessagesRestored
	})
	if f := frames[at+1]; f.Kind != wire.FrameSnapshot || f.Snapshot.LastEventSeq != frames[at].Event.Seq ||
		entryLine(*frames[at+2].Event) != "STATE_CHANGE COMPLETED" {
		s.Errorf("after the entry comes %s", transcript(frames[at+1:at+3]))
	}
	for i, f := range frames {
		if f.Cursor == nil {
			continue
		}
		got := followTest(s).comesBack(e, frames[:i+1])
		shown := strings.Join(shownByContract(append(slices.Clone(frames[:i+1]), got...)), ", ")
		if !strings.HasPrefix(shown, strings.Join(want, ", ")) {
			s.Errorf("after %s: %s", frameLine(f), shown)
		}
		if n := strings.Count(transcript(got), "| snapshot"); n > 1 {
			s.Errorf("after %s: %d snapshots", frameLine(f), n)
		}
	}
	if lines := fmt.Sprint(frameLines(s.collect(e, chat, wire.FollowOptions{}))); strings.Contains(lines, "snapshot") {
		s.Errorf("without a cursor: %s", lines)
	}
}
