package enginetest

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// testWaitBehindPark waits for a parked run, until its park is answered.
func testWaitBehindPark(s waitTest) {
	m := spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		if last := r.Messages[len(r.Messages)-1]; last.Role == spool.RoleUser && last.Text() == "go" {
			return spooltest.Use(spooltest.Call{ID: "c1", Name: "send"})
		}
		return spooltest.Say("yes")
	})
	e := s.working(s.config(m, approved("send", "1")))
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	s.busy(e, "r2", spool.BusyEnqueue)
	<-time.After(time.Minute)
	if got := s.states(); got != "r1 WAITING_FOR_INPUT, r2 QUEUED" {
		s.Errorf("the runs: %s", got)
	}
	s.answer(e, "c1", true, "")
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go", "assistant c1=send{}", "tool c1:1", "assistant yes", "user r2",
		"assistant yes")
}

// testWaitBehindFailure continues after a run that fails.
func testWaitBehindFailure(s waitTest) {
	m := spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		if r.Messages[len(r.Messages)-1].Text() == "go" {
			return spooltest.Turn{Err: overloaded()}
		}
		return spooltest.Say("yes")
	})
	e := s.working(s.config(m))
	s.start(e, "r1", "go")
	s.until("the failure", func() bool { return m.Asked() == 1 && s.thread().State == wire.Queued })
	s.busy(e, "r2", spool.BusyEnqueue)
	s.ended(wire.Completed)
	if got := s.states(); got != "r1 FAILED, r2 COMPLETED" {
		s.Errorf("the runs: %s", got)
	}
}

// testWaitStop stops the whole thread, whose first run has not given it to the next one yet.
func testWaitStop(s waitTest) {
	m := gated(make(chan struct{}))
	c := s.config(m)
	stopped := make(chan struct{})
	c.OnSettle = func(_ context.Context, t wire.Settlement) error {
		if t.RunID == "r1" {
			<-stopped
		}
		return nil
	}
	e := s.working(c)
	s.talks(e, m)
	s.busy(e, "r2", spool.BusyEnqueue)
	s.busy(e, "r3", spool.BusyInterrupt)
	s.stop(e)
	close(stopped)
	s.ended(wire.Cancelled)
	<-time.After(time.Minute)
	if got := s.states(); got != "r1 CANCELLED, r2 CANCELLED, r3 CANCELLED" {
		s.Errorf("the runs: %s", got)
	}
	s.lines("messages", s.script(), "user r1!", "assistant re: r1!")
}

// testWaitStopRun stops one run at a time.
func testWaitStopRun(s waitTest) {
	m := gated(make(chan struct{}))
	e := s.working(s.config(m))
	stop := func(id spool.RunID, accepted bool, text string) {
		s.Helper()
		r, err := e.StopRun(context.Background(), chat, id)
		if err != nil || r.Accepted != accepted || r.Error != text {
			s.Errorf("stop %s: %+v, %v", id, r, err)
		}
	}
	stop("r1", false, "Cannot stop run in state unknown")
	s.talks(e, m)
	for _, id := range []spool.RunID{"r2", "r3", "r4"} {
		s.busy(e, id, spool.BusyEnqueue)
	}
	stop("r3", true, "")
	stop("r3", false, "Cannot stop run in state CANCELLED")
	stop("r9", false, "Cannot stop run in state unknown")
	if got := s.queue(e); got != "r2 r4" {
		s.Errorf("the queue is %q", got)
	}
	stop("r1", true, "")
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user r1!", "assistant re: r1!", "user r2", "assistant re: r2", "user r4",
		"assistant re: r4")
	stop("r4", false, "Cannot stop run in state COMPLETED")
	if _, err := e.StopRun(context.Background(), chat, "a b"); spool.CodeOf(err) != spool.Invalid {
		s.Errorf("an id that is none: %v", err)
	}
}

// testWaitEdit edits an earlier turn while a run is active: with a run that starts at once, and with
// one that waits.
func testWaitEdit(s waitTest) {
	gate := make(chan struct{})
	m := gated(gate)
	e := s.working(s.config(m))
	s.start(e, "r0", "zero")
	s.ended(wire.Completed)
	turns := s.messagesOf(chat)
	s.talks(e, m)
	edit := func(run spool.RunID, id spool.MessageID, w spool.WhenBusy) wire.RunResult {
		s.Helper()
		r, err := e.Run(context.Background(), chat,
			wire.StartRequest{Prompt: string(run), RunID: run, EditMessageID: id, WhenBusy: w})
		if err != nil {
			s.Error(err)
		}
		return r
	}
	if r := edit("x", turns[1].ID, spool.BusyEnqueue); r.Reason != wire.ReasonNotEditable {
		s.Errorf("an edit of the assistant's: %+v", r)
	}
	if r := edit("x", "nothing", spool.BusyInterrupt); r.Reason != wire.ReasonNotFound {
		s.Errorf("an edit of nothing: %+v", r)
	}
	s.lines("messages", s.script(), "user zero", "assistant re: zero", "user r1!")
	edit("r2", turns[0].ID, spool.BusyInterrupt)
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user r2", "assistant re: r2")
}

