package enginetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// holeTest is the fixture of the cases about run streams that lose an item.
type holeTest struct{ *engineTest }

// holeTests lose one item of a run stream. Items are numbered consecutively, so a reader sees the gap
// and gives its clients a snapshot.
var holeTests = map[string]func(s holeTest){
	"Live":       testHoleLive,
	"Shared":     testHoleShared,
	"First":      testHoleFirst,
	"Finished":   testHoleFinished,
	"Nested":     testHoleNested,
	"Resumed":    testHoleResumed,
	"SSE":        testHoleSSE,
	"ReadStream": testHoleReadStream,
}

// losesItem are run streams that lose the items for which loses returns true.
type losesItem struct {
	store.Live

	loses func(item wire.Item) bool
}

// Append keeps the other items.
func (l losesItem) Append(ctx context.Context, key store.StreamKey, items []wire.Item) error {
	return l.Live.Append(ctx, key, slices.DeleteFunc(slices.Clone(items), l.loses))
}

// two reports whether an item is the one in the middle of the first answer of [holeTest.losing].
func two(item wire.Item) bool { return strings.Contains(string(item.Data), `"two "`) }

// losing returns an engine over streams that lose items. Its model calls a tool, and then says more;
// a gate holds its first answer open after the text.
func (s holeTest) losing(loses func(item wire.Item) bool, gate <-chan struct{}) *engine.Engine {
	c := s.config(spooltest.NewReplayModel(
		spooltest.Turn{
			Text:  []string{"one ", "two ", "three "},
			Gate:  gate,
			Calls: []spooltest.Call{{ID: "c1", Name: "look"}},
		},
		spooltest.Say("four"),
	), plain("look", "1"))
	c.Stream.FlushEvery = -1
	b := s.join()
	b.Live = losesItem{b.Live, loses}
	return s.over(b, c)
}

// wholes returns the frames with a snapshot of the whole thread.
func wholes(frames []wire.Frame) (of []wire.Frame) {
	for _, f := range frames {
		if f.Kind == wire.FrameSnapshot && f.Snapshot.AfterMessageID == nil {
			of = append(of, f)
		}
	}
	return of
}

const fourWords = "one two three four"

// answered checks the frames of a client that was connected when the item was lost: one snapshot at the
// gap, and the saved content before the segment's end.
func (s holeTest) answered(frames []wire.Frame) {
	s.Helper()
	if len(wholes(frames)) != 1 || len(parts(frames)) != 1 || shownText(frames) != fourWords {
		s.Errorf("a client shows %q:\n%s", shownText(frames), transcript(frames))
	}
	if at := endAt(frames, "r1:1"); at < 1 || frames[at-1].Kind != wire.FrameSnapshot {
		s.Errorf("before the end of the segment comes no snapshot:\n%s", transcript(frames))
	}
}

// testHoleLive loses an item of a step that is still going on when the client reads it.
func testHoleLive(s holeTest) {
	gate := make(chan struct{})
	e := s.losing(two, gate)
	s.start(e, "r1", "go")
	stop := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{Cursor: &wire.Cursor{}})
	s.work(e)
	<-time.After(time.Second)
	close(gate)
	s.ended(wire.Completed)
	<-time.After(quiet)
	frames := stop()
	s.answered(frames)
	at := slices.IndexFunc(frames, func(f wire.Frame) bool { return f.Kind == wire.FrameSnapshot })
	if at < 1 {
		s.Fatalf("the client saw\n%s", transcript(frames))
	}
	if before := frames[at-1]; before.Item == nil || deltaOf(*before.Item) != "one " {
		s.Errorf("the snapshot does not come at the hole:\n%s", transcript(frames))
	}
}

// testHoleShared has many clients, which share one hub.
func testHoleShared(s holeTest) {
	gate := make(chan struct{})
	e := s.losing(two, gate)
	s.start(e, "r1", "go")
	var stops []func() []wire.Frame
	for i := range 30 {
		stops = append(stops, s.watch(e, &spooltest.Client{Name: fmt.Sprintf("client %d", i), FromStart: true},
			wire.FollowOptions{}))
	}
	s.work(e)
	<-time.After(time.Second)
	close(gate)
	s.ended(wire.Completed)
	<-time.After(quiet)
	for _, stop := range stops {
		s.answered(stop())
	}
}

