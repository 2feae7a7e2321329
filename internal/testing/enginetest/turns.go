package enginetest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

var turnTests = map[string]func(s followTest){
	"AfterEveryFrame":  testTurnsAfterEveryFrame,
	"OfAnEdit":         testTurnsOfAnEdit,
	"OfTheNext":        testTurnsOfTheNext,
	"WithoutACursor":   testTurnsWithoutACursor,
	"Many":             testTurnsMany,
	"Record":           testTurnsRecord,
	"WithASnapshot":    testTurnsWithASnapshot,
	"OfARestored":      testTurnsOfARestored,
	"FirstIDs":         testTurnsFirstIDs,
	"Listed":           testTurnsListed,
	"StateIsNeverLate": testTurnsStateIsNeverLate,
}

// orderLines returns a line for each frame that has a position in the order. A turn's line has its
// text.
func orderLines(frames []wire.Frame) (lines []string) {
	for _, f := range frames {
		switch {
		case f.Cursor != nil:
			lines = append(lines, frameLine(f))
		case f.Event.Type == wire.NoticeMessageAppended:
			lines = append(lines, turnLine(*f.Event))
		}
	}
	return lines
}

// turnLine returns a line for a user turn.
func turnLine(e wire.Entry) string {
	var m spool.Message
	if err := m.UnmarshalJSON(e.Payload); err != nil {
		return err.Error()
	}
	return "turn " + m.Text()
}

// slowly returns a gated model that takes a second for each answer.
func slowly(gate chan struct{}) *spooltest.Model {
	return spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		said := r.Messages[len(r.Messages)-1].Text()
		t := spooltest.Say("re: ", said)
		if strings.HasSuffix(said, "!") {
			t.Gate = gate
		}
		t.Before = func(ctx context.Context) error {
			select {
			case <-time.After(time.Second):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return t
	})
}

// chatted does on a thread everything that can happen to turns: runs one after another, a turn whose
// run never begins, an edit, and turns that wait for the previous run. It returns the frames of a
// client that was connected all the time.
func (s followTest) chatted() (*engine.Engine, []wire.Frame) {
	s.Helper()
	gate := make(chan struct{})
	e := s.engine(s.config(slowly(gate)))
	s.start(e, "r-one", "one")
	stopClient := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{Cursor: &wire.Cursor{}})
	<-time.After(time.Second)
	rest := s.work(e)
	s.ended(wire.Completed)
	branchTest(s).said(e, "two")
	rest()
	s.start(e, "r-never", "never")
	<-time.After(time.Second)
	s.stop(e)
	<-time.After(time.Second)
	turn := s.messagesOf(chat)[2]
	s.startAs(e, chat, wire.StartRequest{Prompt: "zwei!", RunID: "r-edit", EditMessageID: turn.ID})
	<-time.After(time.Second)
	s.work(e)
	s.becomes(wire.Running)
	waitTest(s).busy(e, "r-3", spool.BusyEnqueue)
	waitTest(s).busy(e, "r-4", spool.BusyEnqueue)
	<-time.After(time.Second)
	close(gate)
	s.ended(wire.Completed)
	<-time.After(time.Second)
	s.history.Settled = true
	return e, stopClient()
}

// chattedOrder has the turns of chatted at their positions among the entries.
var chattedOrder = []string{
	"turn one", "RUN_STARTED r-one:1", "RUN_ENDED r-one:1 finished",
	"turn two", "RUN_STARTED r-two:1", "RUN_ENDED r-two:1 finished",
	"turn never",
	"MESSAGES_DROPPED", "turn zwei!", "RUN_STARTED r-edit:1", "RUN_ENDED r-edit:1 finished",
	"turn r-3", "RUN_STARTED r-3:1", "RUN_ENDED r-3:1 finished",
	"turn r-4", "RUN_STARTED r-4:1", "RUN_ENDED r-4:1 finished",
}

// places returns a line for each turn and entry among the frames.
func places(frames []wire.Frame) (lines []string) {
	for _, line := range orderLines(frames) {
		if _, entry, ok := strings.Cut(line, "| ="); ok {
			lines = append(lines, entry)
		} else if strings.HasPrefix(line, "turn ") {
			lines = append(lines, line)
		}
	}
	return lines
}

