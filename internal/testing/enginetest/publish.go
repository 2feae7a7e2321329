package enginetest

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strconv"
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

// publishTest is the fixture of the cases about published events.
type publishTest struct{ *engineTest }

var publishTests = map[string]func(s publishTest){
	"FromATool":     testPublishFromATool,
	"Outside":       testPublishOutside,
	"OtherProcess":  testPublishOtherProcess,
	"OneOrder":      testPublishOneOrder,
	"Waiting":       testPublishWaiting,
	"Refused":       testPublishRefused,
	"LostLease":     testPublishLostLease,
	"WhileSettling": testPublishWhileSettling,
	"StreamOver":    testPublishStreamOver,
	"Nested":        testPublishNested,
	"By":            testPublishBy,
	"List":          testPublishList,
}

// telling returns a tool that calls do and returns 1.
func telling(name string, do func(ctx context.Context, call spool.ToolCall) error) spool.Tool {
	return spool.Tool{
		ToolSpec: spool.ToolSpec{Name: name},
		Call: func(ctx context.Context, call spool.ToolCall) (json.RawMessage, error) {
			return json.RawMessage("1"), do(ctx, call)
		},
	}
}

// published returns a line for each application event in the frames: its kind, type and payload, and the
// run of an event that is not a stream item.
func published(frames []wire.Frame) (lines []string) {
	for _, f := range frames {
		switch {
		case f.Kind == wire.FrameStream && f.Item.Type == wire.ItemCustom:
			var c wire.Custom
			_ = f.Item.Decode(&c)
			lines = append(lines, "item "+c.Name+string(c.Value))
		case f.Kind == wire.FrameThread && spool.CheckEventType(string(f.Event.Type)) == nil && f.Event.Seq == 0:
			lines = append(lines, "notice "+string(f.Event.Type)+string(f.Event.Payload)+string(f.Event.RunID))
		case f.Kind == wire.FrameThread && spool.CheckEventType(string(f.Event.Type)) == nil:
			lines = append(lines, "entry "+string(f.Event.Type)+string(f.Event.Payload)+string(f.Event.RunID))
		}
	}
	return lines
}

// testPublishFromATool has a tool that publishes its progress and a durable receipt. Both have the same
// position live and replayed, and the receipt is in the record only.
func testPublishFromATool(s publishTest) {
	m := spooltest.NewReplayModel(spooltest.Turn{Text: []string{"a"}, Calls: []spooltest.Call{{ID: "c1", Name: "pay"}}},
		spooltest.Say("b"))
	e := s.engine(s.config(m, telling("pay", func(ctx context.Context, call spool.ToolCall) error {
		for i := range 2 {
			if err := call.Publish(ctx, "progress", i); err != nil {
				return err
			}
		}
		if err := call.PublishDurable(ctx, "receipt", map[string]int{"cents": 5}); err != nil {
			return err
		}
		return call.Publish(ctx, "progress", 2)
	})))
	s.start(e, "r1", "go")
	stop := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{Cursor: &wire.Cursor{}})
	s.work(e)
	s.ended(wire.Completed)
	<-time.After(time.Second)
	frames := stop()
	s.lines("live", published(frames), "item progress0", "item progress1", `entry receipt{"cents":5}r1`, "item progress2")
	replayed := s.collect(e, chat, wire.FollowOptions{Cursor: &wire.Cursor{Stream: "r1:1"}})
	s.lines("replayed", frameLines(replayed), frameLines(frames)...)
	s.lines("record", s.record(), "RUN_STARTED r1:1", "receipt", "RUN_ENDED r1:1 finished")
	s.lines("messages", s.script(), "user go", "assistant a c1=pay{}", "tool c1:1", "assistant b")
}

