package enginetest

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// snapshotTest is the fixture of the cases about snapshots.
type snapshotTest struct{ *engineTest }

var snapshotTests = map[string]func(s snapshotTest){
	"AtEveryCall":  testSnapshotAtEveryCall,
	"Encoded":      testSnapshotEncoded,
	"EncodedPage":  testSnapshotEncodedPage,
	"FollowsOn":    testSnapshotFollowsOn,
	"BeforeItems":  testSnapshotBeforeItems,
	"Pages":        testSnapshotPages,
	"StreamEnds":   testSnapshotStreamEnds,
	"ActiveEvents": testSnapshotActiveEvents,
	"Questions":    testSnapshotQuestions,
	"NewestRuns":   testSnapshotNewestRuns,
}

// talking returns a model whose run has several steps, parks and texts. Each piece of text is unique.
func talking() (*spooltest.Model, string) {
	m := spooltest.NewReplayModel(
		spooltest.Turn{
			Reasoning: []string{"r1"},
			Text:      []string{"a1 ", "a2 ", "a3 "},
			Calls:     []spooltest.Call{{ID: "c1", Name: "look"}, {ID: "c2", Name: "look"}},
		},
		spooltest.Turn{
			Text:  []string{"b1 ", "b2 "},
			Calls: []spooltest.Call{{ID: "c3", Name: "send"}, {ID: "c4", Name: "look"}},
		},
		spooltest.Turn{Text: []string{"c1 ", "c2 "}},
	)
	return m, "a1 a2 a3 b1 b2 c1 c2 "
}

// probing runs a function after every call that writes, one at a time: a stream opens beside the work of its run.
type probing struct {
	store.Store
	store.Live

	mu    sync.Mutex
	after func()
}

func (p *probing) probe() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.after()
}

// Update runs the probe after the commit.
func (p *probing) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(store.Tx) error) error {
	defer p.probe()
	return p.Store.Update(ctx, key, fence, fn)
}

func (p *probing) Append(ctx context.Context, key store.StreamKey, items []wire.Item) error {
	defer p.probe()
	return p.Live.Append(ctx, key, items)
}

// probingStore and probingLive wrap methods that both ports have under the same names.
type (
	probingStore struct{ *probing }
	probingLive  struct{ *probing }
)

func (p probingStore) Close() error { return p.Store.Close() }

func (p probingLive) Close(ctx context.Context, key store.StreamKey, end wire.Item, grace time.Duration) error {
	defer p.probe()
	return p.Live.Close(ctx, key, end, grace)
}

// testSnapshotAtEveryCall takes a snapshot after each write of the worker: a snapshot never has a piece
// twice, never lacks a saved piece, and never goes back.
func testSnapshotAtEveryCall(s snapshotTest) {
	m, whole := talking()
	c := s.config(m, plain("look", "1"), approved("send", "2"))
	c.Stream.FlushEvery = -1
	reader := s.engine(c)
	shown, taken := "", 0
	b := s.join()
	p := &probing{Store: b.Store, Live: b.Live}
	p.after = func() {
		snap, err := reader.Snapshot(context.Background(), chat, nil)
		if err != nil {
			return // the thread does not exist yet
		}
		taken++
		now := snapshotText(snap)
		if !strings.HasPrefix(whole, now) || len(now) < len(shown) {
			s.Errorf("a snapshot shows %q after %q", now, shown)
		}
		shown = now
	}
	b.Store, b.Live = probingStore{p}, probingLive{p}
	e := s.over(b, c)
	s.start(e, "r1", "go")
	one := func() {
		if _, err := e.HandleJob(context.Background(), ticket("r1")); err != nil {
			s.Error(err)
		}
	}
	one()
	s.answer(e, "c3", true, "")
	one()
	s.ended(wire.Completed)
	if shown != whole || taken < 20 {
		s.Errorf("the last of %d snapshots shows %q", taken, shown)
	}
}

