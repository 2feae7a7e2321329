package enginetest

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// retractTest is the fixture of the cases about taking back what was not saved.
type retractTest struct{ *engineTest }

// retractTests have segments that end with output that no message contains, and runs that end with
// calls that no stream closes. The history checker checks that each client ends with exactly the saved
// content, also a client that ignores RUN_ERROR.
var retractTests = map[string]func(s retractTest){
	"Retried":       testRetractRetried,
	"Size":          testRetractSize,
	"Shared":        testRetractShared,
	"Reload":        testRetractReload,
	"Killed":        testRetractKilled,
	"StoppedCall":   testRetractStoppedCall,
	"StoppedMute":   testRetractStoppedMute,
	"NestedFails":   testRetractNestedFails,
	"NestedParks":   testRetractNestedParks,
	"ParkStopped":   testRetractParkStopped,
	"ParkFailed":    testRetractParkFailed,
	"BudgetStopped": testRetractBudgetStopped,
	"NestedStopped": testRetractNestedStopped,
	"NextRun":       testRetractNextRun,
	"Dropped":       testRetractDropped,
	"ParkDropped":   testRetractParkDropped,
	"Unclosed":      testRetractUnclosed,
	"ShortStream":   testRetractShortStream,
	"NextBegan":     testRetractNextBegan,
	"BareSeq":       testRetractBareSeq,
	"Elsewhere":     testRetractElsewhere,
	"GoneEntry":     testRetractGoneEntry,
}

// cutsOff returns a model whose first answers break off in the middle.
func cutsOff(times int) *spooltest.Model {
	turns := slices.Repeat([]spooltest.Turn{{Text: []string{"one ", "two ", "th"}, Err: overloaded()}}, times)
	return spooltest.NewModel(append(turns, spooltest.Turn{Text: []string{"one ", "two ", "three"}})...)
}

// parts returns the frames with a snapshot of one run.
func parts(frames []wire.Frame) (of []wire.Frame) {
	for _, f := range frames {
		if f.Kind == wire.FrameSnapshot && f.Snapshot.AfterMessageID != nil {
			of = append(of, f)
		}
	}
	return of
}

// cutEverywhere has a client reconnect after each frame that another client saw, and checks that it
// ends with the same text.
func (s retractTest) cutEverywhere(e *engine.Engine, frames []wire.Frame) {
	s.Helper()
	want := shownText(frames)
	for i, f := range frames {
		if f.Cursor == nil {
			continue
		}
		c := s.history.Client(&spooltest.Client{Name: "cut after " + frameLine(f), Thread: chat, FromStart: true})
		c.Connected(&wire.Cursor{}, "")
		c.Frames = slices.Clone(frames[:i+1])
		c.Connected(f.Cursor, "")
		for _, next := range s.collect(e, chat, wire.FollowOptions{Cursor: f.Cursor}) {
			c.Saw(next)
		}
		if got := shownText(c.Frames); got != want {
			s.Errorf("a client that comes back after %s shows %q, want %q:\n%s", frameLine(f), got, want, transcript(c.Frames))
		}
	}
}

// live runs a test with a live client, and returns the client's frames when no more come.
func (s retractTest) live(e *engine.Engine, do func()) []wire.Frame {
	s.Helper()
	stop := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{Cursor: &wire.Cursor{}})
	do()
	<-time.After(quiet)
	return stop()
}

// stoppedIn starts a run, stops it a second after it has reached a state, and returns a live client's
// frames until after then.
func (s retractTest) stoppedIn(e *engine.Engine, state wire.State, then func()) []wire.Frame {
	s.Helper()
	s.start(e, "r1", "go")
	return s.live(e, func() {
		s.work(e)
		s.becomes(state)
		<-time.After(time.Second)
		s.stop(e)
		s.ended(wire.Cancelled)
		then()
	})
}

// endAt returns the index of the entry that ends a stream.
func endAt(frames []wire.Frame, id string) int {
	return slices.IndexFunc(frames, func(f wire.Frame) bool {
		return f.Kind == wire.FrameThread && strings.HasPrefix(entryLine(*f.Event), "RUN_ENDED "+id+" ")
	})
}