// testPublishOutside publishes while no run has the thread. Followers in any process get each event,
// also two equal ones; a client that comes later gets the durable ones.
func testPublishOutside(s publishTest) {
	e, other := s.working(s.config(echo())), s.engine(s.config(echo()))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	<-time.After(time.Second)
	stops := []func() []wire.Frame{
		s.watch(e, &spooltest.Client{Name: "here"}, wire.FollowOptions{}),
		s.watch(other, &spooltest.Client{Name: "there"}, wire.FollowOptions{}),
	}
	<-time.After(time.Second)
	for range 2 {
		entry := s.publish(e, "ping", `{"n":1}`, wire.PublishOptions{})
		if entry.Seq != 0 || entry.RunID != "" || entry.ThreadID != chat.ID || entry.CreatedAt.IsZero() {
			s.Errorf("a live event: %+v", entry)
		}
	}
	entry := s.publish(e, "note", `"kept"`, wire.PublishOptions{Durable: true})
	if entry.Seq != 3 || entry.RunID != "" || entry.Type != "note" {
		s.Errorf("a durable event: %+v", entry)
	}
	<-time.After(time.Second)
	for i, stop := range stops {
		got := published(stop())
		slices.Sort(got) // notices have no fixed order
		s.lines(fmt.Sprint("client ", i), got, `entry note"kept"`, `notice ping{"n":1}`, `notice ping{"n":1}`)
	}
	s.lines("later", published(s.collect(e, chat, wire.FollowOptions{})), `entry note"kept"`)
	s.lines("record", s.record(), "RUN_STARTED r1:1", "RUN_ENDED r1:1 finished", "note")
}

// publish publishes an event that must be accepted.
func (s publishTest) publish(e *engine.Engine, t, payload string, o wire.PublishOptions) wire.Entry {
	s.Helper()
	entry, err := e.PublishEvent(context.Background(), chat, t, json.RawMessage(payload), o)
	if err != nil {
		s.Fatalf("publish %s: %v", t, err)
	}
	return entry
}

// testPublishOtherProcess publishes from a process that does not execute the run: live events become
// notices, and durable events get a position among the items that is the same for all clients.
func testPublishOtherProcess(s publishTest) {
	gate := make(chan struct{})
	m := spooltest.NewReplayModel(
		spooltest.Turn{Text: []string{"a", "b"}, Gate: gate, Calls: []spooltest.Call{{ID: "c1", Name: "look"}}},
		spooltest.Say("c"),
	)
	c := s.config(m, plain("look", "1"))
	c.Stream.FlushEvery = -1
	e, other := s.working(c), s.engine(s.config(m))
	s.start(e, "r1", "go")
	stop := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{Cursor: &wire.Cursor{}})
	s.until("the first text", func() bool { return m.Asked() == 1 })
	<-time.After(time.Second)
	s.publish(other, "ping", "1", wire.PublishOptions{})
	entry := s.publish(other, "note", "2", wire.PublishOptions{Durable: true})
	if entry.RunID != "r1" || entry.Seq != 2 {
		s.Errorf("a durable event: %+v", entry)
	}
	<-time.After(time.Second)
	close(gate)
	s.ended(wire.Completed)
	<-time.After(time.Second)
	frames := stop()
	got := published(frames)
	slices.Sort(got)
	s.lines("live", got, "entry note2r1", "notice ping1r1")
	lines := frameLines(frames)
	s.lines("replayed", frameLines(s.collect(other, chat, wire.FollowOptions{Cursor: &wire.Cursor{Stream: "r1:1"}})),
		lines...)
	at := slices.IndexFunc(lines, func(l string) bool { return strings.HasSuffix(l, "=note") })
	if text := shownText(
		frames[:slices.IndexFunc(frames, func(f wire.Frame) bool { return frameLine(f) == lines[max(at, 0)] })],
	); text != "ab" {
		s.Errorf("the note comes after %q", text)
	}
}