// testSnapshotFollowsOn takes a snapshot at each frame of a live client, and checks what a client has
// that continues from the snapshot.
func testSnapshotFollowsOn(s snapshotTest) {
	m, whole := talking()
	c := s.config(m, plain("look", "1"), approved("send", "2"))
	c.Stream.FlushEvery = -1
	e := s.engine(c)
	s.start(e, "r1", "go")
	var snaps []*wire.Snapshot
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		var shown strings.Builder
		for f, err := range e.Follow(ctx, chat, wire.FollowOptions{}) {
			if err != nil {
				return
			}
			if f.Kind == wire.FrameStream {
				shown.WriteString(deltaOf(*f.Item))
			}
			snap, err := e.Snapshot(context.Background(), chat, nil)
			if err != nil {
				s.Errorf("snapshot: %v", err)
				return
			}
			if text := snapshotText(snap); !strings.HasPrefix(text, shown.String()) || !strings.HasPrefix(whole, text) {
				s.Errorf("after %s, where %q is shown, a snapshot has %q", frameLine(f), shown.String(), text)
			}
			snaps = append(snaps, snap)
		}
	}()
	<-time.After(time.Second)
	s.work(e)
	s.becomes(wire.WaitingForInput)
	<-time.After(time.Second)
	s.answer(e, "c3", true, "")
	s.ended(wire.Completed)
	<-time.After(time.Second)
	cancel()
	receive(s, done, bubbleWait, "the end of the goroutine")
	if len(snaps) < 20 {
		s.Errorf("%d snapshots", len(snaps))
	}
	for _, snap := range snaps {
		at := snap.Cursor()
		var text strings.Builder
		text.WriteString(snapshotText(snap))
		for _, f := range s.collect(e, chat, wire.FollowOptions{Cursor: &at}) {
			switch f.Kind {
			case wire.FrameStream:
				text.WriteString(deltaOf(*f.Item))
			case wire.FrameSnapshot:
				s.Errorf("a cursor of a snapshot, %s, gives another snapshot", at)
			case wire.FrameThread:
			}
		}
		if text.String() != whole {
			s.Errorf("a client that goes on from %s shows %q", at, text.String())
		}
	}
}

func testSnapshotPages(s snapshotTest) {
	e := s.working(s.config(echo()))
	for _, prompt := range []string{"1", "2", "3"} {
		s.start(e, spool.RunID("r"+prompt), prompt)
		s.ended(wire.Completed)
	}
	texts := func(o *wire.SnapshotOptions) (lines []string) {
		s.Helper()
		snap, err := e.Snapshot(context.Background(), chat, o)
		if err != nil {
			s.Fatal(err)
		}
		for _, m := range snap.Messages {
			lines = append(lines, m.Text())
		}
		return lines
	}
	all := s.messagesOf(chat)
	s.lines("all", texts(nil), "1", "re: 1", "2", "re: 2", "3", "re: 3")
	s.lines("the newest", texts(&wire.SnapshotOptions{Limit: 2}), "3", "re: 3")
	s.lines("those before", texts(&wire.SnapshotOptions{Limit: 2, Before: all[4].ID}), "2", "re: 2")
	s.lines("those after", texts(&wire.SnapshotOptions{LastMessageID: all[3].ID}), "3", "re: 3")
	s.lines("after an unknown one", texts(&wire.SnapshotOptions{LastMessageID: "x"}), "1", "re: 1", "2", "re: 2", "3",
		"re: 3")
	s.lines("after the last", texts(&wire.SnapshotOptions{LastMessageID: all[5].ID}))
	snap, err := e.Snapshot(context.Background(), chat, &wire.SnapshotOptions{Limit: 1})
	if err != nil || len(snap.Runs) != 3 || snap.Runs[0].ID != "r3" || snap.LastEventSeq != 6 ||
		snap.Thread.State != wire.Completed {
		s.Errorf("the rest: %+v, %v", snap, err)
	}
}