func testRetractRetried(s retractTest) {
	c := s.config(cutsOff(2))
	c.Stream.FlushEvery = -1
	e := s.engine(c)
	s.start(e, "r1", "go")
	frames := s.live(e, func() {
		s.work(e)
		s.ended(wire.Completed)
	})
	if text := shownText(frames); text != "one two three" {
		s.Errorf("the client shows %q", text)
	}
	if n := len(parts(frames)); n != 2 {
		s.Errorf("%d snapshot frames:\n%s", n, transcript(frames))
	}
	for _, id := range []string{"r1:1", "r1:2"} {
		at := endAt(frames, id)
		part, before := frames[at-1], frames[at-2]
		if part.Kind != wire.FrameSnapshot || before.Item == nil || before.Item.Type != wire.ItemRunError {
			s.Fatalf("before the end of %s comes %s, and before that %s", id, frameLine(part), frameLine(before))
		}
		if *part.Cursor != *before.Cursor || part.Snapshot.Cursor() != *part.Cursor {
			s.Errorf("the snapshot stands at %s and says %s, and the item before it at %s", part.Cursor, part.Snapshot.Cursor(),
				before.Cursor)
		}
		if len(part.Snapshot.Messages) > 0 || string(*part.Snapshot.AfterMessageID) != string(s.messagesOf(chat)[0].ID) {
			s.Errorf("the snapshot has %d messages after %s", len(part.Snapshot.Messages), *part.Snapshot.AfterMessageID)
		}
	}
	s.cutEverywhere(e, frames)
}

// testRetractSize checks that the frame in a long thread is as small as in a new one.
func testRetractSize(s retractTest) {
	var failing atomic.Bool
	m := spooltest.NewModelFunc(func(context.Context, spool.ModelRequest) spooltest.Turn {
		if failing.CompareAndSwap(true, false) {
			return spooltest.Turn{Text: []string{"ha"}, Err: overloaded()}
		}
		return spooltest.Say(strings.Repeat("long ", 100))
	})
	e := s.working(s.config(m))
	sizes := make([]int, 0, 2)
	for _, n := range []int{1, 40} {
		for i := range n {
			s.start(e, spool.RunID(fmt.Sprintf("run-%d-%d", n, i)), "hello")
			s.ended(wire.Completed)
		}
		failing.Store(true)
		id := spool.RunID(fmt.Sprintf("last-%02d", n))
		before := &wire.Cursor{Seq: s.thread().LastSeq}
		s.start(e, id, "hello")
		s.ended(wire.Completed)
		got := parts(s.collect(e, chat, wire.FollowOptions{Cursor: before}))
		if len(got) != 1 {
			s.Fatalf("%d snapshot frames", len(got))
		}
		text, err := json.Marshal(got[0])
		if err != nil {
			s.Fatal(err)
		}
		sizes = append(sizes, len(text))
	}
	if sizes[1] > sizes[0]+100 {
		s.Errorf("the frame has %d bytes in a long thread, and %d in a new one", sizes[1], sizes[0])
	}
}

// countedStreams counts how often whole streams are read.
type countedStreams struct {
	store.Live

	whole atomic.Int64
}

// Read counts the reads from the start of a stream.
func (c *countedStreams) Read(
	ctx context.Context, key store.StreamKey, after wire.Offset, limit int,
) (store.StreamPage, error) {
	if limit == 0 {
		c.whole.Add(1)
	}
	return c.Live.Read(ctx, key, after, limit)
}

// testRetractShared has many clients, for which the frame is made once.
func testRetractShared(s retractTest) {
	b := s.join()
	streams := &countedStreams{Live: b.Live}
	b.Live = streams
	c := s.config(cutsOff(1))
	e := s.over(b, c)
	s.start(e, "r1", "go")
	var stops []func() []wire.Frame
	for i := range 30 {
		stops = append(stops, s.watch(e, &spooltest.Client{Name: fmt.Sprintf("client %d", i), FromStart: true},
			wire.FollowOptions{}))
	}
	<-time.After(quiet) // a client that is not there yet reads on its own
	s.work(e)
	s.ended(wire.Completed)
	<-time.After(quiet)
	for _, stop := range stops {
		if frames := stop(); len(parts(frames)) != 1 || shownText(frames) != "one two three" {
			s.Errorf("a client saw\n%s", transcript(frames))
		}
	}
	if n := streams.whole.Load(); n != 1 {
		s.Errorf("the stream was read %d times for 30 clients", n)
	}
}

