package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// awaitTest is the fixture of the cases about waiting for the end of a run.
type awaitTest struct{ *engineTest }

var awaitTests = map[string]func(s awaitTest){
	"End":         testAwaitEnd,
	"Failed":      testAwaitFailed,
	"Park":        testAwaitPark,
	"SeveralPark": testAwaitSeveralParks,
	"Expired":     testAwaitExpired,
	"Extended":    testAwaitExtended,
	"Line":        testAwaitLine,
	"LineStopped": testAwaitLineStopped,
	"Nested":      testAwaitNested,
	"Elsewhere":   testAwaitElsewhere,
	"Gone":        testAwaitGone,
	"Foreign":     testAwaitForeign,
	"GivenUp":     testAwaitGivenUp,
	"Reads":       testAwaitReads,
	"Replaced":    testAwaitReplaced,
}

// awaited is the result of a waiting caller.
type awaited struct {
	wire.RunOutcome

	err error
}

// line returns a short text about the result.
func (a awaited) line() string {
	if a.err != nil {
		return string(spool.CodeOf(a.err)) + ": " + spool.MessageOf(a.err)
	}
	line := fmt.Sprintf("%s %s %q", a.RunID, a.State, a.Text)
	if a.Position > 0 {
		line += fmt.Sprint(" at ", a.Position)
	}
	var parks strings.Builder
	for _, p := range a.Parks {
		parks.WriteString(" " + string(p.ToolCallID) + "=" + p.ToolName)
	}
	line += parks.String()
	return line
}

// await waits for a run in the background.
func (s awaitTest) await(ctx context.Context, e *engine.Engine, key spool.ThreadKey, id spool.RunID) <-chan awaited {
	got := make(chan awaited, 1)
	go func() {
		o, err := e.Await(ctx, key, id)
		got <- awaited{o, err}
	}()
	return got
}

// awaitsNow waits for a run for up to a minute.
func (s awaitTest) awaitsNow(e *engine.Engine, id spool.RunID) awaited {
	s.Helper()
	return s.gets(s.await(context.Background(), e, chat, id))
}

func (s awaitTest) gets(from <-chan awaited) awaited {
	s.Helper()
	return receive(s, from, time.Minute, "the end of the wait")
}

// stillWaits reports an error unless the caller still waits after a while.
func (s awaitTest) stillWaits(what string, from <-chan awaited) {
	s.Helper()
	select {
	case a := <-from:
		s.Errorf("%s: nobody waits any more: %s", what, a.line())
	case <-time.After(quiet):
	}
}

func testAwaitEnd(s awaitTest) {
	gate := make(chan struct{})
	m := spooltest.NewModel(spooltest.Turn{Text: []string{"hel", "lo"}, Gate: gate, Usage: spooltest.Tokens(3, 2)})
	e := s.engine(s.config(m))
	s.start(e, "r1", "go")
	early := s.await(context.Background(), e, chat, "r1")
	byRun := s.await(context.Background(), e, spool.ThreadKey{Tenant: chat.Tenant}, "r1")
	s.stillWaits("without a worker", early)
	o, err := e.Outcome(context.Background(), chat, "r1")
	s.same("queued", awaited{o, err}.line(), `r1 QUEUED ""`)
	if o.Message != nil || !o.StartedAt.IsZero() || o.Parks == nil {
		s.Errorf("of a run that nobody has begun: %+v", o)
	}
	s.work(e)
	s.stillWaits("while the model answers", early)
	close(gate)
	for _, from := range []<-chan awaited{early, byRun, s.await(context.Background(), e, chat, "r1")} {
		a := s.gets(from)
		s.same("the end", a.line(), `r1 COMPLETED "hello"`)
		run := s.run("r1")
		if a.StopReason != wire.StopCompleted || a.Message == nil || a.Message.RunID != "r1" ||
			a.Message.Role != spool.RoleAssistant ||
			a.Usage != run.TokenCount || a.Usage.TotalTokens != 5 || a.Steps != 1 || a.ThreadID != chat.ID ||
			!a.StartedAt.Equal(run.StartedAt) || !a.EndedAt.Equal(run.EndedAt) {
			s.Errorf("the end: %+v of %+v", a.RunOutcome, run)
		}
	}
	// The answer of this run does not change when later runs say something.
	s.start(e, "r2", "go on")
	s.gets(s.await(context.Background(), e, chat, "r2"))
	s.same("later", s.awaitsNow(e, "r1").line(), `r1 COMPLETED "hello"`)
}