// comesBack makes a client reconnect that has the frames since the thread's start, and returns its next
// frames.
func (s followTest) comesBack(e *engine.Engine, frames []wire.Frame) []wire.Frame {
	s.Helper()
	n := len(frames)
	c := &spooltest.Client{
		Name: fmt.Sprint("after frame ", n-1), FromStart: true, Frames: slices.Clone(frames),
		Connections: []spooltest.Connection{{Cursor: &wire.Cursor{}}},
	}
	stop := s.watch(e, c, wire.FollowOptions{Cursor: frames[n-1].Cursor})
	<-time.After(quiet)
	return stop()[n:]
}

// testTurnsAfterEveryFrame reconnects after each frame of a client that was connected all the time, and
// must get the rest of that client's frames.
func testTurnsAfterEveryFrame(s followTest) {
	e, frames := s.chatted()
	whole := orderLines(frames)
	s.lines("the order", places(frames), chattedOrder...)
	n := 0
	for i, f := range frames {
		if f.Cursor == nil {
			if f.Event.Type == wire.NoticeMessageAppended {
				n++
			}
			continue
		}
		n++
		got := s.comesBack(e, frames[:i+1])
		s.lines("after "+frameLine(f), orderLines(got), whole[n:]...)
		if first := entryLine(*got[0].Event); first != "STATE_CHANGE COMPLETED" || len(got) != len(whole[n:])+1 {
			s.Errorf("after %s: the notices are %v", frameLine(f), notices(got))
		}
	}
}

// testTurnsOfAnEdit checks the positions of the states when a live client sees an edit.
func testTurnsOfAnEdit(s followTest) {
	_, frames := s.chatted()
	var lines []string
	for _, f := range frames {
		if f.Kind == wire.FrameThread {
			lines = append(lines, entryLine(*f.Event))
		}
	}
	at := slices.Index(lines, "MESSAGES_DROPPED")
	s.lines("live", lines[at-3:at+4], "MESSAGE_APPENDED", "STATE_CHANGE QUEUED", "STATE_CHANGE CANCELLED",
		"MESSAGES_DROPPED", "MESSAGE_APPENDED", "STATE_CHANGE QUEUED", "RUN_STARTED r-edit:1")
}

// testTurnsOfTheNext checks the states around turns that have waited: clients get the end of the
// previous run, although the thread's row never shows it.
func testTurnsOfTheNext(s followTest) {
	_, frames := s.chatted()
	var lines []string
	for _, f := range frames {
		if f.Kind != wire.FrameThread {
			continue
		}
		line := entryLine(*f.Event)
		if f.Event.Type == wire.NoticeStateChange {
			line += " of " + string(f.Event.RunID)
		}
		lines = append(lines, line)
	}
	for run, next := range map[string]string{"r-edit": "r-3", "r-3": "r-4"} {
		at := slices.Index(lines, "RUN_ENDED "+run+":1 finished")
		got := slices.DeleteFunc(slices.Clone(lines[at:]), func(l string) bool {
			return l == "STATE_CHANGE QUEUED of "+next || l == "STATE_CHANGE RUNNING of "+next
		})
		s.lines("after "+run, got[:4], "RUN_ENDED "+run+":1 finished", "STATE_CHANGE COMPLETED of "+run, "MESSAGE_APPENDED",
			"RUN_STARTED "+next+":1")
		if state := lines[at+3]; state != "STATE_CHANGE QUEUED of "+next && state != "STATE_CHANGE RUNNING of "+next {
			s.Errorf("after the turn of %s comes %s", next, state)
		}
	}
}