// testPublishOneOrder has tools, the host and another process that publish as fast as they can while
// the run streams, saves its steps and parks. Live and replayed, from any cursor, everything must be in
// one order.
func testPublishOneOrder(s publishTest) {
	text := make([]string, 20)
	for i := range text {
		text[i] = strconv.Itoa(i) + " "
	}
	tell := telling("tell", func(ctx context.Context, call spool.ToolCall) error {
		for i := range 3 {
			if err := call.Publish(ctx, "live."+string(call.ID), i); err != nil {
				return err
			}
			if err := call.PublishDurable(ctx, "kept."+string(call.ID), i); err != nil {
				return err
			}
		}
		return nil
	})
	m := spooltest.NewReplayModel(
		spooltest.Turn{
			Text: text, Calls: []spooltest.Call{{ID: "c1", Name: "tell"}, {ID: "c2", Name: "tell"}, {ID: "c3", Name: "tell"}},
		},
		spooltest.Turn{Text: text, Calls: []spooltest.Call{{ID: "c4", Name: "tell"}, {ID: "c5", Name: "send"}}},
		spooltest.Turn{Text: text},
	)
	c := s.config(paced{m, time.Millisecond}, tell, approved("send", "2"))
	c.Stream.FlushEvery, c.Stream.FlushItems = 3*time.Millisecond, 4
	e, other := s.over(s.slow(), c), s.over(s.slow(), s.config(m))
	s.start(e, "r1", "go")
	stop := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{Cursor: &wire.Cursor{}})
	stopOther := s.watch(other, &spooltest.Client{Name: "other", FromStart: true},
		wire.FollowOptions{Cursor: &wire.Cursor{}})
	over := make(chan struct{})
	var publishers sync.WaitGroup
	for name, from := range map[string]*engine.Engine{"here": e, "there": other} {
		publishers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-over:
					return
				case <-time.After(time.Duration(i%7) * time.Millisecond):
				}
				if _, err := from.PublishEvent(
					context.Background(), chat, name, i, wire.PublishOptions{Durable: i%2 == 0},
				); err != nil {
					s.Errorf("publish: %v", err)
				}
			}
		})
	}
	s.work(e)
	s.becomes(wire.WaitingForInput)
	s.answer(e, "c5", true, "")
	s.ended(wire.Completed)
	close(over)
	publishers.Wait()
	<-time.After(quiet)
	frames := stop()
	lines := frameLines(frames)
	s.lines("the other process", frameLines(stopOther()), lines...)
	s.lines("replayed", frameLines(s.collect(e, chat, wire.FollowOptions{Cursor: &wire.Cursor{}})), lines...)
	n := 0
	for _, f := range frames {
		if f.Cursor == nil {
			continue
		}
		if n++; n%5 == 0 {
			s.lines("after "+frameLine(f), frameLines(s.collect(e, chat, wire.FollowOptions{Cursor: f.Cursor})), lines[n:]...)
		}
	}
	for _, id := range []string{"c1", "c2", "c3", "c4"} {
		var got, want []string
		for _, l := range published(frames) {
			if strings.Contains(l, "."+id) {
				got = append(got, l)
			}
		}
		for i := range 3 {
			want = append(want, fmt.Sprintf("item live.%s%d", id, i), fmt.Sprintf("entry kept.%s%dr1", id, i))
		}
		s.lines("what "+id+" tells", got, want...)
	}
}

// paced is a model that waits before each event.
type paced struct {
	spool.Model

	between time.Duration
}

// Stream waits before each event.
func (p paced) Stream(ctx context.Context, r spool.ModelRequest) iter.Seq2[spool.ModelEvent, error] {
	return func(yield func(spool.ModelEvent, error) bool) {
		for event, err := range p.Model.Stream(ctx, r) {
			<-time.After(p.between)
			if !yield(event, err) {
				return
			}
		}
	}
}

// slowStore waits before and after each commit.
type slowStore struct {
	store.Store

	calls atomic.Int64
	// outside is true if the store must not wait within a transaction: see [Options.Remote].
	outside bool
}

// slow returns the backend of a process with a slow store.
func (s publishTest) slow() store.Backend {
	b := s.join()
	b.Store = &slowStore{Store: b.Store, outside: s.options.Remote}
	return b
}