// testRetractReload reads the history after a failed run, and while another attempt is due.
func testRetractReload(s retractTest) {
	c := s.config(cutsOff(10))
	c.Retry.Attempts = 2
	e := s.working(c)
	s.start(e, "r1", "go")
	for _, state := range []wire.State{wire.Queued, wire.Failed} {
		s.until("a failure", func() bool { return s.thread().State == state && s.run("r1").Attempts > 0 })
		<-time.After(time.Second)
		snap, err := e.Snapshot(context.Background(), chat, nil)
		if err != nil {
			s.Fatal(err)
		}
		if snap.Stream == nil || snap.Stream.End == nil || snap.Stream.End.Type != wire.ItemRunError {
			s.Fatalf("%s: the stream is %+v", state, snap.Stream)
		}
		for _, item := range snap.Stream.Items {
			if item.Type.Content() {
				s.Errorf("%s: the snapshot has %s", state, item.Data)
			}
		}
		at := snap.Cursor()
		if got := frameLines(s.collect(e, chat, wire.FollowOptions{Cursor: &at})); state == wire.Failed && len(got) > 0 {
			s.Errorf("after the snapshot comes %v", got)
		}
	}
}

// testRetractKilled kills a worker in the middle of an answer.
func testRetractKilled(s retractTest) {
	gate := make(chan struct{})
	m := spooltest.NewModel(
		spooltest.Turn{Text: []string{"one ", "two "}, Gate: gate, Calls: []spooltest.Call{{ID: "c1", Name: "look"}}},
		spooltest.Turn{Text: []string{"one ", "two ", "three"}},
	)
	c := s.config(m, plain("look", "1"))
	c.Stream.FlushEvery = -1
	e := s.engine(c)
	s.start(e, "r1", "go")
	frames := s.live(e, func() {
		p := s.process(c)
		s.until("the answer", func() bool { return m.Asked() == 1 })
		<-time.After(time.Second)
		p.kill()
		s.work(e)
		s.ended(wire.Completed)
	})
	if text := shownText(frames); text != "one two three" {
		s.Errorf("the client shows %q", text)
	}
	if at := endAt(frames, "r1:1"); frames[at-1].Kind != wire.FrameSnapshot ||
		!strings.HasSuffix(frameLine(frames[at]), " lost") {
		s.Errorf("the segment of the dead worker ends so:\n%s", transcript(frames))
	}
	s.cutEverywhere(e, frames)
}

// testRetractDropped removes a turn from the view before a client reads the end of its run. The client
// still shows the turn, and knows no other run's saved messages.
func testRetractDropped(s retractTest) {
	m := spooltest.NewModel(spooltest.Say("before"),
		spooltest.Turn{Text: []string{"one ", "tw"}, Err: &spool.ModelError{Status: 400, Message: "no"}},
		spooltest.Say("after"))
	e := s.working(s.config(m))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	before := &wire.Cursor{Seq: s.thread().LastSeq}
	s.start(e, "r2", "fail")
	s.ended(wire.Failed)
	turn := s.messagesOf(chat)[2].ID
	s.startAs(e, chat, wire.StartRequest{RunID: "r3", Prompt: "again", EditMessageID: turn})
	s.ended(wire.Completed)
	got := parts(s.collect(e, chat, wire.FollowOptions{Cursor: before}))
	if len(got) != 1 {
		s.Fatalf("%d snapshot frames", len(got))
	}
	if snap := got[0].Snapshot; *snap.AfterMessageID != turn || len(snap.Messages) > 0 {
		s.Errorf("the snapshot has %d messages after %s, and the turn is %s", len(snap.Messages), *snap.AfterMessageID, turn)
	}
}

// testRetractParkDropped removes the turn of a run that was stopped while it waited. A client that has
// read the removal shows no call that a frame has to close.
func testRetractParkDropped(s retractTest) {
	e := s.working(s.config(asksTwice(), approved("send", "1")))
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	s.stop(e)
	s.ended(wire.Cancelled)
	turn := s.messagesOf(chat)[0].ID
	s.startAs(e, chat, wire.StartRequest{RunID: "r2", Prompt: "again", EditMessageID: turn})
	s.becomes(wire.WaitingForInput)
	s.stop(e)
	s.ended(wire.Cancelled)
	dropped := func(frames []wire.Frame) (at []wire.Frame) {
		for _, f := range frames {
			if f.Event != nil && f.Event.Type == wire.EntryMessagesDropped {
				at = append(at, f)
			}
		}
		return at
	}
	frames := s.collect(e, chat, wire.FollowOptions{Cursor: &wire.Cursor{}})
	branch := wire.BranchID(dropped(frames)[0].Event.Seq)
	if r, err := e.RestoreBranch(context.Background(), chat, branch); err != nil || !r.Accepted {
		s.Fatalf("%+v, %v", r, err)
	}
	frames = s.collect(e, chat, wire.FollowOptions{Cursor: &wire.Cursor{}})
	last := dropped(frames)[1]
	if more := s.collect(e, chat, wire.FollowOptions{Cursor: last.Cursor}); len(parts(more)) > 0 {
		s.Errorf("after %s comes:\n%s", frameLine(last), transcript(more))
	}
}