// testTurnsWithoutACursor follows without a cursor: the turns come between the entries, except for the
// turns up to the last message that the client has.
func testTurnsWithoutACursor(s followTest) {
	e, _ := s.chatted()
	s.lines("all", places(s.collect(e, chat, wire.FollowOptions{})), chattedOrder...)
	messages := s.messagesOf(chat)
	for i, m := range messages {
		var want []string
		for _, line := range chattedOrder {
			known := strings.HasPrefix(line, "turn ") &&
				slices.ContainsFunc(messages[:i+1], func(m spool.Message) bool { return "turn "+m.Text() == line })
			// A dropped turn comes before the turn that has replaced it.
			known = known || i >= 2 && (line == "turn two" || line == "turn never")
			if !known {
				want = append(want, line)
			}
		}
		stop := s.watch(e, &spooltest.Client{Name: "after " + string(m.ID)}, wire.FollowOptions{LastMessageID: m.ID})
		<-time.After(quiet)
		s.lines("after message "+m.Text(), places(stop()), want...)
	}
}

// testTurnsMany misses more turns than are read at once, at one position and at many.
func testTurnsMany(s followTest) {
	e := s.engine(s.config(echo()))
	var want []string
	say := func(n int) {
		s.startAs(e, chat, wire.StartRequest{Prompt: strconv.Itoa(n), RunID: spool.RunID(fmt.Sprintf("r%d", n))})
		want = append(want, fmt.Sprintf("turn %d", n))
	}
	for n := range 70 {
		say(n)
		s.stop(e)
	}
	s.work(e)
	for n := range 45 {
		say(1000 + n)
		s.ended(wire.Completed)
		want = append(want, fmt.Sprintf("RUN_STARTED r%d:1", 1000+n), fmt.Sprintf("RUN_ENDED r%d:1 finished", 1000+n))
	}
	<-time.After(11 * time.Minute)
	stop := s.watch(e, &spooltest.Client{Name: "from the start"}, wire.FollowOptions{})
	<-time.After(quiet)
	s.lines("from the start", places(stop()), want...)
	s.history.Settled = true
}

// testTurnsRecord reads only the record, live and after each seq.
func testTurnsRecord(s followTest) {
	gate := make(chan struct{})
	e := s.engine(s.config(gated(gate)))
	s.start(e, "r-one", "one!")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	read := func(since int64) (lines func() []string) {
		var mu sync.Mutex
		var got []string
		go func() {
			for entry, err := range e.FollowRecord(ctx, chat, since) {
				mu.Lock()
				switch {
				case err != nil:
				case entry.Type == wire.NoticeMessageAppended:
					got = append(got, turnLine(entry))
				case entry.Seq > 0:
					got = append(got, entryLine(entry))
				}
				mu.Unlock()
			}
		}()
		<-time.After(time.Second)
		return func() []string {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(got)
		}
	}
	live, beyond := read(0), read(3)
	s.work(e)
	s.becomes(wire.Running)
	waitTest(s).busy(e, "r-2", spool.BusyEnqueue)
	<-time.After(time.Second)
	close(gate)
	s.ended(wire.Completed)
	<-time.After(time.Second)
	want := []string{
		"turn one!", "RUN_STARTED r-one:1", "RUN_ENDED r-one:1 finished", "turn r-2", "RUN_STARTED r-2:1",
		"RUN_ENDED r-2:1 finished",
	}
	s.lines("live", live(), want...)
	s.lines("from beyond", beyond(), want[5:]...)
	for since, from := range []int{0, 2, 3, 5, 6} {
		s.lines(fmt.Sprint("since ", since), read(int64(since))(), want[from:]...)
	}
	s.start(e, "r-3", "three")
	s.ended(wire.Completed)
	<-time.After(time.Second)
	s.lines("live, on", live(), append(want, "turn three", "RUN_STARTED r-3:1", "RUN_ENDED r-3:1 finished")...)
}

// testTurnsWithASnapshot reconnects when the missed frames have expired: the snapshot has the turns,
// and the state comes after it.
func testTurnsWithASnapshot(s followTest) {
	e, frames := s.chatted()
	<-time.After(11 * time.Minute)
	seen := map[int]bool{}
	for i, f := range frames {
		if f.Cursor == nil {
			continue
		}
		got := s.comesBack(e, frames[:i+1])
		snapshots := 0
		for i, f := range got {
			if f.Kind != wire.FrameSnapshot {
				continue
			}
			snapshots++
			if i+1 == len(got) || entryLine(*got[i+1].Event) != "STATE_CHANGE COMPLETED" {
				s.Errorf("after %s: %s", frameLine(f), transcript(got))
			}
		}
		seen[snapshots] = true
		if snapshots > 1 || slices.Contains(notices(got)[1:], "STATE_CHANGE QUEUED") {
			s.Errorf("after %s: %s", frameLine(f), transcript(got))
		}
	}
	if !seen[1] {
		s.Error("no client got a snapshot")
	}
}

