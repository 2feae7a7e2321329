package enginetest

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// waitTest is the fixture of the cases about runs that wait for their thread.
type waitTest struct{ *engineTest }

var waitTests = map[string]func(s waitTest){
	"Free":             testWaitFree,
	"Policy":           testWaitPolicy,
	"Enqueue":          testWaitEnqueue,
	"Latest":           testWaitLatest,
	"Interrupt":        testWaitInterrupt,
	"InterruptsInARow": testWaitInterruptsInARow,
	"InterruptFirst":   testWaitInterruptFirst,
	"Rollback":         testWaitRollback,
	"RollbackInterrupt": testWaitRollbackWaiting(spool.BusyInterrupt,
		"user zero", "assistant re: zero", "user one!", "user r3", "assistant re: r3"),
	"RollbackRollback": testWaitRollbackWaiting(spool.BusyRollback,
		"user zero", "assistant re: zero", "user r3", "assistant re: r3"),
	"BehindPark":        testWaitBehindPark,
	"BehindFailure":     testWaitBehindFailure,
	"Stop":              testWaitStop,
	"StopRun":           testWaitStopRun,
	"Edit":              testWaitEdit,
	"Delete":            testWaitDelete,
	"IdempotencyKey":    testWaitIdempotencyKey,
	"Settle":            testWaitSettle,
	"SettleInterrupted": testWaitSettleInterrupted,
	"DeadWorker":        testWaitDeadWorker,
	"Notices":           testWaitNotices,
	"Snapshot":          testWaitSnapshot,
	"LatestInterrupt":   testWaitLatestInterrupt,
	"Places":            testWaitPlaces,
}

// busy starts a run with a policy for busy threads.
func (s waitTest) busy(e *engine.Engine, run spool.RunID, w spool.WhenBusy) wire.RunResult {
	s.Helper()
	return s.startAs(e, chat, wire.StartRequest{Prompt: string(run), RunID: run, WhenBusy: w})
}

// queue returns the ids of the waiting runs in the snapshot.
func (s waitTest) queue(e *engine.Engine) string {
	s.Helper()
	snap, err := e.Snapshot(context.Background(), chat, nil)
	if err != nil {
		s.Fatal(err)
	}
	ids := make([]string, len(snap.Queue))
	for i, q := range snap.Queue {
		ids[i] = string(q.RunID)
		if q.Position != i+1 {
			s.Errorf("run %s is at position %d of the queue, and its place is %d", q.RunID, i+1, q.Position)
		}
	}
	return strings.Join(ids, " ")
}

// states returns the runs in the order of their starts, with their states.
func (s waitTest) states() string {
	s.Helper()
	var words []string
	for _, r := range s.runsOf(chat) {
		words = append([]string{string(r.ID) + " " + string(r.State)}, words...)
	}
	return strings.Join(words, ", ")
}

// gated returns a model that repeats the last turn. If the turn ends with an exclamation mark, the
// model waits for its gate after half of the answer.
func gated(gate chan struct{}) *spooltest.Model {
	return spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		said := r.Messages[len(r.Messages)-1].Text()
		t := spooltest.Say("re: ", said)
		if strings.HasSuffix(said, "!") {
			t.Gate = gate
		}
		return t
	})
}

// deaf returns a model that repeats the last turn. If the turn ends with an exclamation mark, the model
// ignores everything until its gate opens.
func deaf(gate chan struct{}) *spooltest.Model {
	return spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		said := r.Messages[len(r.Messages)-1].Text()
		t := spooltest.Say("re: ", said)
		if strings.HasSuffix(said, "!") {
			t.Before = func(context.Context) error {
				<-gate
				return nil
			}
		}
		return t
	})
}

// scriptBut returns a line for each part of the thread's messages, except for the given line. That line
// is the answer of a run that was stopped when its model began to talk, so it may be missing.
func (s waitTest) scriptBut(line string) []string {
	s.Helper()
	return slices.DeleteFunc(s.script(), func(l string) bool { return l == line })
}

// talks starts the run r1 and waits until its model is in the middle of the answer.
func (s waitTest) talks(e *engine.Engine, m *spooltest.Model) {
	s.Helper()
	asked := m.Asked()
	s.start(e, "r1", "r1!")
	s.until("the model's text", func() bool { return m.Asked() > asked })
	<-time.After(time.Second)
}

func testWaitFree(s waitTest) {
	e := s.working(s.config(echo()))
	for _, w := range []spool.WhenBusy{
		spool.BusyReject, spool.BusyEnqueue, spool.BusyLatest, spool.BusyInterrupt, spool.BusyRollback,
	} {
		run := spool.RunID("r-" + w)
		s.same("result", s.busy(e, run, w), wire.RunResult{Accepted: true, ThreadID: "chat", RunID: run, State: wire.Queued})
		s.ended(wire.Completed)
	}
}