func testSnapshotStreamEnds(s snapshotTest) {
	gate := make(chan struct{})
	e := s.working(s.config(spooltest.NewModel(spooltest.Turn{Text: []string{"hi"}, Gate: gate})))
	snapshot := func() *wire.Snapshot {
		s.Helper()
		snap, err := e.Snapshot(context.Background(), chat, nil)
		if err != nil {
			s.Fatal(err)
		}
		return snap
	}
	s.start(e, "r1", "go")
	snap := snapshot()
	if snap.Stream != nil && snap.Stream.End != nil || snap.LastEventSeq > 1 {
		s.Errorf("at the start: %+v", snap.Stream)
	}
	s.until("the text", func() bool {
		snap = snapshot()
		return snap.Stream != nil && len(snap.Stream.Items) == 3
	})
	if snap.Stream.StreamID != "r1:1" || snap.Stream.RunID != "r1" || snap.Stream.End != nil ||
		*snap.Stream.Offset != snap.Stream.Items[2].Offset {
		s.Errorf("while it runs: %+v", snap.Stream)
	}
	close(gate)
	s.ended(wire.Completed)
	<-time.After(59 * time.Second)
	snap = snapshot()
	if snap.Stream == nil || snap.Stream.End == nil || snap.Stream.End.Type != wire.ItemRunFinished ||
		snapshotText(snap) != "hi" {
		s.Errorf("soon: %+v", snap.Stream)
	}
	<-time.After(2 * time.Second)
	if snap = snapshot(); snap.Stream != nil || snapshotText(snap) != "hi" {
		s.Errorf("a minute later: %+v", snap.Stream)
	}
}

func testSnapshotActiveEvents(s snapshotTest) {
	e := s.working(
		s.config(spooltest.NewReplayModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}), spooltest.Say("done")),
			approved("send", "1")),
	)
	events := func() (lines []string) {
		snap, err := e.Snapshot(context.Background(), chat, nil)
		if err != nil {
			s.Error(err)
			return nil
		}
		for _, entry := range snap.ActiveEvents {
			lines = append(lines, entryLine(entry))
		}
		return lines
	}
	for _, id := range []spool.RunID{"r1", "r2"} {
		s.start(e, id, "go")
		s.becomes(wire.WaitingForInput)
		want := []string{
			"RUN_STARTED " + string(id) + ":1", "INPUT_REQUIRED c1 approval", "RUN_ENDED " + string(id) + ":1 parked",
		}
		if id == "r2" { // this run's call has another id
			call := s.parksOf(chat, id)[0].ToolCallID
			want[1] = "INPUT_REQUIRED " + string(call) + " approval"
			s.lines("parked", events(), want...)
			s.answer(e, call, true, "")
		} else {
			s.lines("parked", events(), want...)
			s.answer(e, "c1", true, "")
		}
		s.ended(wire.Completed)
		s.lines("ended", events())
	}
}

// testSnapshotNewestRuns: a snapshot has the newest hundred runs of a thread, and so has the one that is made of the
// record, which the case compares at each version.
func testSnapshotNewestRuns(s snapshotTest) {
	const most, more = 100, 3
	c := s.config(spooltest.NewModel())
	c.Limits.Waiting = most + more
	e := s.engine(c)
	for n := range most + more {
		s.startAs(e, chat, wire.StartRequest{
			Prompt: "hello", RunID: spool.RunID("r" + strconv.Itoa(n)), WhenBusy: spool.BusyEnqueue,
		})
	}
	snapshot, err := e.Snapshot(context.Background(), chat, nil)
	if err != nil {
		s.Fatal(err)
	}
	runs := snapshot.Runs
	if len(runs) != most {
		s.Fatalf("the snapshot has %d runs", len(runs))
	}
	if first, last := runs[0].ID, runs[len(runs)-1].ID; first != "r102" || last != "r3" {
		s.Errorf("the snapshot has the runs %s to %s", first, last)
	}
}
