package enginetest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// These are cases of starts that wait for their time.
var laterTests = map[string]func(s laterTest){
	"Due":      testLaterDue,
	"Past":     testLaterPast,
	"Busy":     testLaterBusy,
	"Repeated": testLaterRepeated,
	"Moved":    testLaterMoved,
	"Canceled": testLaterCanceled,
	"Deleted":  testLaterDeleted,
	"Gone":     testLaterGone,
	"Full":     testLaterFull,
	"Own":      testLaterOwn,
	"Bad":      testLaterBad,
	"Twice":    testLaterTwice,
	"Race":     testLaterRace,
	"Killed":   testLaterKilled,
	"Right":    testLaterRight,
	"Session":  testLaterSession,
	"Imported": testLaterImported,
}

type laterTest struct{ *engineTest }

// beside returns another thread of the tenant.
func beside(id spool.ThreadID) spool.ThreadKey { return spool.ThreadKey{Tenant: chat.Tenant, ID: id} }

// soon is how long a delayed start of a case waits.
const soon = 1500 * time.Millisecond

// talking returns a configuration whose model answers each request.
func (s laterTest) talking() engine.Config {
	return s.config(spooltest.NewModelFunc(func(context.Context, spool.ModelRequest) spooltest.Turn {
		return spooltest.Say("hi")
	}))
}

// at returns a time from now, as the store keeps it.
func (s laterTest) at(in time.Duration) time.Time {
	return s.now().Add(in).UTC().Truncate(time.Millisecond)
}

// ask starts a run, and returns the result without the text for a person.
func (s laterTest) ask(e *engine.Engine, key spool.ThreadKey, r wire.StartRequest) wire.RunResult {
	s.Helper()
	r.Prompt = "x"
	result, err := e.Run(context.Background(), key, r)
	if err != nil {
		s.Fatal(err)
	}
	result.Error = ""
	return result
}

// list describes the delayed starts that an actor sees.
func (s laterTest) list(ctx context.Context, e *engine.Engine, q wire.DelayedQuery) string {
	s.Helper()
	all, err := e.DelayedStarts(ctx, chat.Tenant, q)
	if err != nil {
		s.Fatal(err)
	}
	var text strings.Builder
	for _, d := range all {
		fmt.Fprintf(&text, "%s %s %s%s;", d.RunID, d.ThreadID, d.Title, d.Reason)
	}
	return text.String()
}

// waiting returns the delayed starts of the tenant, and those that were refused.
func (s laterTest) waiting(e *engine.Engine) string {
	s.Helper()
	return s.list(context.Background(), e, wire.DelayedQuery{})
}

// runs returns how many runs a thread has.
func (s laterTest) runs(key spool.ThreadKey) int {
	s.Helper()
	return len(s.runsOf(key))
}

func testLaterDue(s laterTest) {
	e := s.working(s.talking())
	at := s.at(soon)
	r := s.startAs(e, chat, wire.StartRequest{
		Prompt: "hello\nyou", RunID: "r1", By: "ann", Labels: map[string]string{"a": "b"}, StartAt: at,
	})
	s.same("result", r, wire.RunResult{Accepted: true, ThreadID: chat.ID, RunID: "r1", StartAt: at})
	if s.all(chat, "r1").Found {
		s.Error("the thread exists before its time")
	}
	got, err := e.DelayedStart(context.Background(), chat.Tenant, "r1")
	if err != nil || got.CreatedAt.IsZero() {
		s.Errorf("the delayed start: %+v, %v", got, err)
	}
	got.CreatedAt = time.Time{}
	s.same("the delayed start", got, wire.DelayedStart{
		RunID: "r1", ThreadID: chat.ID, StartAt: at, Agent: "a", Title: "hello", StartedBy: "ann",
	})
	fresh := s.startAs(e, spool.ThreadKey{Tenant: chat.Tenant}, wire.StartRequest{Prompt: "x", StartAt: at})
	if fresh.ThreadID == "" || fresh.RunID == "" {
		s.Errorf("a start on a new thread: %+v", fresh)
	}
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user hello\nyou", "assistant hi")
	if run := s.run("r1"); run.StartedBy != "ann" || run.EnqueuedAt.Before(at) {
		s.Errorf("the run: %+v", run)
	}
	if thread := s.thread(); thread.Owner != "ann" || thread.Labels["a"] != "b" {
		s.Errorf("the thread: %+v", thread)
	}
	key := spool.ThreadKey{Tenant: chat.Tenant, ID: fresh.ThreadID}
	s.until("the other run", func() bool { return s.runs(key) == 1 && s.threadOf(key).State == wire.Completed })
	s.until("no job", func() bool { return s.jobs().Ready+s.jobs().Delayed+s.jobs().InFlight == 0 })
	s.same("delayed starts", s.waiting(e), "")
}

