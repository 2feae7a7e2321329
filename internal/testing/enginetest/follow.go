package enginetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// followTest is the fixture of the cases about followers and the user turns that they get.
type followTest struct{ *engineTest }

var followTests = map[string]func(s followTest){
	"AfterEveryFrame": testFollowAfterEveryFrame,
	"FromNow":         testFollowFromNow,
	"ForeignStream":   testFollowForeignStream,
	"BeyondTheRecord": testFollowBeyondTheRecord,
	"GoneStream":      testFollowGoneStream,
	"Hello":           testFollowHello,
	"SlowReader":      testFollowSlowReader,
	"Fifty":           testFollowFifty,
	"LostWakes":       testFollowLostWakes,
	"Record":          testFollowRecord,
	"ReadStream":      testFollowReadStream,
	"BeforeSegment":   testFollowBeforeSegment,
	"SlowWalk":        testFollowSlowWalk,
	"SlowWalkRecord":  testFollowSlowWalkRecord,
}

// told runs the whole script of [talking], and returns the frames of a live client.
func (s followTest) told() (*engine.Engine, []wire.Frame) {
	s.Helper()
	m, _ := talking()
	c := s.config(m, plain("look", "1"), approved("send", "2"))
	c.Stream.FlushEvery = -1
	e := s.engine(c)
	s.start(e, "r1", "go")
	stop := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{Cursor: &wire.Cursor{}})
	s.work(e)
	s.becomes(wire.WaitingForInput)
	<-time.After(time.Second)
	s.answer(e, "c3", true, "")
	s.ended(wire.Completed)
	<-time.After(time.Second)
	return e, stop()
}

func testFollowAfterEveryFrame(s followTest) {
	e, frames := s.told()
	whole := frameLines(frames)
	if len(whole) < 40 {
		s.Fatalf("frames: %s", strings.Join(whole, "\n"))
	}
	if strings.Contains(strings.Join(whole, "\n"), "snapshot") {
		s.Errorf("a live client got a snapshot: %s", strings.Join(whole, "\n"))
	}
	n := 0
	for _, f := range frames {
		if f.Cursor == nil {
			continue
		}
		n++
		got := frameLines(s.collect(e, chat, wire.FollowOptions{Cursor: f.Cursor}))
		s.lines("after "+frameLine(f), got, whole[n:]...)
	}
	s.lines("from the start", frameLines(s.collect(e, chat, wire.FollowOptions{Cursor: &wire.Cursor{Stream: "r1:1"}})),
		whole...)
}

// testFollowFromNow follows without a cursor: the client gets the whole record, and of the streams only
// items in flight that are not yet in the messages.
func testFollowFromNow(s followTest) {
	gate := make(chan struct{})
	m := spooltest.NewReplayModel(
		spooltest.Turn{Text: []string{"saved"}, Calls: []spooltest.Call{{ID: "c1", Name: "look"}}},
		spooltest.Turn{Text: []string{"un", "saved"}, Gate: gate},
	)
	c := s.config(m, plain("look", "1"))
	c.Stream.FlushEvery = -1
	e := s.working(c)
	s.start(e, "r1", "go")
	s.until("the second step", func() bool { return m.Asked() == 2 })
	<-time.After(time.Second)
	for name, frames := range map[string][]wire.Frame{
		"no cursor": s.collect(e, chat, wire.FollowOptions{}),
		"malformed": first(s.sse(e, chat, wire.SSEOptions{Cursor: "1 2 3 4"}, quiet)),
	} {
		if text := shownText(frames); text != "unsaved" {
			s.Errorf("%s: the stream in flight shows %q", name, text)
		}
		if lines := frameLines(frames); len(lines) == 0 || !strings.HasSuffix(lines[0], "=RUN_STARTED r1:1") {
			s.Errorf("%s: %v", name, lines)
		}
	}
	since := int64(0) // a cursor at the record's start
	if text := shownText(first(s.sse(e, chat, wire.SSEOptions{Since: &since}, quiet))); text != "savedunsaved" {
		s.Errorf("since 0: the streams show %q", text)
	}
	close(gate)
	s.ended(wire.Completed)
	lines := frameLines(s.collect(e, chat, wire.FollowOptions{}))
	if len(lines) != 2 || !strings.HasSuffix(lines[0], "=RUN_STARTED r1:1") ||
		!strings.HasSuffix(lines[1], "=RUN_ENDED r1:1 finished") {
		s.Errorf("after the end: %v", lines)
	}
}