// testHoleFirst loses the first item of a stream.
func testHoleFirst(s holeTest) {
	gate := make(chan struct{})
	e := s.losing(func(item wire.Item) bool { return item.Type == wire.ItemRunStarted }, gate)
	s.start(e, "r1", "go")
	stop := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{Cursor: &wire.Cursor{}})
	s.work(e)
	<-time.After(time.Second)
	close(gate)
	s.ended(wire.Completed)
	<-time.After(quiet)
	s.answered(stop())
}

// testHoleFinished loses the item that says that a step was saved.
func testHoleFinished(s holeTest) {
	lost := false
	e := s.losing(func(item wire.Item) bool {
		first := item.Type == wire.ItemStepFinished && !lost
		lost = lost || first
		return first
	}, nil)
	s.start(e, "r1", "go")
	stop := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{Cursor: &wire.Cursor{}})
	s.work(e)
	s.ended(wire.Completed)
	<-time.After(quiet)
	if frames := stop(); len(wholes(frames)) != 1 || shownText(frames) != fourWords {
		s.Errorf("the client shows %q:\n%s", shownText(frames), transcript(frames))
	}
}

// testHoleNested loses an item of a nested run.
func testHoleNested(s holeTest) {
	m := casting(map[string][]spooltest.Turn{
		"go":   {spooltest.Use(spawn("c1", "helper", "find")), spooltest.Say("done")},
		"find": {{Text: []string{"one ", "two ", "three"}}},
	})
	c := nestedTest(s).treeConfig(m)
	c.Stream.FlushEvery = -1
	b := s.join()
	b.Live = losesItem{b.Live, two}
	e := s.over(b, c)
	s.start(e, "r1", "go")
	stop := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{Cursor: &wire.Cursor{}})
	s.work(e)
	s.ended(wire.Completed)
	<-time.After(quiet)
	if frames := stop(); len(wholes(frames)) != 1 {
		s.Errorf("the client saw\n%s", transcript(frames))
	}
}

// testHoleResumed has clients that come back after the run has ended, with cursors before and after the
// gap.
func testHoleResumed(s holeTest) {
	e := s.losing(two, nil)
	s.start(e, "r1", "go")
	s.work(e)
	s.ended(wire.Completed)
	fence, turn := s.thread().Fence, s.messagesOf(chat)[0].ID
	for n := range int64(12) {
		at := &wire.Cursor{Seq: 1, Stream: "r1:1", Offset: wire.Offset{Fence: fence, N: n}}
		frames := s.collect(e, chat, wire.FollowOptions{Cursor: at, LastMessageID: turn})
		whole, part := len(wholes(frames)), len(parts(frames))
		if n <= 3 && (whole != 1 || part != 0) || n > 3 && (whole != 0 || part != 1) {
			s.Errorf("after %s comes\n%s", at, transcript(frames))
		}
		for _, f := range frames {
			if f.Kind == wire.FrameSnapshot && snapshotText(f.Snapshot) != fourWords {
				s.Errorf("after %s comes a snapshot with %q", at, snapshotText(f.Snapshot))
			}
		}
	}
}

// testHoleSSE reads the event stream of a running run, and reconnects with each id.
func testHoleSSE(s holeTest) {
	gate := make(chan struct{})
	e := s.losing(two, gate)
	s.start(e, "r1", "go")
	s.work(e)
	open := time.AfterFunc(time.Second, func() { close(gate) })
	defer open.Stop()
	start := int64(0)
	frames, _ := s.sse(e, chat, wire.SSEOptions{Since: &start}, quiet)
	s.answered(frames)
	for i, f := range frames {
		if f.Cursor == nil || f.Kind == wire.FrameThread {
			continue
		}
		more, _ := s.sse(e, chat, wire.SSEOptions{Cursor: f.Cursor.String()}, quiet)
		if text := shownText(append(slices.Clone(frames[:i+1]), more...)); text != fourWords {
			s.Errorf("a client that comes back after %s shows %q", frameLine(f), text)
		}
	}
}

// testHoleReadStream reads the stream alone, which ends with an error at the gap.
func testHoleReadStream(s holeTest) {
	e := s.losing(two, nil)
	s.start(e, "r1", "go")
	s.work(e)
	s.ended(wire.Completed)
	var text strings.Builder
	var err error
	for item, failed := range e.ReadStream(context.Background(), chat, "r1:1", wire.Offset{}) {
		if err = failed; err == nil {
			text.WriteString(deltaOf(item))
		}
	}
	if text.String() != "one " || !errors.Is(err, store.ErrStreamGone) {
		s.Errorf("the stream says %q, and then %v", text.String(), err)
	}
}