func testWaitDelete(s waitTest) {
	e := s.working(s.config(spooltest.NewModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "send"})),
		approved("send", "1")))
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	s.busy(e, "r2", spool.BusyEnqueue)
	if r, err := e.DeleteThread(context.Background(), chat); err != nil || !r.Accepted {
		s.Errorf("delete: %+v, %v", r, err)
	}
	if s.all(chat, "").Found {
		s.Error("the thread is still there")
	}
	s.history.Starts = nil
}

// testWaitIdempotencyKey repeats a waiting start, at once and later: its effects on other runs happen
// once, and the answer stays the first one.
func testWaitIdempotencyKey(s waitTest) {
	e := s.engine(s.config(echo()))
	for _, w := range []spool.WhenBusy{spool.BusyEnqueue, spool.BusyLatest, spool.BusyInterrupt, spool.BusyRollback} {
		s.startAs(e, chat, wire.StartRequest{Prompt: "x"})
		s.busy(e, "before-"+spool.RunID(w), spool.BusyEnqueue)
		results := make([]wire.RunResult, 8)
		var group sync.WaitGroup
		for i := range results {
			group.Go(func() {
				var err error
				results[i], err = e.Run(context.Background(), chat,
					wire.StartRequest{Prompt: "again", WhenBusy: w, IdempotencyKey: "k-" + string(w)})
				if err != nil {
					s.Error(err)
				}
			})
		}
		group.Wait()
		turns := 0
		for _, r := range s.runsOf(chat) {
			if r.StartKey == "k-"+string(w) {
				turns++
			}
		}
		for _, r := range results {
			s.same("a repeated start", r, results[0])
		}
		if turns != 1 || !results[0].Accepted {
			s.Errorf("%s: %d runs, %+v", w, turns, results[0])
		}
		s.stop(e)
		later, err := e.Run(context.Background(), chat,
			wire.StartRequest{Prompt: "again", WhenBusy: w, IdempotencyKey: "k-" + string(w)})
		if err != nil {
			s.Error(err)
		}
		s.same("a start that is repeated later", later, results[0])
	}
}

// settled records the calls of the settle hook by run.
type settled struct {
	mu   sync.Mutex
	runs map[spool.RunID]string
}

func (h *settled) hook(_ context.Context, t wire.Settlement) error {
	<-time.After(100 * time.Millisecond)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.runs[t.RunID] += string(t.State)
	return nil
}

// of returns the recorded calls of the runs.
func (h *settled) of(ids ...spool.RunID) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []string
	for _, id := range ids {
		out = append(out, h.runs[id])
	}
	return strings.Join(out, " ")
}

// testWaitSettle checks that every run is settled once, including runs that never began.
func testWaitSettle(s waitTest) {
	gate := make(chan struct{})
	m := gated(gate)
	h := &settled{runs: make(map[spool.RunID]string)}
	c := s.config(m)
	c.OnSettle = h.hook
	e := s.working(c)
	s.talks(e, m)
	s.busy(e, "r2", spool.BusyEnqueue)
	s.busy(e, "r3", spool.BusyLatest)
	close(gate)
	s.ended(wire.Completed)
	s.until("the hook for the run that was cancelled", func() bool { return h.of("r2") != "" })
	<-time.After(time.Minute)
	if got := h.of("r1", "r2", "r3"); got != "COMPLETED CANCELLED COMPLETED" {
		s.Errorf("the hook was told %s", got)
	}
}

// testWaitSettleInterrupted interrupts runs without a worker, with a settle hook.
func testWaitSettleInterrupted(s waitTest) {
	h := &settled{runs: make(map[spool.RunID]string)}
	m := echo()
	c := s.config(m)
	c.OnSettle = h.hook
	e := s.engine(c)
	s.start(e, "r1", "one")
	s.busy(e, "r2", spool.BusyInterrupt)
	if t := s.thread(); t.RunID != "r2" || t.State != wire.Queued {
		s.Errorf("the thread after the hook: %+v", t)
	}
	s.work(e)
	s.ended(wire.Completed)
	if got := h.of("r1", "r2"); got != "CANCELLED COMPLETED" {
		s.Errorf("the hook was told %s", got)
	}
	s.lines("messages", s.script(), "user one", "user r2", "assistant re: r2")
}