func testAwaitFailed(s awaitTest) {
	e := s.working(s.config(spooltest.NewModel(spooltest.Turn{
		Err: &spool.Error{Code: spool.Invalid, Message: "no such model"},
	})))
	s.start(e, "r1", "go")
	a := s.awaitsNow(e, "r1")
	s.same("the end", a.line(), `r1 FAILED ""`)
	if a.StopReason != wire.StopFailed || !strings.Contains(a.Error, "no such model") {
		s.Errorf("%+v", a.RunOutcome)
	}
}

// testAwaitPark waits again after the answer, until the run has ended: an answered park does not end
// the wait.
func testAwaitPark(s awaitTest) {
	c := s.config(sending(), approved("send", `"sent"`))
	e := s.engine(c)
	s.start(e, "r1", "go")
	first := s.await(context.Background(), e, chat, "r1")
	stop := s.work(e)
	a := s.gets(first)
	s.same("parked", a.line(), `r1 WAITING_FOR_INPUT "" c1=send`)
	stop()
	s.same("parked", s.awaitsNow(e, "r1").line(), `r1 WAITING_FOR_INPUT "" c1=send`)
	asked := s.entriesOf(chat)[1]
	told, err := json.Marshal(a.Parks[0])
	if err != nil {
		s.Fatal(err)
	}
	s.same("the park", string(compare.Canonical(told)), string(compare.Canonical(asked.Payload)))
	s.answer(e, "c1", true, "")
	answered := s.await(context.Background(), e, chat, "r1")
	s.stillWaits("once it is answered", answered)
	s.work(e)
	s.same("the end", s.gets(answered).line(), `r1 COMPLETED "done"`)
}

// testAwaitSeveralParks has a run that continues only when all parks are answered.
func testAwaitSeveralParks(s awaitTest) {
	m := spooltest.NewModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}, spooltest.Call{ID: "c2", Name: "send"}),
		spooltest.Say("done"))
	e := s.working(s.config(m, approved("send", `"sent"`)))
	s.start(e, "r1", "go")
	s.same("both", s.awaitsNow(e, "r1").line(), `r1 WAITING_FOR_INPUT "" c1=send c2=send`)
	s.answer(e, "c1", true, "")
	s.same("one", s.awaitsNow(e, "r1").line(), `r1 WAITING_FOR_INPUT "" c2=send`)
	s.answer(e, "c2", true, "")
	s.same("none", s.awaitsNow(e, "r1").line(), `r1 COMPLETED "done"`)
}

// testAwaitExpired begins to wait when the time to answer has passed and no worker has noticed yet.
func testAwaitExpired(s awaitTest) {
	e := s.engine(s.config(sending(), approved("send", "1")))
	s.start(e, "r1", "go")
	stop := s.work(e)
	s.becomes(wire.WaitingForInput)
	stop()
	<-time.After(16 * time.Minute)
	late := s.await(context.Background(), e, chat, "r1")
	s.stillWaits("without a worker", late)
	s.work(e)
	s.same("the end", s.gets(late).line(), `r1 COMPLETED "done"`)
}

// testAwaitExtended has a park that gets more time instead of expiring.
func testAwaitExtended(s awaitTest) {
	e := s.engine(
		s.config(sending(), expiring(spool.Expiry{TTL: 10 * time.Minute, Then: spool.ExpireExtend, Extensions: 1})),
	)
	s.start(e, "r1", "go")
	stop := s.work(e)
	s.becomes(wire.WaitingForInput)
	stop()
	<-time.After(11 * time.Minute)
	late := s.await(context.Background(), e, chat, "r1")
	s.stillWaits("without a worker", late)
	s.work(e)
	s.same("extended", s.gets(late).line(), `r1 WAITING_FOR_INPUT "" c1=send`)
	s.answer(e, "c1", true, "")
	s.same("the end", s.awaitsNow(e, "r1").line(), `r1 COMPLETED "done"`)
}

// testAwaitLine waits for runs that wait for their thread.
func testAwaitLine(s awaitTest) {
	gate := make(chan struct{})
	e := s.working(s.config(gated(gate)))
	s.start(e, "r1", "one!")
	s.becomes(wire.Running)
	waitTest(s).busy(e, "r2", spool.BusyEnqueue)
	waitTest(s).busy(e, "r3", spool.BusyEnqueue)
	o, err := e.Outcome(context.Background(), chat, "r3")
	s.same("in line", awaited{o, err}.line(), `r3 QUEUED "" at 2`)
	third := s.await(context.Background(), e, chat, "r3")
	second := s.await(context.Background(), e, chat, "r2")
	first := s.await(context.Background(), e, chat, "r1")
	s.stillWaits("while the first runs", third)
	close(gate)
	s.same("first", s.gets(first).line(), `r1 COMPLETED "re: one!"`)
	s.same("second", s.gets(second).line(), `r2 COMPLETED "re: r2"`)
	s.same("third", s.gets(third).line(), `r3 COMPLETED "re: r3"`)
}