func first[A, B any](a A, _ B) A { return a }

// testFollowForeignStream uses cursors that name streams of other threads.
func testFollowForeignStream(s followTest) {
	e := s.working(s.config(echo()))
	other := spool.ThreadKey{Tenant: "acme", ID: "other"}
	s.startAs(e, other, wire.StartRequest{Prompt: "secret", RunID: "theirs"})
	s.start(e, "mine", "hello")
	s.ended(wire.Completed)
	s.until("the other run", func() bool { return s.threadOf(other).State == wire.Completed })
	for _, stream := range []wire.StreamID{"theirs:1", "none:1", "mine:2"} {
		frames := s.collect(e, chat, wire.FollowOptions{
			Cursor: &wire.Cursor{Seq: 1, Stream: stream, Offset: wire.Offset{Fence: 1, N: 2}},
		})
		snapshots := 0
		for _, f := range frames {
			if f.Kind == wire.FrameSnapshot {
				snapshots++
				if f.Snapshot.Thread.ID != chat.ID || snapshotText(f.Snapshot) != "re: hello" {
					s.Errorf("%s: the snapshot is %+v", stream, f.Snapshot)
				}
			}
			if f.Kind == wire.FrameStream && f.StreamID != "mine:1" {
				s.Errorf("%s: %s", stream, frameLine(f))
			}
		}
		if snapshots != 1 || len(frameLines(frames)) != 1 {
			s.Errorf("%s: %v", stream, frameLines(frames))
		}
	}
}

func testFollowBeyondTheRecord(s followTest) {
	e := s.working(s.config(echo()))
	s.start(e, "r1", "hello")
	s.ended(wire.Completed)
	for _, at := range []wire.Cursor{
		{Seq: 3},
		{Seq: 99, Stream: "r1:1", Offset: wire.Offset{Fence: 1, N: 2}},
		{Seq: 2, Stream: "r1:1", Offset: wire.Offset{Fence: 1, N: 99}},
	} {
		lines := frameLines(s.collect(e, chat, wire.FollowOptions{Cursor: &at}))
		if len(lines) != 1 || !strings.HasSuffix(lines[0], "snapshot") || !strings.HasPrefix(lines[0], "2 r1:1 1-") {
			s.Errorf("at %s: %v", at, lines)
		}
	}
}

// testFollowGoneStream reconnects after the cursor's stream has expired.
func testFollowGoneStream(s followTest) {
	e, frames := s.told()
	last := s.messagesOf(chat)[1].ID
	<-time.After(11 * time.Minute)
	for _, f := range frames {
		if f.Cursor == nil || f.Cursor.Stream == "" {
			continue
		}
		got := s.collect(e, chat, wire.FollowOptions{Cursor: f.Cursor, LastMessageID: last})
		lines := frameLines(got)
		if len(lines) != 1 || !strings.HasSuffix(lines[0], "snapshot") {
			s.Errorf("after %s: %v", frameLine(f), lines)
			continue
		}
		for _, g := range got {
			if g.Kind == wire.FrameSnapshot && (len(g.Snapshot.Messages) != 5 || g.Snapshot.Messages[0].Role != spool.RoleTool) {
				s.Errorf("after %s: the snapshot has %d messages", frameLine(f), len(g.Snapshot.Messages))
			}
		}
	}
}