// holds is a model that yields these events, and then nothing until its request ends.
type holds []spool.ModelEvent

// Stream yields the events and waits.
func (h holds) Stream(ctx context.Context, _ spool.ModelRequest) iter.Seq2[spool.ModelEvent, error] {
	return func(yield func(spool.ModelEvent, error) bool) {
		for _, event := range h {
			if !yield(event, nil) {
				return
			}
		}
		<-ctx.Done()
		yield(nil, ctx.Err())
	}
}

// testRetractStoppedCall stops a run whose model is writing the arguments of a call. The text before
// the call is kept, but not the call.
func testRetractStoppedCall(s retractTest) {
	c := s.config(holds{
		spool.TextDelta{Text: "I look"},
		spool.ToolCallStart{ID: "c1", Name: "look"},
		spool.ToolCallDelta{ID: "c1", Args: `{"a`},
	}, plain("look", "1"))
	e := s.engine(c)
	frames := s.stoppedIn(e, wire.Running, func() {})
	s.lines("messages", s.script(), "user go", "assistant I look")
	got := parts(frames)
	if len(got) != 1 || len(got[0].Snapshot.Messages) != 1 || shownText(frames) != "I look" {
		s.Errorf("the client saw\n%s", transcript(frames))
	}
	s.cutEverywhere(e, frames)
}

// testRetractStoppedMute stops a run that has only reasoned so far. Nothing of it is kept.
func testRetractStoppedMute(s retractTest) {
	e := s.engine(s.config(holds{spool.ReasoningDelta{Text: "hm"}}))
	frames := s.stoppedIn(e, wire.Running, func() {})
	if len(parts(frames)) != 1 {
		s.Errorf("the client saw\n%s", transcript(frames))
	}
	s.cutEverywhere(e, frames)
}

// testRetractNestedFails has a nested run that speaks and fails permanently, in a run that completes.
func testRetractNestedFails(s retractTest) {
	m := casting(map[string][]spooltest.Turn{
		"go":   {spooltest.Use(spawn("c1", "helper", "find")), spooltest.Say("sorry")},
		"find": {{Text: []string{"half"}, Err: &spool.ModelError{Status: 400, Message: "no"}}},
	})
	e := s.engine(nestedTest(s).treeConfig(m))
	s.start(e, "r1", "go")
	frames := s.live(e, func() {
		s.work(e)
		s.ended(wire.Completed)
	})
	if len(parts(frames)) != 1 {
		s.Errorf("the client saw\n%s", transcript(frames))
	}
	s.cutEverywhere(e, frames)
}