// testLaterPast has times that are not ahead: they are now.
func testLaterPast(s laterTest) {
	e := s.working(s.talking())
	at := s.at(-time.Hour)
	for range 2 {
		r := s.startAs(e, chat, wire.StartRequest{Prompt: "x", RunID: "r1", IdempotencyKey: "k", StartAt: at})
		s.same("result", r, wire.RunResult{Accepted: true, ThreadID: chat.ID, RunID: "r1", State: wire.Queued})
		s.ended(wire.Completed)
	}
	s.same("runs", s.runs(chat), 1)
}

// testLaterBusy has starts that come due while a run has the thread. They meet it as any start does.
func testLaterBusy(s laterTest) {
	release := make(chan struct{})
	c := s.config(spooltest.NewModelFunc(func(ctx context.Context, _ spool.ModelRequest) spooltest.Turn {
		select {
		case <-release:
		case <-ctx.Done():
		}
		return spooltest.Say("hi")
	}))
	e := s.working(c)
	s.start(e, "r0", "first")
	at := s.at(soon)
	s.startAs(e, chat, wire.StartRequest{Prompt: "no", RunID: "r1", IdempotencyKey: "k", StartAt: at})
	s.startAs(e, chat, wire.StartRequest{Prompt: "next", RunID: "r2", WhenBusy: spool.BusyEnqueue, StartAt: at})
	s.until("both came due", func() bool { return s.waiting(e) == "r1 chat noactive_run;" })
	got, err := e.DelayedStart(context.Background(), chat.Tenant, "r1")
	if err != nil || got.RefusedAt.Before(at) || got.Error == "" {
		s.Errorf("the refused start: %+v, %v", got, err)
	}
	again, err := e.Run(context.Background(), chat, wire.StartRequest{Prompt: "no", IdempotencyKey: "k", StartAt: at})
	if err != nil || !again.Accepted || again.RunID != "r1" {
		s.Errorf("a repeated start: %+v, %v", again, err)
	}
	close(release)
	s.until("the end", func() bool { return s.runs(chat) == 2 && s.thread().State == wire.Completed })
	s.same("delayed starts", s.waiting(e), "r1 chat noactive_run;")
	used := s.ask(e, chat, wire.StartRequest{RunID: "r1"})
	s.same("its run id", used, wire.RunResult{ThreadID: chat.ID, Reason: wire.ReasonRunIDUsed})
	moved, err := e.MoveDelayedStart(context.Background(), chat.Tenant, "r1", s.at(-time.Hour))
	if err != nil || !moved.RefusedAt.IsZero() || moved.Reason != "" {
		s.Errorf("moved: %+v, %v", moved, err)
	}
	s.until("its run", func() bool { return s.runs(chat) == 3 && s.thread().State == wire.Completed })
	s.lines("messages", s.script(), "user first", "assistant hi", "user next", "assistant hi", "user no", "assistant hi")
	s.same("delayed starts", s.waiting(e), "")
}