// testWaitDeadWorker interrupts a run whose worker died while its tool ran. The tool's result is kept
// and comes before the new turn.
func testWaitDeadWorker(s waitTest) {
	running := make(chan struct{})
	hang := spool.Tool{
		ToolSpec: spool.ToolSpec{Name: "hang"},
		Call: func(ctx context.Context, _ spool.ToolCall) (json.RawMessage, error) {
			close(running)
			<-ctx.Done()
			return nil, ctx.Err()
		},
	}
	m := spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		if last := r.Messages[len(r.Messages)-1]; last.Role == spool.RoleUser && last.Text() == "go" {
			return spooltest.Use(spooltest.Call{ID: "c1", Name: "hang"})
		}
		return spooltest.Say("yes")
	})
	c := s.config(m, hang)
	p := s.process(c)
	s.start(p.Engine, "r1", "go")
	receive(s, running, bubbleWait, "the call of the tool")
	p.kill()
	<-time.After(time.Minute)
	e := s.engine(c)
	if r := s.busy(e, "r2", spool.BusyInterrupt); r.Position != 1 {
		s.Errorf("result: %+v", r)
	}
	s.work(e)
	s.ended(wire.Completed)
	if got := s.script(); len(got) != 5 || got[0] != "user go" || !strings.HasPrefix(got[2], "tool c1:") ||
		got[3] != "user r2" {
		s.Errorf("messages: %v", got)
	}
	if got := s.states(); got != "r1 CANCELLED, r2 COMPLETED" {
		s.Errorf("the runs: %s", got)
	}
}

// testWaitNotices follows the thread: each change of the queue comes with the state, and the turn of a
// run that has waited comes with its client's message id.
func testWaitNotices(s waitTest) {
	gate := make(chan struct{})
	m := gated(gate)
	e := s.working(s.config(m))
	s.talks(e, m)
	stop := s.watch(e, &spooltest.Client{Name: "live"}, wire.FollowOptions{})
	s.startAs(e, chat, wire.StartRequest{Prompt: "two", RunID: "r2", ClientMessageID: "mine", WhenBusy: spool.BusyEnqueue})
	<-time.After(time.Second)
	s.busy(e, "r3", spool.BusyLatest)
	<-time.After(time.Second)
	s.startAs(e, chat, wire.StartRequest{Prompt: "r4", RunID: "r4", ClientMessageID: "its", WhenBusy: spool.BusyEnqueue})
	<-time.After(time.Second)
	close(gate)
	s.ended(wire.Completed)
	<-time.After(quiet)
	var queues, turns []string
	for _, f := range stop() {
		if f.Cursor != nil {
			continue
		}
		var p struct {
			State   wire.State
			Content string
			Queue   []wire.QueuedRun

			ClientMessageID string
		}
		if err := json.Unmarshal(f.Event.Payload, &p); err != nil {
			s.Error(err)
		}
		if f.Event.Type == wire.NoticeMessageAppended {
			turns = append(turns, p.Content+p.ClientMessageID)
			continue
		}
		line := []string{string(p.State)}
		for _, q := range p.Queue {
			line = append(line, string(q.RunID)+q.ClientMessageID)
			if len(q.Content) > 0 {
				s.Error("a notice has the whole turn")
			}
		}
		if l := strings.Join(line, " "); len(queues) == 0 || queues[len(queues)-1] != l {
			queues = append(queues, l)
		}
	}
	told := strings.Join(queues, ", ")
	if !strings.HasPrefix(told, "RUNNING, RUNNING r2mine, RUNNING r3, RUNNING r3 r4its, ") ||
		queues[len(queues)-1] != "COMPLETED" {
		s.Errorf("the queues: %s", told)
	}
	if got := strings.Join(turns, " "); !strings.HasSuffix(got, "r3 r4its") || strings.Contains(got, "two") {
		s.Errorf("the turns: %s", got)
	}
}

// testWaitSnapshot checks that the snapshot shows the turns of waiting runs, and nothing if no run
// waits.
func testWaitSnapshot(s waitTest) {
	e := s.engine(s.config(echo()))
	s.start(e, "r1", "one")
	snap := func() (text string) {
		s.Helper()
		got, err := e.Snapshot(context.Background(), chat, nil)
		if err != nil {
			s.Fatal(err)
		}
		b, err := json.Marshal(got)
		if err != nil {
			s.Fatal(err)
		}
		return string(b)
	}
	if got := snap(); strings.Contains(got, "queue\"") {
		s.Errorf("a snapshot without a queue: %s", got)
	}
	s.startAs(e, chat, wire.StartRequest{Prompt: "two", RunID: "r2", ClientMessageID: "mine", WhenBusy: spool.BusyEnqueue})
	const want = `"queue":[{"runId":"r2","position":1,"whenBusy":"enqueue","clientMessageId":"mine","content":"two","enqueuedAt":"`
	if got := snap(); !strings.Contains(got, want) {
		s.Errorf("a snapshot: %s", got)
	}
	s.stop(e)
}