// testTurnsOfARestored checks that the turns of a branch keep their positions, also after the branch
// was restored.
func testTurnsOfARestored(s followTest) {
	e := s.working(s.config(echo()))
	branchTest(s).said(e, "one", "two")
	branchTest(s).edited(e, 2, "zwei")
	branchTest(s).restored(e, 5)
	branchTest(s).said(e, "three")
	<-time.After(time.Second)
	s.history.Settled = true
	stop := s.watch(e, &spooltest.Client{Name: "from the start"}, wire.FollowOptions{})
	<-time.After(quiet)
	s.lines("from the start", places(stop()),
		"turn one", "RUN_STARTED r-one:1", "RUN_ENDED r-one:1 finished",
		"turn two", "RUN_STARTED r-two:1", "RUN_ENDED r-two:1 finished",
		"MESSAGES_DROPPED", "turn zwei", "RUN_STARTED r-zwei:1", "RUN_ENDED r-zwei:1 finished",
		"MESSAGES_DROPPED", "MESSAGES_RESTORED", "turn three", "RUN_STARTED r-three:1", "RUN_ENDED r-three:1 finished")
}

// testTurnsFirstIDs checks the ids of entries that are replayed without a cursor, as
// spec/events.md has them.
func testTurnsFirstIDs(s followTest) {
	gate := make(chan struct{})
	e := s.working(s.config(gated(gate)))
	branchTest(s).said(e, "one")
	s.start(e, "r-two", "two!")
	s.becomes(wire.Running)
	<-time.After(time.Second)
	s.lines("while a stream is open", idLines(s.collect(e, chat, wire.FollowOptions{}))[:4],
		"1 r-two:1 -", "2 r-two:1 -", "3 r-two:1 -", "3 r-two:1 2-1")
	close(gate)
	s.ended(wire.Completed)
	<-time.After(time.Second)
	ids := idLines(s.collect(e, chat, wire.FollowOptions{}))
	if len(ids) != 4 || !strings.HasPrefix(ids[0], "1 r-two:1 2-") {
		s.Errorf("after the end: %v", ids)
	}
	for i, id := range ids {
		if _, rest, _ := strings.Cut(ids[0], " "); id != fmt.Sprintf("%d %s", i+1, rest) {
			s.Errorf("after the end: %v", ids)
		}
	}
}

func idLines(frames []wire.Frame) (ids []string) {
	for _, f := range frames {
		if f.Cursor != nil {
			ids = append(ids, f.Cursor.String())
		}
	}
	return ids
}

// testTurnsStateIsNeverLate has many clients that connect while the state changes without an entry. The
// history checks that no state goes back.
func testTurnsStateIsNeverLate(s followTest) {
	e := s.engine(s.config(echo()))
	s.start(e, "r", "go")
	first := s.watch(e, &spooltest.Client{Name: "first"}, wire.FollowOptions{})
	stops := []func() []wire.Frame{first}
	for n := range 20 {
		s.stop(e)
		stops = append(stops, s.watch(e, &spooltest.Client{Name: fmt.Sprint("stopped ", n)}, wire.FollowOptions{}))
		s.start(e, spool.RunID(fmt.Sprint("r", n)), strconv.Itoa(n))
		stops = append(stops, s.watch(e, &spooltest.Client{Name: fmt.Sprint("started ", n)}, wire.FollowOptions{}))
	}
	<-time.After(time.Second)
	for _, stop := range stops {
		frames := stop()
		if got := notices(frames); len(got) == 0 || !slices.Contains(got, "STATE_CHANGE QUEUED") {
			s.Errorf("notices: %v", got)
		}
	}
}
