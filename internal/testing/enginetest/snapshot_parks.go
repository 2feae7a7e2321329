package enginetest

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// questions returns the calls that a snapshot asks about, from its entries and from its stream.
func (s snapshotTest) questions(e *engine.Engine) (entries, items []string) {
	s.Helper()
	snap, err := e.Snapshot(context.Background(), chat, nil)
	if err != nil {
		s.Fatal(err)
	}
	for _, entry := range snap.ActiveEvents {
		if line := entryLine(entry); strings.HasPrefix(line, "INPUT_") || strings.HasPrefix(line, "HITL_") {
			entries = append(entries, line)
		}
	}
	if snap.Stream != nil {
		for _, item := range snap.Stream.Items {
			var p wire.InputRequired
			if item.Type == wire.ItemInputRequired && item.Decode(&p) == nil {
				items = append(items, string(p.ToolCallID))
			}
		}
	}
	return entries, items
}

// testSnapshotQuestions has a client that comes to a thread with waiting calls, some of which were
// answered: the client gets the questions of the others, and the present state.
func testSnapshotQuestions(s snapshotTest) {
	m := spooltest.NewReplayModel(
		spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}, spooltest.Call{ID: "c2", Name: "send"}), spooltest.Say("done"),
	)
	e := s.engine(s.config(m, approved("send", "1")))
	s.start(e, "r1", "go")
	rest := s.work(e)
	s.becomes(wire.WaitingForInput)
	rest()
	entries, items := s.questions(e)
	s.lines("both wait, in the record", entries, "INPUT_REQUIRED c1 approval", "INPUT_REQUIRED c2 approval")
	s.lines("both wait, in the stream", items, "c1", "c2")

	s.answer(e, "c1", true, "")
	entries, items = s.questions(e)
	s.lines("one waits, in the record", entries, "INPUT_REQUIRED c2 approval")
	s.lines("one waits, in the stream", items, "c2")

	s.answer(e, "c2", false, "")
	entries, items = s.questions(e)
	s.lines("none waits, in the record", entries)
	s.lines("none waits, in the stream", items)
	frames := s.collect(e, chat, wire.FollowOptions{Cursor: &wire.Cursor{Seq: 99}})
	if len(frames) != 2 || frames[0].Kind != wire.FrameSnapshot ||
		notices(frames)[0] != "STATE_CHANGE "+string(s.thread().State) {
		s.Errorf("a client that is given a snapshot: %s", transcript(frames))
	}

	s.work(e)
	s.ended(wire.Completed)
	if entries, items = s.questions(e); len(entries)+len(items) > 0 {
		s.Errorf("after the end: %v, %v", entries, items)
	}

	// If a call has asked twice, only its last question is open.
	<-time.After(time.Minute)
	s.start(e, "r2", "again")
	if slices.Contains(first(s.questions(e)), "INPUT_REQUIRED c2 approval") {
		s.Error("the next run is asked the questions of the last one")
	}
}
