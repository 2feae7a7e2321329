package enginetest

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// neverClosed are run streams that cannot be closed.
type neverClosed struct{ store.Live }

// Close fails.
func (neverClosed) Close(context.Context, store.StreamKey, wire.Item, time.Duration) error {
	return spool.Errorf(spool.Unavailable, "the stream cannot be closed")
}

// testRetractUnclosed stops a waiting run whose segment has ended in the record, but not in the stream.
// The position of a client that has a whole snapshot is after the end, and stays there.
func testRetractUnclosed(s retractTest) {
	b := s.join()
	b.Live = neverClosed{b.Live}
	e := s.over(b, s.config(asksTwice(), approved("send", "1")))
	s.start(e, "r1", "go")
	s.work(e)
	s.becomes(wire.WaitingForInput)
	live := s.watch(e, &spooltest.Client{Name: "live"}, wire.FollowOptions{Cursor: &wire.Cursor{Seq: 99}})
	<-time.After(time.Second)
	s.stop(e)
	s.ended(wire.Cancelled)
	<-time.After(quiet)
	frames := slices.DeleteFunc(slices.Clone(live()), func(f wire.Frame) bool { return f.Kind != wire.FrameSnapshot })
	if len(frames) != 2 || len(parts(frames)) != 1 {
		s.Fatalf("the client saw\n%s", transcript(frames))
	}
	whole, part := frames[0].Snapshot, frames[1].Snapshot
	if whole.Cursor().Offset != part.Cursor().Offset || part.Stream.End == nil {
		s.Errorf("the client stands at %s, and the stream of the frame is %+v", whole.Cursor(), part.Stream)
	}
}

// testRetractShortStream reconnects after a RUN_ENDED whose stream lacks its last item. Nothing is
// missing at that position, so no snapshot replaces the next frames.
func testRetractShortStream(s retractTest) {
	b := s.join()
	b.Live = neverClosed{b.Live}
	e := s.over(b, s.config(spooltest.NewModel(spooltest.Say("one"), spooltest.Say("two"))))
	s.work(e)
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	snap, err := e.Snapshot(context.Background(), chat, nil)
	if err != nil {
		s.Fatal(err)
	}
	at := snap.Cursor()
	s.start(e, "r2", "again")
	s.ended(wire.Completed)
	for _, f := range s.collect(e, chat, wire.FollowOptions{Cursor: &at}) {
		if f.Kind == wire.FrameSnapshot {
			s.Errorf("after %s comes %s", at, frameLine(f))
		}
	}
}

// testRetractNextBegan has a client that reconnects at a position at which the next run had begun. A
// frame about the previous run would remove the next run's turn.
func testRetractNextBegan(s retractTest) {
	m := spooltest.NewReplayModel(
		spooltest.Turn{Text: []string{"may I"}, Calls: []spooltest.Call{{ID: "c1", Name: "send"}}}, spooltest.Say("done"),
	)
	e := s.working(s.config(m, approved("send", "1")))
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	before := &wire.Cursor{Seq: s.thread().LastSeq}
	s.stop(e)
	s.ended(wire.Cancelled)
	s.start(e, "r2", "again")
	s.becomes(wire.WaitingForInput)
	s.stop(e)
	s.ended(wire.Cancelled)
	frames := s.collect(e, chat, wire.FollowOptions{Cursor: before})
	began := slices.IndexFunc(frames, func(f wire.Frame) bool {
		return f.Event != nil && f.Event.Type == wire.EntryRunStarted && f.Event.RunID == "r2"
	})
	if began < 0 || len(parts(frames)) != 2 {
		s.Fatalf("the client saw\n%s", transcript(frames))
	}
	at := &wire.Cursor{Seq: frames[began].Event.Seq}
	for _, part := range parts(s.collect(e, chat, wire.FollowOptions{Cursor: at})) {
		if id := part.Snapshot.Stream.RunID; id != "r2" {
			s.Errorf("after the start of r2 comes the snapshot of %s", id)
		}
	}
}

// testRetractBareSeq has a client without a stream in its cursor that reconnects within a segment whose
// worker has died. The run was stopped meanwhile, which has closed the call that the client shows.
func testRetractBareSeq(s retractTest) {
	gate := make(chan struct{})
	m := casting(map[string][]spooltest.Turn{
		"go":   {spooltest.Use(spawn("c1", "helper", "mail"))},
		"mail": {spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}), {Text: []string{"on it"}, Gate: gate}},
	})
	c := nestedTest(s).treeConfig(m, approved("send", `"sent"`))
	e := s.engine(c)
	s.start(e, "r1", "go")
	first := s.work(e)
	s.becomes(wire.WaitingForInput)
	first()
	nestedTest(s).answerAs(e, "mail:send", true)
	p := s.process(c)
	s.until("the second step", func() bool { return askedAs(m, "mail") == 2 })
	began := s.thread().LastSeq
	p.kill()
	<-time.After(31 * time.Second) // its lease
	s.stop(e)
	s.ended(wire.Cancelled)
	close(gate)
	frames := s.collect(e, chat, wire.FollowOptions{Cursor: &wire.Cursor{Seq: began}})
	results := 0
	for _, part := range parts(frames) {
		for _, message := range part.Snapshot.Messages {
			if message.AgentID == "" {
				results += len(message.ToolResults())
			}
		}
	}
	if results != 1 {
		s.Errorf("the client reads of %d results:\n%s", results, transcript(frames))
	}
}