// testAwaitLineStopped stops a run that never had the thread, and one that has it.
func testAwaitLineStopped(s awaitTest) {
	gate := make(chan struct{})
	defer close(gate)
	e := s.working(s.config(gated(gate)))
	s.start(e, "r1", "one!")
	s.becomes(wire.Running)
	waitTest(s).busy(e, "r2", spool.BusyEnqueue)
	second := s.await(context.Background(), e, chat, "r2")
	first := s.await(context.Background(), e, chat, "r1")
	s.stillWaits("while the first runs", second)
	if r, err := e.StopRun(context.Background(), chat, "r2"); err != nil || !r.Accepted {
		s.Fatal(r, err)
	}
	s.same("second", s.gets(second).line(), `r2 CANCELLED ""`)
	s.stillWaits("when the other one was stopped", first)
	s.stop(e)
	if a := s.gets(first); a.State != wire.Cancelled {
		s.Errorf("first: %s", a.line())
	}
}

// testAwaitNested waits for a nested run, which ends before its parent.
func testAwaitNested(s awaitTest) {
	gate := make(chan struct{})
	m := casting(map[string][]spooltest.Turn{
		"go":   {spooltest.Use(spawn("c1", "helper", "mail")), {Text: []string{"done"}, Gate: gate}},
		"mail": {spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}), spooltest.Say("sent")},
	})
	e := s.working(nestedTest(s).treeConfig(m, approved("send", `"sent"`)))
	s.start(e, "r1", "go")
	top := s.awaitsNow(e, "r1")
	nested := nestedTest(s).nested()["mail"].ID
	if len(top.Parks) != 1 || top.Parks[0].Nested == nil || top.Parks[0].Nested.AgentID != spool.AgentID(nested) {
		s.Errorf("the dispatched run waits with %+v", top.Parks)
	}
	s.same("the nested run waits with its own", len(s.awaitsNow(e, nested).Parks), 1)
	nestedTest(s).answerAs(e, "mail:send", true)
	below := s.awaitsNow(e, nested)
	if below.State != wire.Completed || below.Text != "sent" || s.run("r1").State.Terminal() {
		s.Errorf("below: %s, above %s", below.line(), s.run("r1").State)
	}
	close(gate)
	s.same("above", s.awaitsNow(e, "r1").line(), `r1 COMPLETED "done"`)
}

// testAwaitElsewhere waits in a process without a worker.
func testAwaitElsewhere(s awaitTest) {
	c := s.config(sending(), approved("send", `"sent"`))
	api := s.engine(c)
	s.start(api, "r1", "go")
	first := s.await(context.Background(), api, chat, "r1")
	s.process(c)
	s.same("parked", s.gets(first).line(), `r1 WAITING_FOR_INPUT "" c1=send`)
	s.answer(api, "c1", false, "")
	s.same("the end", s.awaitsNow(api, "r1").line(), `r1 COMPLETED "done"`)
}

func testAwaitGone(s awaitTest) {
	e := s.engine(s.config(spooltest.NewModel(spooltest.Say("hi"))))
	for name, key := range map[string]spool.ThreadKey{
		"no run": {Tenant: "acme"}, "no thread": chat, "another tenant": {Tenant: "other"},
	} {
		o, err := e.Await(context.Background(), key, "r1")
		s.same(name, awaited{o, err}.line(), "not_found: Run not found")
		o, err = e.Outcome(context.Background(), key, "r1")
		s.same(name, awaited{o, err}.line(), "not_found: Run not found")
	}
	o, err := e.Await(context.Background(), chat, "no id")
	if spool.CodeOf(err) != spool.Invalid || !strings.Contains(spool.MessageOf(err), "runId") {
		s.Errorf("a malformed id: %+v, %v", o, err)
	}
	s.start(e, "r1", "go")
	waits := s.await(context.Background(), e, chat, "r1")
	s.stillWaits("without a worker", waits)
	s.stop(e)
	s.same("stopped", s.gets(waits).line(), `r1 CANCELLED ""`)

	s.startAs(e, of("acme", "other"), wire.StartRequest{Prompt: "go", RunID: "r2"})
	waits = s.await(context.Background(), e, of("acme", "other"), "r2")
	s.stillWaits("without a worker", waits)
	// A park is deleted together with its thread, so no caller sees the run end before.
	err = s.backend.Store.Update(context.Background(), of("acme", "other"), 0,
		func(tx store.Tx) error { return tx.Write(store.Changes{DeleteThread: true}) })
	if err != nil {
		s.Fatal(err)
	}
	s.backend.Live.Wake(of("acme", "other"), store.WakeDeleted, nil)
	s.same("deleted", s.gets(waits).line(), "not_found: Run not found")
	s.keys = s.keys[:1]
}