// testLaterRepeated repeats a start before and after its time, and has others that want its run id or its key.
func testLaterRepeated(s laterTest) {
	e := s.engine(s.talking())
	at := s.at(soon)
	request := wire.StartRequest{Prompt: "x", IdempotencyKey: "k", StartAt: at}
	key := spool.ThreadKey{Tenant: chat.Tenant}
	results := make([]wire.RunResult, 8)
	var group sync.WaitGroup
	for i := range results {
		group.Go(func() {
			var err error
			if results[i], err = e.Run(context.Background(), key, request); err != nil {
				s.Error(err)
			}
		})
	}
	group.Wait()
	first := results[0]
	for _, r := range results {
		s.same("a repeated start", r, first)
	}
	if !first.Accepted || first.StartAt.IsZero() {
		s.Fatalf("the start: %+v", first)
	}
	reused := wire.RunResult{ThreadID: first.ThreadID, RunID: first.RunID, Reason: wire.ReasonKeyReused}
	used := wire.RunResult{ThreadID: "other", Reason: wire.ReasonRunIDUsed}
	other := spool.ThreadKey{Tenant: chat.Tenant, ID: "other"}
	for _, later := range []time.Time{{}, at.Add(time.Second)} {
		s.same("another start with the key", s.ask(e, key, wire.StartRequest{IdempotencyKey: "k", StartAt: later}), reused)
		s.same("another start with the run id", s.ask(e, other, wire.StartRequest{RunID: first.RunID, StartAt: later}), used)
	}
	if foreign := s.ask(e, spool.ThreadKey{Tenant: "umbrella"}, wire.StartRequest{
		RunID:          first.RunID,
		IdempotencyKey: "k", StartAt: s.at(time.Hour),
	}); !foreign.Accepted {
		s.Errorf("another tenant: %+v", foreign)
	}
	s.same("delayed starts", s.waiting(e), fmt.Sprintf("%s %s x;", first.RunID, first.ThreadID))
	s.until("its time", func() bool { return s.now().After(at) })
	s.same("a repeated start that is due", s.ask(e, key, request), first)
	s.work(e)
	thread := spool.ThreadKey{Tenant: chat.Tenant, ID: first.ThreadID}
	s.until("its run", func() bool { return s.runs(thread) == 1 && s.threadOf(thread).State == wire.Completed })
	s.same("a repeated start that has run", s.ask(e, key, request),
		wire.RunResult{Accepted: true, ThreadID: first.ThreadID, RunID: first.RunID, State: wire.Queued})
	s.same("another start with the key", s.ask(e, key, wire.StartRequest{IdempotencyKey: "k"}), reused)
	s.same("runs", s.runs(thread), 1)
	if s.all(other, "").Found {
		s.Error("a refused start made its thread")
	}
}

func testLaterMoved(s laterTest) {
	e := s.working(s.talking())
	ctx := context.Background()
	at := s.at(soon)
	s.startAs(e, chat, wire.StartRequest{Prompt: "x", RunID: "r1", StartAt: at})
	moved, err := e.MoveDelayedStart(engine.WithActor(ctx, wire.Actor{Subject: "ben", Tenant: chat.Tenant}), chat.Tenant,
		"r1", at.Add(soon))
	if err != nil || !moved.StartAt.Equal(at.Add(soon)) {
		s.Fatalf("moved: %+v, %v", moved, err)
	}
	s.until("the run", func() bool { return s.runs(chat) == 1 })
	if run := s.run("r1"); run.EnqueuedAt.Before(at.Add(soon)) {
		s.Errorf("the run began at %s, want from %s", run.EnqueuedAt, at.Add(soon))
	}
	s.ended(wire.Completed)
	_, err = e.MoveDelayedStart(ctx, chat.Tenant, "r1", at.Add(time.Hour))
	s.same("the code of a start that has run", spool.CodeOf(err), spool.NotFound)
	log, err := e.Audit(ctx, chat.Tenant, wire.AuditQuery{})
	if err != nil || len(log) != 1 || log[0].Action != wire.AuditMoveStart || log[0].By != "ben" || log[0].RunID != "r1" {
		s.Errorf("the audit log: %+v, %v", log, err)
	}
}