// testFollowHello checks the notices at the beginning of a connection.
func testFollowHello(s followTest) {
	e := s.working(s.config(echo()))
	s.startAs(e, chat, wire.StartRequest{Prompt: "one", RunID: "r1", ClientMessageID: "mine"})
	s.ended(wire.Completed)
	at := s.collect(e, chat, wire.FollowOptions{})
	s.lines("all", notices(at), "STATE_CHANGE COMPLETED", "MESSAGE_APPENDED")
	if !strings.Contains(string(at[1].Event.Payload), `"clientMessageId":"mine"`) {
		s.Errorf("the turn: %s", at[1].Event.Payload)
	}
	var known *wire.Cursor
	for _, f := range at {
		if f.Cursor != nil {
			known = f.Cursor
		}
	}
	s.start(e, "r2", "two")
	s.ended(wire.Completed)
	missed := s.collect(e, chat, wire.FollowOptions{Cursor: known})
	s.lines("missed", notices(missed)[:2], "STATE_CHANGE COMPLETED", "MESSAGE_APPENDED")
	if !strings.Contains(string(missed[1].Event.Payload), `"two"`) {
		s.Errorf("the turn: %s", missed[1].Event.Payload)
	}
	last := s.messagesOf(chat)
	s.lines("none missed", notices(s.collect(e, chat, wire.FollowOptions{LastMessageID: last[2].ID})),
		"STATE_CHANGE COMPLETED")

	// A live client gets each state and turn once, whichever process makes it.
	client := &spooltest.Client{Name: "live"}
	stop := s.watch(e, client, wire.FollowOptions{LastMessageID: last[3].ID})
	<-time.After(time.Second)
	s.start(e, "r3", "three")
	s.ended(wire.Completed)
	<-time.After(time.Second)
	got := notices(stop())
	s.lines("live", slices.DeleteFunc(got,
		func(l string) bool { return l == "STATE_CHANGE RUNNING" || l == "STATE_CHANGE QUEUED" }),
		"STATE_CHANGE COMPLETED", "MESSAGE_APPENDED", "STATE_CHANGE COMPLETED")
}

// flood returns a model whose run has many items.
func flood(n int, gate chan struct{}) (*spooltest.Model, string) {
	deltas := make([]string, n)
	for i := range deltas {
		deltas[i] = string(rune('a' + i%26))
	}
	return spooltest.NewModel(spooltest.Turn{Text: deltas, Gate: gate}), strings.Join(deltas, "")
}

// testFollowSlowReader has a client that stops reading until the hub's ring was overwritten more than
// twice.
func testFollowSlowReader(s followTest) {
	m, whole := flood(3000, nil)
	c := s.config(m)
	e := s.engine(c)
	s.start(e, "r1", "go")
	slow := s.history.Client(&spooltest.Client{Name: "slow", Thread: chat, FromStart: true})
	quick := s.watch(e, &spooltest.Client{Name: "quick", FromStart: true}, wire.FollowOptions{Cursor: &wire.Cursor{}})
	ctx, cancel := context.WithCancel(context.Background())
	gate := make(chan struct{})
	done := make(chan struct{})
	var had atomic.Int64
	go func() {
		defer close(done)
		for f, err := range e.Follow(ctx, chat, wire.FollowOptions{Cursor: &wire.Cursor{}}) {
			if err != nil {
				return
			}
			slow.Saw(f)
			if had.Add(1) > 10 {
				<-gate
			}
		}
	}()
	s.work(e)
	s.ended(wire.Completed)
	<-time.After(time.Second)
	if had.Load() > 100 {
		s.Errorf("the slow client has had %d frames", had.Load())
	}
	close(gate)
	<-time.After(time.Second)
	cancel()
	receive(s, done, bubbleWait, "the end of the goroutine")
	want := frameLines(quick())
	s.lines("the slow client", frameLines(slow.Frames), want...)
	if shownText(slow.Frames) != whole || len(want) < 3000 {
		s.Errorf("%d frames", len(want))
	}
}