// testWaitPolicy takes the policy from the request, the agent, and the configuration.
func testWaitPolicy(s waitTest) {
	c := s.config(echo())
	c.WhenBusy = spool.BusyEnqueue
	c.Agents = append(c.Agents, spool.Agent{Name: "b", Model: "m", WhenBusy: spool.BusyReject})
	e := s.engine(c)
	s.start(e, "r1", "one")
	for _, test := range []struct {
		agent    string
		policy   spool.WhenBusy
		accepted bool
	}{{"a", "", true}, {"a", spool.BusyReject, false}, {"b", "", false}, {"b", spool.BusyEnqueue, true}} {
		r, err := e.Run(context.Background(), chat,
			wire.StartRequest{Prompt: "x", StartOptions: wire.StartOptions{Agent: test.agent}, WhenBusy: test.policy})
		if err != nil || r.Accepted != test.accepted || !r.Accepted && r.Reason != wire.ReasonActiveRun {
			s.Errorf("%+v: %+v, %v", test, r, err)
		}
	}
	_, err := e.Run(context.Background(), chat, wire.StartRequest{Prompt: "x", WhenBusy: "drop"})
	if spool.CodeOf(err) != spool.Invalid || !strings.HasPrefix(spool.MessageOf(err), "whenBusy must be") {
		s.Errorf("an unknown policy: %v", err)
	}
	c.WhenBusy = "drop"
	if _, err := engine.New(s.backend, c); spool.CodeOf(err) != spool.Invalid {
		s.Errorf("an unknown policy in the configuration: %v", err)
	}
	s.stop(e)
}

func testWaitEnqueue(s waitTest) {
	gate := make(chan struct{})
	m := gated(gate)
	e := s.working(s.config(m))
	s.talks(e, m)
	for i, id := range []spool.RunID{"r2", "r3"} {
		s.same("result", s.busy(e, id, spool.BusyEnqueue), wire.RunResult{
			Accepted: true, ThreadID: "chat", RunID: id, State: wire.Queued, Position: i + 1,
		})
	}
	if got := s.queue(e); got != "r2 r3" {
		s.Errorf("the queue is %q", got)
	}
	s.lines("messages", s.script(), "user r1!")
	close(gate)
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user r1!", "assistant re: r1!", "user r2", "assistant re: r2", "user r3",
		"assistant re: r3")
	s.lines("record", s.record(), "RUN_STARTED r1:1", "RUN_ENDED r1:1 finished", "RUN_STARTED r2:1",
		"RUN_ENDED r2:1 finished",
		"RUN_STARTED r3:1", "RUN_ENDED r3:1 finished")
	for _, entry := range s.entriesOf(chat) {
		var p wire.RunStarted
		if err := json.Unmarshal(entry.Payload, &p); err != nil {
			s.Fatal(err)
		}
		if want := s.run(entry.RunID).EnqueuedAt; entry.Type == wire.EntryRunStarted &&
			(want.IsZero() || !p.EnqueuedAt.Equal(want)) {
			s.Errorf("the first segment of %s says that the run was accepted at %s, want %s", entry.RunID, p.EnqueuedAt, want)
		}
	}
	if got := s.queue(e); got != "" {
		s.Errorf("the queue after the end is %q", got)
	}
}

func testWaitLatest(s waitTest) {
	gate := make(chan struct{})
	m := gated(gate)
	e := s.working(s.config(m))
	s.talks(e, m)
	s.busy(e, "r2", spool.BusyEnqueue)
	s.busy(e, "r3", spool.BusyLatest)
	if r := s.busy(e, "r4", spool.BusyLatest); r.Position != 1 {
		s.Errorf("result: %+v", r)
	}
	if got := s.queue(e); got != "r4" {
		s.Errorf("the queue is %q", got)
	}
	if r := s.run("r3"); r.State != wire.Cancelled || r.StopReason != wire.StopCancelled ||
		r.Error != "a later start took its place" || r.EndedAt.IsZero() {
		s.Errorf("the run before: %+v", r)
	}
	s.busy(e, "r5", spool.BusyEnqueue)
	close(gate)
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user r1!", "assistant re: r1!", "user r4", "assistant re: r4", "user r5",
		"assistant re: r5")
}