// Update waits for different durations.
func (s *slowStore) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(store.Tx) error) error {
	n := s.calls.Add(1)
	wait := func(of int64) { <-time.After(time.Duration(n*7%of) * time.Millisecond) }
	wait(5)
	err := s.Store.Update(ctx, key, fence, func(tx store.Tx) error {
		err := fn(tx)
		if !s.outside {
			wait(3)
		}
		return err
	})
	wait(4)
	return err
}

// testPublishWaiting publishes while the run is parked: no stream is open, and a durable event belongs
// to the unfinished run.
func testPublishWaiting(s publishTest) {
	e := s.working(s.config(sending(), approved("send", "1")))
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	stop := s.watch(e, &spooltest.Client{Name: "live"}, wire.FollowOptions{})
	<-time.After(time.Second)
	s.publish(e, "ping", "1", wire.PublishOptions{})
	s.publish(e, "note", "2", wire.PublishOptions{Durable: true})
	<-time.After(time.Second)
	got := published(stop())
	slices.Sort(got)
	s.lines("live", got, "entry note2r1", "notice ping1r1")
	snap, err := e.Snapshot(context.Background(), chat, nil)
	if err != nil {
		s.Fatal(err)
	}
	if last := snap.ActiveEvents[len(snap.ActiveEvents)-1]; last.Type != "note" || last.Seq != snap.LastEventSeq {
		s.Errorf("the snapshot's last event is %+v", last)
	}
	s.answer(e, "c1", true, "")
	s.ended(wire.Completed)
}

// testPublishRefused publishes invalid events. Nothing must change.
func testPublishRefused(s publishTest) {
	e := s.working(s.config(echo()))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	before := s.all(chat, "r1")
	for _, durable := range []bool{false, true} {
		for _, c := range []struct {
			key     spool.ThreadKey
			kind    string
			payload any
			run     spool.RunID
			code    spool.Code
			message string
		}{
			{chat, "RUN_ENDED", nil, "", spool.Invalid, "type RUN_ENDED is reserved"},
			{chat, "", nil, "", spool.Invalid, "type is required"},
			{chat, "a b", nil, "", spool.Invalid, "type may only have letters"},
			{chat, "note", func() {}, "", spool.Invalid, "payload has no JSON form"},
			{chat, "note", strings.Repeat("x", spool.MaxEventBytes), "", spool.Invalid, "payload is longer than"},
			{chat, "note", nil, "r 2", spool.Invalid, "runId may only have letters"},
			{chat, "note", nil, "r2", spool.Invalid, "runId is not a run of the thread"},
			{chat, "note", nil, "r1", spool.Conflict, "runId is a run that has ended"},
			{spool.ThreadKey{Tenant: chat.Tenant, ID: "none"}, "note", nil, "", spool.NotFound, "Thread not found"},
			{spool.ThreadKey{Tenant: "other", ID: chat.ID}, "note", nil, "", spool.NotFound, "Thread not found"},
		} {
			_, err := e.PublishEvent(context.Background(), c.key, c.kind, c.payload,
				wire.PublishOptions{Durable: durable, RunID: c.run})
			if spool.CodeOf(err) != c.code || !strings.HasPrefix(spool.MessageOf(err), c.message) {
				s.Errorf("%s of type %q about %q: %v", c.key, c.kind, c.run, err)
			}
		}
	}
	s.same("the thread", s.all(chat, "r1"), before)
}