// testAwaitForeign waits as a subject that may see only its own threads.
func testAwaitForeign(s awaitTest) {
	e := s.working(s.config(spooltest.NewModel(spooltest.Say("hi"))))
	s.startAs(e, chat, wire.StartRequest{Prompt: "go", RunID: "r1", By: "ann"})
	for who, want := range map[string]string{"ann": `r1 COMPLETED "hi"`, "ben": "not_found: Run not found"} {
		ctx := engine.WithActor(context.Background(), wire.Actor{Subject: who, OwnOnly: true})
		for _, key := range []spool.ThreadKey{chat, {Tenant: chat.Tenant}} {
			s.same(who, s.gets(s.await(ctx, e, key, "r1")).line(), want)
		}
	}
}

// testAwaitGivenUp cancels waits. The run continues.
func testAwaitGivenUp(s awaitTest) {
	gate := make(chan struct{})
	e := s.working(s.config(spooltest.NewModel(spooltest.Turn{Text: []string{"hi"}, Gate: gate})))
	s.start(e, "r1", "go")
	ctx, cancel := context.WithCancel(context.Background())
	gone := s.await(ctx, e, chat, "r1")
	s.stillWaits("while the model answers", gone)
	cancel()
	if a := s.gets(gone); !errors.Is(a.err, context.Canceled) {
		s.Errorf("who has given up got %s", a.line())
	}
	api := s.engine(s.config(spooltest.NewModel()))
	closed := s.await(context.Background(), api, chat, "r1")
	s.stillWaits("while the model answers", closed)
	api.Close()
	s.same("closed", s.gets(closed).line(), "unavailable: the engine is closed")
	close(gate)
	s.ended(wire.Completed)
}

// countedStore counts how often a thread is read.
type countedStore struct {
	store.Store

	views atomic.Int64
}

// View implements [store.Store].
func (c *countedStore) View(ctx context.Context, key spool.ThreadKey, fn func(v store.View) error) error {
	c.views.Add(1)
	return c.Store.View(ctx, key, fn)
}

// testAwaitReads has fifty callers that wait for ten minutes while the run talks. Together they read
// the thread no more often than one caller.
func testAwaitReads(s awaitTest) {
	gate := make(chan struct{})
	worker := s.engine(s.config(spooltest.NewModel(spooltest.Turn{Text: []string{"hi"}, Gate: gate})))
	s.start(worker, "r1", "go")
	s.work(worker)
	s.becomes(wire.Running)
	b := s.join()
	counted := &countedStore{Store: b.Store}
	b.Store = counted
	e := s.over(b, s.config(spooltest.NewModel()))
	reads := func(waiting int) int64 {
		s.Helper()
		ctx, cancel := context.WithCancel(context.Background())
		all := make([]<-chan awaited, waiting)
		for i := range all {
			all[i] = s.await(ctx, e, chat, "r1")
		}
		<-time.After(quiet)
		before := counted.views.Load()
		for range 100 {
			publishTest(s).publish(worker, "tick", "1", wire.PublishOptions{})
			<-time.After(6 * time.Second)
		}
		n := counted.views.Load() - before
		cancel()
		for _, from := range all {
			s.gets(from)
		}
		return n
	}
	if one, fifty := reads(1), reads(50); fifty > one+2 {
		s.Errorf("one who waits reads %d times, fifty %d times", one, fifty)
	}
	close(gate)
	s.ended(wire.Completed)
}

// testAwaitReplaced waits for a run whose turn was edited meanwhile.
func testAwaitReplaced(s awaitTest) {
	e := s.working(s.config(spooltest.NewModel(spooltest.Say("first"), spooltest.Say("second"))))
	s.start(e, "r1", "go")
	s.same("before", s.awaitsNow(e, "r1").line(), `r1 COMPLETED "first"`)
	branchTest(s).edited(e, 0, "again")
	a := s.awaitsNow(e, "r1")
	s.same("replaced", a.line(), `r1 COMPLETED ""`)
	if a.Message != nil {
		s.Errorf("a message that is in a branch: %+v", a.Message)
	}
}