func testLaterCanceled(s laterTest) {
	e := s.engine(s.talking())
	ctx := context.Background()
	s.startAs(e, chat, wire.StartRequest{Prompt: "x", RunID: "r1", IdempotencyKey: "k", StartAt: s.at(time.Hour)})
	s.history.Forget(chat)
	gone, err := e.CancelDelayedStart(ctx, chat.Tenant, "r1")
	if err != nil || gone.RunID != "r1" {
		s.Errorf("cancelled: %+v, %v", gone, err)
	}
	_, err = e.CancelDelayedStart(ctx, chat.Tenant, "r1")
	s.same("the code of the second time", spool.CodeOf(err), spool.NotFound)
	s.same("delayed starts", s.waiting(e), "")
	s.same("delayed jobs", s.jobs().Delayed, 0)
	log, err := e.Audit(ctx, chat.Tenant, wire.AuditQuery{})
	if err != nil || len(log) != 1 || log[0].Action != wire.AuditCancelStart {
		s.Errorf("the audit log: %+v, %v", log, err)
	}
	s.startAs(e, chat, wire.StartRequest{Prompt: "y", RunID: "r1", IdempotencyKey: "k"}) // both are free again
}

// testLaterDeleted deletes a thread for which a start waits.
func testLaterDeleted(s laterTest) {
	e := s.working(s.talking())
	s.start(e, "r1", "x")
	s.ended(wire.Completed)
	at := s.at(soon)
	s.ask(e, chat, wire.StartRequest{RunID: "r2", IdempotencyKey: "k", StartAt: at})
	s.ask(e, beside("b"), wire.StartRequest{RunID: "r3", StartAt: at})
	if r, err := e.DeleteThread(context.Background(), chat); err != nil || !r.Accepted {
		s.Fatalf("delete: %+v, %v", r, err)
	}
	s.same("delayed starts", s.waiting(e), "r3 b x;")
	s.until("the other run", func() bool { return s.runs(beside("b")) == 1 })
	if s.all(chat, "").Found {
		s.Error("the deleted thread is there again")
	}
}

// testLaterGone has a start whose agent is gone when it comes due. It waits for a process that has the agent, and is
// then kept for a day with its reason.
func testLaterGone(s laterTest) {
	e := s.engine(s.talking())
	at := s.at(soon)
	s.startAs(e, chat, wire.StartRequest{
		Prompt: "x", RunID: "r1", StartOptions: wire.StartOptions{Agent: "a"}, StartAt: at,
	})
	s.ask(e, beside("b"), wire.StartRequest{RunID: "r2", StartOptions: wire.StartOptions{Agent: "a"}, StartAt: at})
	other := s.talking()
	other.Agents[0].Name = "b"
	stop := s.work(s.engine(other))
	<-time.After(5 * time.Minute)
	s.same("delayed starts after five minutes", s.waiting(e), "r1 chat x;r2 b x;")
	if _, err := e.MoveDelayedStart(context.Background(), chat.Tenant, "r2", s.at(time.Hour)); err != nil {
		s.Error(err)
	}
	<-time.After(6 * time.Minute)
	s.same("delayed starts after ten minutes", s.waiting(e), "r1 chat xinvalid;r2 b x;")
	s.same("dead jobs", len(s.deadJobs()), 0)
	stop()
	s.lasts(3 * longest)
	<-time.After(25 * time.Hour)
	s.same("delayed starts after a day", s.waiting(e), "r2 b x;")
	s.startAs(e, chat, wire.StartRequest{Prompt: "y", RunID: "r1"})
	s.work(e)
	s.until("the other run", func() bool { return s.runs(beside("b")) == 1 })
	s.ended(wire.Completed)
}

// testLaterFull has a start that comes due while the queue is full. It waits for room.
func testLaterFull(s laterTest) {
	c := s.talking()
	c.Limits.QueueDepth = 1
	e := s.engine(c)
	s.ask(e, beside("b"), wire.StartRequest{RunID: "r2"})
	stop := s.workWith(e, engine.WorkOptions{Queues: []string{"none"}})
	s.startAs(e, chat, wire.StartRequest{Prompt: "x", RunID: "r1", StartAt: s.at(soon)})
	<-time.After(2 * soon)
	s.same("delayed starts", s.waiting(e), "r1 chat x;")
	stop()
	s.work(e)
	s.ended(wire.Completed)
}