// testRetractElsewhere follows in a process that does not have the run's stream, and continues in the
// process that has it. The snapshot there has the saved step, and the stream continues after it.
func testRetractElsewhere(s retractTest) {
	gate := make(chan struct{})
	m := spooltest.NewModel(
		spooltest.Turn{Text: []string{"one "}, Calls: []spooltest.Call{{ID: "c1", Name: "look"}}},
		spooltest.Turn{Text: []string{"two "}, Gate: gate},
		spooltest.Say("two three"),
	)
	c := s.config(m, plain("look", "1"))
	c.Stream.FlushEvery = -1
	b := s.join()
	b.Live = ownStreams{newLive(), b.Live}
	elsewhere := s.over(b, c)
	e := s.engine(c)
	s.start(e, "r1", "go")
	live := s.watch(elsewhere, &spooltest.Client{Name: "elsewhere", FromStart: true},
		wire.FollowOptions{Cursor: &wire.Cursor{}})
	p := s.process(c)
	s.until("the second step", func() bool { return m.Asked() == 2 })
	<-time.After(time.Second)
	snap, err := elsewhere.Snapshot(context.Background(), chat, nil)
	if err != nil {
		s.Fatal(err)
	}
	at := snap.Cursor()
	if saved := s.run("r1").Saved; at.Stream != "r1:1" || at.Offset != saved || saved.IsZero() {
		s.Errorf("the snapshot stands at %s, and %s is saved", at, saved)
	}
	var text strings.Builder
	text.WriteString(snapshotText(snap))
	for _, f := range s.collect(e, chat, wire.FollowOptions{Cursor: &at}) {
		if f.Item != nil {
			text.WriteString(deltaOf(*f.Item))
		}
	}
	if text.String() != "one two " {
		s.Errorf("the client shows %q", text.String())
	}
	p.kill()
	s.until("the end of the lease", func() bool { return !s.thread().Leased(s.now()) })
	if got := frameLines(s.collect(elsewhere, chat, wire.FollowOptions{Cursor: &at})); len(got) != 1 {
		s.Errorf("a client whose stream is gone gets %v", got)
	}
	close(gate)
	s.work(e)
	s.ended(wire.Completed)
	<-time.After(quiet)
	live()
}

// testRetractGoneEntry follows a run whose process died together with the run's stream. An entry that
// is written then must not change the client's offset in that stream, even if the thread is read for
// the first time.
func testRetractGoneEntry(s retractTest) {
	gate := make(chan struct{})
	m := spooltest.NewModel(spooltest.Turn{Text: []string{"one "}, Calls: []spooltest.Call{{ID: "c1", Name: "look"}}},
		spooltest.Turn{Gate: gate}, spooltest.Say("two"))
	c := s.config(m, plain("look", "1"))
	s.start(s.engine(c), "r1", "go")
	p := s.process(c)
	s.until("the second step", func() bool { return m.Asked() == 2 })
	p.kill()
	s.until("the end of the lease", func() bool { return !s.thread().Leased(s.now()) })
	b := s.join()
	b.Live = ownStreams{newLive(), b.Live}
	e := s.over(b, c)
	snap, err := e.Snapshot(context.Background(), chat, nil)
	if err != nil {
		s.Fatal(err)
	}
	want := snap.Cursor()
	if want.Stream != "r1:1" || want.Offset.IsZero() {
		s.Errorf("the snapshot stands at %s", want)
	}
	client := &spooltest.Client{Name: "live"}
	at := want
	live := s.watch(e, client, wire.FollowOptions{Cursor: &at})
	for range 3 {
		<-time.After(time.Second)
		if _, err := e.PublishEvent(context.Background(), chat, "note", 1, wire.PublishOptions{Durable: true}); err != nil {
			s.Fatal(err)
		}
		want.Seq++
		s.until("the entry", func() bool { at := client.Cursor(); return at != nil && at.Seq == want.Seq })
		if at := client.Cursor(); *at != want {
			s.Errorf("after the entry the client stands at %s, want %s", at, want)
		}
	}
	close(gate)
	s.work(e)
	s.ended(wire.Completed)
	<-time.After(quiet)
	live()
}