func testWaitInterrupt(s waitTest) {
	m := gated(make(chan struct{}))
	e := s.working(s.config(m))
	s.talks(e, m)
	s.busy(e, "r2", spool.BusyEnqueue)
	began := time.Now()
	if r := s.busy(e, "r3", spool.BusyInterrupt); r.Position != 1 {
		s.Errorf("result: %+v", r)
	}
	s.ended(wire.Completed)
	if took := time.Since(began); took > 500*time.Millisecond {
		s.Errorf("it took %s", took)
	}
	s.lines("messages", s.script(), "user r1!", "assistant re: r1!", "user r3", "assistant re: r3", "user r2",
		"assistant re: r2")
	if got := s.states(); got != "r1 CANCELLED, r2 COMPLETED, r3 COMPLETED" {
		s.Errorf("the runs: %s", got)
	}
	if first := s.record()[1]; first != "RUN_ENDED r1:1 stopped" {
		s.Errorf("the record has %s", first)
	}
}

// testWaitInterruptsInARow interrupts three times before the first run has stopped: all turns are added
// in order, and only the last is answered.
func testWaitInterruptsInARow(s waitTest) {
	gate := make(chan struct{})
	m := deaf(gate)
	e := s.working(s.config(m))
	s.start(e, "r1", "one!")
	s.until("the question", func() bool { return m.Asked() == 1 })
	for i, id := range []spool.RunID{"r2", "r3", "r4"} {
		if r := s.busy(e, id, spool.BusyInterrupt); r.Position != i+1 {
			s.Errorf("result: %+v", r)
		}
	}
	s.busy(e, "r5", spool.BusyEnqueue)
	if got := s.queue(e); got != "r2 r3 r4 r5" {
		s.Errorf("the queue is %q", got)
	}
	close(gate)
	s.ended(wire.Completed)
	s.lines("messages", s.scriptBut("assistant re: one!"), "user one!", "user r2", "user r3", "user r4",
		"assistant re: r4", "user r5", "assistant re: r5")
	s.lines("record", s.record(), "RUN_STARTED r1:1", "RUN_ENDED r1:1 stopped", "RUN_STARTED r4:1",
		"RUN_ENDED r4:1 finished",
		"RUN_STARTED r5:1", "RUN_ENDED r5:1 finished")
	if got := s.states(); got != "r1 CANCELLED, r2 CANCELLED, r3 CANCELLED, r4 COMPLETED, r5 COMPLETED" {
		s.Errorf("the runs: %s", got)
	}
}

// testWaitInterruptFirst races an interrupt with the end of the run.
func testWaitInterruptFirst(s waitTest) {
	e := s.working(s.config(echo()))
	for i := range 20 {
		first, second := spool.RunID("a"+string(rune('a'+i))), spool.RunID("b"+string(rune('a'+i)))
		s.start(e, first, "one")
		<-time.After(time.Duration(i) * 100 * time.Microsecond)
		s.busy(e, second, spool.BusyInterrupt)
		s.until("both ends", func() bool { return s.run(first).State.Terminal() && s.run(second).State.Terminal() })
		if r := s.run(second); r.State != wire.Completed {
			s.Errorf("the second run: %+v", r)
		}
	}
}

func testWaitRollback(s waitTest) {
	m := gated(make(chan struct{}))
	e := s.working(s.config(m))
	s.start(e, "r0", "zero")
	s.ended(wire.Completed)
	s.talks(e, m)
	turn := s.messagesOf(chat)[2].ID
	s.busy(e, "r2", spool.BusyRollback)
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user zero", "assistant re: zero", "user r2", "assistant re: r2")
	s.lines("record", s.record()[2:], "RUN_STARTED r1:1", "RUN_ENDED r1:1 stopped", "MESSAGES_DROPPED", "RUN_STARTED r2:1",
		"RUN_ENDED r2:1 finished")
	if e := s.entriesOf(chat)[4]; e.RunID != "r2" || !strings.Contains(string(e.Payload), string(turn)) {
		s.Errorf("the entry is %+v with %s", e, e.Payload)
	}
}

// testWaitRollbackWaiting rolls back runs that have stopped another run and have not begun: messages
// that such a run would have kept are kept, and messages that it would have dropped are dropped.
func testWaitRollbackWaiting(first spool.WhenBusy, want ...string) func(s waitTest) {
	return func(s waitTest) {
		gate := make(chan struct{})
		m := deaf(gate)
		e := s.working(s.config(m))
		s.start(e, "r0", "zero")
		s.ended(wire.Completed)
		s.start(e, "r1", "one!")
		s.until("the question", func() bool { return m.Asked() == 2 })
		s.busy(e, "r2", first)
		s.busy(e, "r3", spool.BusyRollback)
		if got := s.queue(e); got != "r3" {
			s.Errorf("the queue is %q", got)
		}
		close(gate)
		s.ended(wire.Completed)
		s.lines("messages", s.scriptBut("assistant re: one!"), want...)
		if got := s.states(); got != "r0 COMPLETED, r1 CANCELLED, r2 CANCELLED, r3 COMPLETED" {
			s.Errorf("the runs: %s", got)
		}
	}
}