// testLaterOwn has actors that see only their own threads.
func testLaterOwn(s laterTest) {
	e := s.engine(s.talking())
	ctx := func(subject string) context.Context {
		return engine.WithActor(context.Background(), wire.Actor{Subject: subject, Tenant: chat.Tenant, OwnOnly: true})
	}
	start := func(subject string, thread spool.ThreadID, run spool.RunID, at time.Time) wire.RunResult {
		r, err := e.Run(ctx(subject), beside(thread), wire.StartRequest{
			Prompt: "x", RunID: run, By: subject, IdempotencyKey: "k" + strings.TrimLeft(string(run), "r12"), StartAt: at,
		})
		if err != nil {
			s.Fatal(err)
		}
		return r
	}
	at := s.at(soon)
	start("ann", "a", "r1", at)
	start("ben", "b", "r2", at)
	s.same("what ann sees", s.list(ctx("ann"), e, wire.DelayedQuery{}), "r1 a x;")
	s.same("what ben sees", s.list(ctx("ben"), e, wire.DelayedQuery{}), "r2 b x;")
	s.same("what nobody sees", s.list(ctx(""), e, wire.DelayedQuery{}), "")
	s.same("a page", s.list(context.Background(), e, wire.DelayedQuery{After: "r1", Limit: 1}), "r2 b x;")
	s.same("a thread", s.list(context.Background(), e, wire.DelayedQuery{ThreadID: "a"}), "r1 a x;")
	_, find := e.DelayedStart(ctx("ben"), chat.Tenant, "r1")
	_, move := e.MoveDelayedStart(ctx("ben"), chat.Tenant, "r1", at)
	_, cancel := e.CancelDelayedStart(ctx("ben"), chat.Tenant, "r1")
	_, foreign := e.CancelDelayedStart(context.Background(), "umbrella", "r1")
	for what, err := range map[string]error{"find": find, "move": move, "cancel": cancel, "of another tenant": foreign} {
		s.same(what, spool.CodeOf(err), spool.NotFound)
	}
	s.work(e)
	s.until("the runs", func() bool { return s.runs(beside("a")) == 1 && s.runs(beside("b")) == 1 })
	s.same("a thread of another subject", start("ben", "a", "r3", s.at(time.Hour)).Reason, wire.ReasonNotFound)
	s.same("delayed starts", s.waiting(e), "")
}

func testLaterBad(s laterTest) {
	e := s.engine(s.talking())
	big := make([]byte, 100<<10)
	for i := range big {
		big[i] = 'x'
	}
	attached := make([]wire.Attachment, 8)
	for i := range attached {
		attached[i].URL = "data:text/plain," + string(big) + string(big)
	}
	for want, r := range map[string]wire.StartRequest{
		"startAt must be at most 366 days ahead": {Prompt: "x", StartAt: s.at(367 * 24 * time.Hour)},
		"prompt is required":                     {StartAt: s.at(time.Hour)},
		"startAt: a start that waits has up to 1048576 bytes with its prompt and its attachments": {
			Prompt: "x", Attachments: attached, StartAt: s.at(time.Hour),
		},
	} {
		_, err := e.Run(context.Background(), chat, r)
		if spool.CodeOf(err) != spool.Invalid || spool.MessageOf(err) != want {
			s.Errorf("got %v, want %s", err, want)
		}
	}
	s.same("delayed starts", s.waiting(e), "")
	s.same("delayed jobs", s.jobs().Delayed, 0)
}

// frozen is a stall that does not keep its jobs leased either.
type frozen struct{ *stall }

// Ack waits until the process is not paused.
func (f frozen) Ack(ctx context.Context, d store.Delivery, a store.Ack) error {
	f.wait()
	return f.stall.Ack(context.WithoutCancel(ctx), d, a)
}

// testLaterTwice has two processes that start the same run: one is paused until its lease has ended.
func testLaterTwice(s laterTest) {
	paused, b := s.newStall()
	b.Store = frozen{paused}
	first := s.over(b, s.talking())
	s.startAs(first, chat, wire.StartRequest{Prompt: "x", RunID: "r1", StartAt: s.at(soon)})
	paused.pause()
	s.work(first)
	s.until("the first claim", func() bool { return s.jobs().InFlight == 1 })
	s.working(s.talking())
	s.ended(wire.Completed)
	paused.wake()
	<-time.After(quiet)
	s.same("runs", s.runs(chat), 1)
	s.same("delayed starts", s.waiting(first), "")
}