// testRetractNestedParks has a nested run that speaks and fails an attempt. The run uses up its time
// before the other nested runs end: it parks and asks for more.
func testRetractNestedParks(s retractTest) {
	nap := plain("nap", "")
	nap.Call = func(ctx context.Context, _ spool.ToolCall) (json.RawMessage, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	m := casting(map[string][]spooltest.Turn{
		"go":   {spooltest.Use(spawn("c1", "helper", "find"), spawn("c2", "helper", "slow")), spooltest.Say("done")},
		"find": {{Text: []string{"half"}, Err: overloaded()}},
		"slow": {spooltest.Use(spooltest.Call{ID: "c1", Name: "nap"}), spooltest.Say("slept")},
	})
	c := nestedTest(s).treeConfig(m, nap)
	c.Agents[0].Budget = spool.Budget{WallTime: time.Minute}
	c.Agents[0].OnBudget = spool.BudgetPark
	e := s.engine(c)
	s.start(e, "r1", "go")
	frames := s.live(e, func() {
		s.work(e)
		s.becomes(wire.WaitingForInput)
	})
	got := parts(frames)
	if len(got) != 1 || len(got[0].Snapshot.ActiveEvents) == 0 {
		s.Fatalf("the client saw\n%s", transcript(frames))
	}
	if at := endAt(frames, "r1:1"); frames[at-1].Kind != wire.FrameSnapshot ||
		!strings.HasSuffix(frameLine(frames[at]), " parked") {
		s.Errorf("the client saw\n%s", transcript(frames))
	}
	s.cutEverywhere(e, frames)
}

// asksTwice returns a model whose run has two calls that wait.
func asksTwice() *spooltest.Model {
	return spooltest.NewReplayModel(
		spooltest.Turn{Text: []string{"may I"}, Calls: []spooltest.Call{{ID: "c1", Name: "send"}, {ID: "c2", Name: "send"}}},
		spooltest.Say("done"),
	)
}

// closes checks that a frame after the run's last segment closes the given number of calls.
func (s retractTest) closes(e *engine.Engine, frames []wire.Frame, calls int) {
	s.Helper()
	got := parts(frames)
	if len(got) != 1 {
		s.Fatalf("%d snapshot frames:\n%s", len(got), transcript(frames))
	}
	snap, results := got[0].Snapshot, 0
	for _, m := range snap.Messages {
		results += len(m.ToolResults())
	}
	if results != calls || len(snap.ActiveEvents) > 0 || !snap.Thread.State.Terminal() {
		s.Errorf("the snapshot closes %d calls, and has %d active events and the state %s", results, len(snap.ActiveEvents),
			snap.Thread.State)
	}
	end, last := frames[endAt(frames, "r1:1")].Event.Seq, s.thread().LastSeq
	if at := got[0].Cursor.Seq; at < end || at > last {
		s.Errorf("the snapshot stands at %s, and the run's last segment ends at %d", got[0].Cursor, end)
	}
	s.cutEverywhere(e, frames)
	for i := range 2 { // a client that reconnects again and again gets the frame once each time
		again := s.collect(e, chat, wire.FollowOptions{Cursor: got[0].Cursor})
		if after := last - got[0].Cursor.Seq; len(parts(again)) != 1 || len(frameLines(again)) != 1+int(after) {
			s.Errorf("coming back for the %d. time gives\n%s", i+1, transcript(again))
		}
	}
}

// testRetractParkStopped stops a waiting run: no stream is open that could close its calls.
func testRetractParkStopped(s retractTest) {
	e := s.engine(s.config(asksTwice(), approved("send", "1")))
	frames := s.stoppedIn(e, wire.WaitingForInput, func() {})
	s.closes(e, frames, 2)
}

// testRetractParkFailed leaves a call without an answer, and its expiry fails the run.
func testRetractParkFailed(s retractTest) {
	e := s.engine(s.config(asksTwice(), expiring(spool.Expiry{Then: spool.ExpireFail})))
	s.start(e, "r1", "go")
	frames := s.live(e, func() {
		s.work(e)
		s.ended(wire.Failed)
	})
	s.closes(e, frames, 2)
}

// testRetractBudgetStopped stops a run that waits for a larger budget, which is not a call.
func testRetractBudgetStopped(s retractTest) {
	e := s.engine(budgetTest(s).asksForMore(spool.Budget{Tokens: 230}, frugal(40, looking)))
	s.start(e, "r1", "go")
	frames := s.live(e, func() {
		s.work(e)
		budgetTest(s).budgetPark()
		<-time.After(time.Second)
		s.stop(e)
		s.ended(wire.Cancelled)
	})
	if got := parts(frames); len(got) != 1 || len(got[0].Snapshot.ActiveEvents) > 0 {
		s.Errorf("the client saw\n%s", transcript(frames))
	}
	s.cutEverywhere(e, frames)
}

// testRetractNestedStopped stops a run whose nested run waits.
func testRetractNestedStopped(s retractTest) {
	m := casting(map[string][]spooltest.Turn{
		"go":   {spooltest.Use(spawn("c1", "helper", "find"))},
		"find": {spooltest.Use(spooltest.Call{ID: "c1", Name: "send"})},
	})
	e := s.engine(nestedTest(s).treeConfig(m, approved("send", "1")))
	frames := s.stoppedIn(e, wire.WaitingForInput, func() {})
	s.closes(e, frames, 2)
}

// testRetractNextRun has a client that saw a run wait. It comes back after that run was stopped and
// another run has come and gone.
func testRetractNextRun(s retractTest) {
	m := spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		if roleOf(r) == "go" && spooltest.StepOf(r) == 0 {
			return spooltest.Use(spooltest.Call{ID: "c1", Name: "send"})
		}
		return spooltest.Say("done")
	})
	e := s.engine(s.config(m, approved("send", "1")))
	frames := s.stoppedIn(e, wire.WaitingForInput, func() {
		s.start(e, "r2", "on")
		s.ended(wire.Completed)
	})
	if len(parts(frames)) != 1 {
		s.Errorf("the client saw\n%s", transcript(frames))
	}
	s.cutEverywhere(e, frames)
	next := s.collect(e, chat, wire.FollowOptions{Cursor: &wire.Cursor{}})
	s.lines("from the start", frameLines(next), frameLines(frames)...)
	if got := parts(next); len(got) != 1 || len(got[0].Snapshot.Messages) != 2 {
		s.Errorf("the client saw\n%s", transcript(next))
	}
}