// testPublishLostLease has a tool that continues after its worker has lost the run. Its durable events
// do not reach the record.
func testPublishLostLease(s publishTest) {
	m := spooltest.NewReplayModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "slow"}), spooltest.Say("done"))
	gate, result := make(chan struct{}), make(chan error, 10)
	slow := telling("slow", func(_ context.Context, call spool.ToolCall) error {
		<-gate
		result <- call.PublishDurable(context.Background(), "late", 1)
		return nil
	})
	slow.Idempotent = true
	e := s.working(s.config(m, slow))
	s.start(e, "r1", "go")
	s.until("the call", func() bool { return s.executed() == 1 })
	err := s.backend.Store.Update(context.Background(), chat, 0, func(tx store.Tx) error { // another worker claims it
		thread, err := tx.Thread()
		if err != nil {
			return err
		}
		thread.Fence++
		return tx.Write(store.Changes{Thread: &thread})
	})
	if err != nil {
		s.Fatal(err)
	}
	close(gate)
	if err := receive(s, result, bubbleWait, "the result"); spool.CodeOf(err) != spool.Fenced {
		s.Errorf("published with %v", err)
	}
	if record := strings.Join(s.record(), "\n"); strings.Contains(record, "late") {
		s.Errorf("the record: %s", record)
	}
	s.until("the end of the run", func() bool { return s.thread().State.Terminal() })
}

// testPublishWhileSettling publishes from the settle hook, which runs after the last step and before
// the end is written.
func testPublishWhileSettling(s publishTest) {
	c := s.config(spooltest.NewReplayModel(spooltest.Say("hi")))
	var e *engine.Engine
	c.OnSettle = func(ctx context.Context, settled wire.Settlement) error {
		_, err := e.PublishEvent(ctx, settled.Thread, "billed", 7, wire.PublishOptions{Durable: true})
		if err == nil {
			_, err = e.PublishEvent(ctx, settled.Thread, "bye", 8, wire.PublishOptions{})
		}
		return err
	}
	e = s.engine(c)
	s.start(e, "r1", "go")
	stop := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{Cursor: &wire.Cursor{}})
	s.work(e)
	s.ended(wire.Completed)
	<-time.After(time.Second)
	frames := stop()
	s.lines("live", published(frames), "entry billed7r1", "item bye8")
	s.lines("record", s.record(), "RUN_STARTED r1:1", "billed", "RUN_ENDED r1:1 finished")
	s.lines("replayed", frameLines(s.collect(e, chat, wire.FollowOptions{Cursor: &wire.Cursor{Stream: "r1:1"}})),
		frameLines(frames)...)
}

// testPublishNested has the tools of two nested runs that publish concurrently. They get the host's
// state, a durable event belongs to its nested run, and everything is in one order.
func testPublishNested(s publishTest) {
	m := casting(map[string][]spooltest.Turn{
		"go":  {spooltest.Use(spawn("c1", "helper", "one"), spawn("c2", "helper", "two")), spooltest.Say("done")},
		"one": {spooltest.Use(spooltest.Call{ID: "c1", Name: "tell"}), spooltest.Say("first")},
		"two": {spooltest.Use(spooltest.Call{ID: "c1", Name: "tell"}), spooltest.Say("second")},
	})
	c := nestedTest(s).treeConfig(m, telling("tell", func(ctx context.Context, call spool.ToolCall) error {
		for i := range 3 {
			if err := call.Publish(ctx, "live", i); err != nil {
				return err
			}
			if err := call.PublishDurable(ctx, "kept", call.HostState); err != nil {
				return err
			}
		}
		return nil
	}))
	e := s.over(s.slow(), c)
	s.startAs(e, chat, wire.StartRequest{Prompt: "go", RunID: "r1", HostState: json.RawMessage(`{"n":1}`)})
	stop := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{Cursor: &wire.Cursor{}})
	s.work(e)
	s.ended(wire.Completed)
	<-time.After(quiet)
	frames := stop()
	s.lines("replayed", frameLines(s.collect(e, chat, wire.FollowOptions{Cursor: &wire.Cursor{}})), frameLines(frames)...)
	got := published(frames)
	slices.Sort(got)
	var want []string
	for _, r := range nestedTest(s).nested() {
		for i := range 3 {
			want = append(want, fmt.Sprintf(`entry kept{"n":1}%s`, r.ID), fmt.Sprintf("item live%d", i))
		}
	}
	slices.Sort(want)
	if len(want) != 12 {
		s.Errorf("there are %d nested runs", len(want)/6)
	}
	s.lines("published", got, want...)
}