// testLaterRace cancels starts, moves them and starts others with their run ids, all as they come due.
func testLaterRace(s laterTest) {
	e := s.working(s.talking())
	ctx := context.Background()
	at := s.at(soon)
	const n = 12
	id := func(i int) (spool.ThreadKey, spool.RunID) {
		return beside(spool.ThreadID(fmt.Sprint("t", i))), spool.RunID(fmt.Sprint("r", i))
	}
	for i := range n {
		key, run := id(i)
		s.ask(e, key, wire.StartRequest{RunID: run, IdempotencyKey: string(run), StartAt: at})
	}
	var group sync.WaitGroup
	gone := make([]bool, n)
	for i := range n {
		group.Go(func() {
			key, run := id(i)
			<-time.After(time.Until(at) + time.Duration(i)*time.Millisecond)
			switch i % 3 {
			case 0:
				_, err := e.CancelDelayedStart(ctx, chat.Tenant, run)
				gone[i] = err == nil
				if err != nil && spool.CodeOf(err) != spool.NotFound {
					s.Error(err)
				}
			case 1:
				_, err := e.MoveDelayedStart(ctx, chat.Tenant, run, at)
				if err != nil && spool.CodeOf(err) != spool.NotFound {
					s.Error(err)
				}
			default:
				r := s.ask(e, key, wire.StartRequest{RunID: run, IdempotencyKey: string(run), StartAt: at})
				if !r.Accepted || r.RunID != run {
					s.Errorf("the repeated start: %+v", r)
				}
			}
		})
	}
	group.Wait()
	for i := range n {
		key, run := id(i)
		want := 1
		if gone[i] {
			want = 0
		}
		s.until("the end of "+string(run), func() bool { return s.runs(key) == want })
	}
	<-time.After(quiet)
	s.same("delayed starts", s.waiting(e), "")
	for i := range n {
		if key, run := id(i); gone[i] && s.runs(key) != 0 || s.runs(key) > 1 {
			s.Errorf("%s, cancelled: %t, has %d runs", run, gone[i], s.runs(key))
		}
	}
}

// testLaterKilled has processes that fail or die at each call of the store from the start on. Another process takes
// over.
func testLaterKilled(s laterTest) {
	const calls = 14
	for call := 1; call <= calls; call++ {
		for _, kind := range []spooltest.FaultKind{
			spooltest.FailBefore, spooltest.FailAfter, spooltest.CrashBefore, spooltest.CrashAfter, spooltest.Rerun,
		} {
			key := beside(spool.ThreadID(fmt.Sprintf("t%d-%d", call, kind)))
			request := wire.StartRequest{Prompt: "x", IdempotencyKey: string(key.ID), StartAt: s.at(soon)}
			p := s.process(s.talking())
			p.faulty.Plan(spooltest.Fault{Call: p.faulty.Calls() + call, On: "Store", Kind: kind})
			_, _ = p.Run(context.Background(), key, request)
			next := s.engine(s.talking())
			first, err := next.Run(context.Background(), key, request) // a client repeats a start until it is answered
			if err != nil || !first.Accepted {
				s.Fatalf("%s at call %d: %+v, %v", kind, call, first, err)
			}
			<-time.After(2 * soon)
			stop := s.work(next)
			s.until("the run", func() bool { return s.runs(key) == 1 && s.threadOf(key).State == wire.Completed })
			if runs := s.runsOf(key); runs[0].ID != first.RunID || s.waiting(next) != "" {
				s.Errorf("%s at call %d: run %s, want %s; %s waits", kind, call, runs[0].ID, first.RunID, s.waiting(next))
			}
			s.until("no job", func() bool { return s.jobs().Ready+s.jobs().Delayed+s.jobs().InFlight == 0 })
			stop()
			p.kill()
		}
	}
}