func testFollowFifty(s followTest) {
	m, _ := talking()
	c := s.config(m, plain("look", "1"), approved("send", "2"))
	c.Stream.FlushEvery = -1
	e := s.engine(c)
	s.start(e, "r1", "go")
	stops := make([]func() []wire.Frame, 50)
	for i := range stops {
		stops[i] = s.watch(e, &spooltest.Client{Name: "client " + string(rune('A'+i)), FromStart: true},
			wire.FollowOptions{Cursor: &wire.Cursor{}})
	}
	s.work(e)
	s.becomes(wire.WaitingForInput)
	s.answer(e, "c3", true, "")
	s.ended(wire.Completed)
	<-time.After(time.Second)
	want := frameLines(stops[0]())
	for _, stop := range stops[1:] {
		s.lines("another client", frameLines(stop()), want...)
	}
}

// testFollowLostWakes follows over a bus that loses all wake-ups.
func testFollowLostWakes(s followTest) {
	m, whole := talking()
	c := s.config(m, plain("look", "1"), approved("send", "2"))
	s.start(s.engine(c), "r1", "go")
	p := s.process(c)
	p.faulty.DropWakes(true)
	// with a cursor, because the first step may already be saved
	stop := s.watch(p.Engine, &spooltest.Client{Name: "live"}, wire.FollowOptions{Cursor: &wire.Cursor{}})
	s.becomes(wire.WaitingForInput)
	s.answer(p.Engine, "c3", true, "")
	s.ended(wire.Completed)
	<-time.After(quiet)
	frames := stop()
	if text := shownText(frames); text != whole {
		s.Errorf("the client shows %q", text)
	}
	if got := notices(frames); got[len(got)-1] != "STATE_CHANGE COMPLETED" {
		s.Errorf("notices: %v", got)
	}
}

func testFollowRecord(s followTest) {
	m, _ := talking()
	e := s.working(s.config(m, plain("look", "1"), approved("send", "2")))
	s.start(e, "r1", "go")
	var mu sync.Mutex
	seen := make(map[int64][]string)
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	for _, since := range []int64{-1, 0, 2, 99} {
		group.Go(func() {
			for entry, err := range e.FollowRecord(ctx, chat, since) {
				if err != nil {
					if !errors.Is(err, context.Canceled) {
						s.Errorf("follow record: %v", err)
					}
					return
				}
				if entry.Seq > 0 {
					mu.Lock()
					seen[since] = append(seen[since], entryLine(entry))
					mu.Unlock()
				}
			}
		})
	}
	s.becomes(wire.WaitingForInput)
	s.answer(e, "c3", true, "")
	s.ended(wire.Completed)
	<-time.After(time.Second)
	cancel()
	group.Wait()
	whole := s.record()
	s.lines("since -1", seen[-1], whole...)
	s.lines("since 0", seen[0], whole...)
	s.lines("since 2", seen[2], whole[2:]...)
}

func testFollowReadStream(s followTest) {
	gate := make(chan struct{})
	m, whole := flood(700, gate)
	e := s.working(s.config(m))
	read := func(after wire.Offset) (text string, n int, err error) {
		for item, err := range e.ReadStream(context.Background(), chat, "r1:1", after) {
			if err != nil {
				return text, n, err
			}
			text += deltaOf(item)
			n++
		}
		return text, n, nil
	}
	s.start(e, "r1", "go")
	s.becomes(wire.Running)
	<-time.After(time.Second)
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			if text, n, err := read(wire.Offset{}); text != whole || n != 705 || err != nil {
				s.Errorf("live: %d items, %v", n, err)
			}
		})
	}
	<-time.After(time.Second)
	close(gate)
	group.Wait()
	s.ended(wire.Completed)
	fence := s.thread().Fence
	if text, n, err := read(wire.Offset{Fence: fence, N: 102}); text != whole[100:] || n != 603 || err != nil {
		s.Errorf("from the middle: %d items, %v", n, err)
	}
	<-time.After(11 * time.Minute)
	if _, n, err := read(wire.Offset{}); n != 0 || !errors.Is(err, store.ErrStreamGone) {
		s.Errorf("after its grace: %d items, %v", n, err)
	}
}
