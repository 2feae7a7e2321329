package enginetest

import (
	"context"
	"encoding/json"
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

var mixedTests = map[string]func(s nestedTest){
	"TimeEnds":      testMixedTimeEnds,
	"TimeParks":     testMixedTimeParks,
	"TimeGone":      testMixedTimeGone,
	"BudgetFirst":   testMixedBudgetFirst,
	"BudgetLast":    testMixedBudgetLast,
	"BudgetDenied":  testMixedBudgetDenied,
	"BudgetExpired": testMixedBudgetExpired,
	"AnswerAll":     testMixedAnswerAll,
	"ManyParks":     testMixedManyParks,
	"Twins":         testMixedTwins,
	"TakenID":       testMixedTakenID,
	"CursorWalk":    testMixedCursorWalk,
	"SnapshotWalk":  testMixedSnapshotWalk,
	"RaceStop":      testMixedRaceStop,
	"Elsewhere":     testMixedElsewhere,
}

// subagents returns how often a stream has announced the beginning and the end of each nested run.
func subagents(frames []wire.Frame) (started, finished map[spool.AgentID]int) {
	started, finished = make(map[spool.AgentID]int), make(map[spool.AgentID]int)
	for _, f := range frames {
		if f.Kind != wire.FrameStream {
			continue
		}
		var p struct{ SubagentID spool.AgentID }
		switch _ = f.Item.Decode(&p); f.Item.Type {
		case wire.ItemSubagentStarted:
			started[p.SubagentID]++
		case wire.ItemSubagentFinished:
			finished[p.SubagentID]++
		default:
		}
	}
	return started, finished
}

// late returns a configuration for a tree whose time is used up while one nested run streams and
// another is in a tool.
func (s nestedTest) late() engine.Config {
	gate := make(chan struct{})
	time.AfterFunc(15*time.Second, func() { close(gate) })
	slow := plain("slow", `"slow"`)
	slow.Idempotent = true
	slow.Call = func(ctx context.Context, _ spool.ToolCall) (json.RawMessage, error) {
		select {
		case <-gate:
			return json.RawMessage(`"slow"`), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	m := casting(map[string][]spooltest.Turn{
		"go":   {spooltest.Use(spawn("c1", "lead", "plan"), spawn("c2", "helper", "work")), spooltest.Say("done")},
		"plan": {spooltest.Use(spawn("c1", "helper", "talk")), spooltest.Say("planned")},
		"talk": {
			{Text: []string{"so ", "far"}, Gate: gate, Usage: spooltest.Tokens(3, 4)},
			{Text: []string{"and on"}, Usage: spooltest.Tokens(3, 4)},
		},
		"work": {
			spooltest.Use(spooltest.Call{ID: "c1", Name: "slow"}, spooltest.Call{ID: "c2", Name: "look"}),
			spooltest.Say("worked"),
		},
	})
	c := s.treeConfig(m, slow, plain("look", `"seen"`))
	c.Budget.Default = spool.Budget{WallTime: 10 * time.Second}
	return c
}

// testMixedTimeEnds lets the time of a tree be used up below its main agent. The output is kept, and
// the end of every nested run is announced.
func testMixedTimeEnds(s nestedTest) {
	e := s.engine(s.late())
	s.start(e, "r1", "go")
	client := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{})
	s.work(e)
	s.ended(wire.Completed)
	<-time.After(quiet)
	if r := s.run("r1"); r.StopReason != wire.StopTimeBudget {
		s.Errorf("the run ended by %s", r.StopReason)
	}
	started, finished := subagents(client())
	for brief, run := range s.nested() {
		if !run.State.Terminal() || run.StopReason != wire.StopTimeBudget {
			s.Errorf("%s is %s by %s", brief, run.State, run.StopReason)
		}
		if started[run.AgentID()] != 1 || finished[run.AgentID()] != 1 {
			s.Errorf("%s was told to begin %d times, and to end %d times", brief, started[run.AgentID()],
				finished[run.AgentID()])
		}
	}
	s.lines("what was said", s.of("talk"), "user talk", "assistant so far")
	s.lines("what was done", s.of("work"), "user work", "assistant c1=slow{} c2=look{}",
		`tool c1:{"cancelled":true,"outcome":"unknown","reason":"time_budget"} c2:"seen"`)
	budgetTest(s).wellFormed()
}

// testMixedTimeParks lets a person give such a tree more time. The tree then continues where it was.
func testMixedTimeParks(s nestedTest) {
	c := s.late()
	c.Budget.OnBudget = spool.BudgetPark
	e := s.working(c)
	s.start(e, "r1", "go")
	park := budgetTest(s).budgetPark()
	for brief, run := range s.nested() {
		if run.State != wire.WaitingForInput {
			s.Errorf("%s is %s by %s", brief, run.State, run.StopReason)
		}
	}
	s.answer(e, park.ToolCallID, true, `{"wallTimeMs":600000}`)
	s.ended(wire.Completed)
	for brief, run := range s.nested() {
		if run.StopReason != wire.StopCompleted {
			s.Errorf("%s is %s by %s", brief, run.State, run.StopReason)
		}
	}
	s.lines("what was said", s.of("talk"), "user talk", "assistant so far", "assistant and on")
	s.lines("messages", s.of("")[2:], `tool c1:{"agentId":"ID","result":"planned"} c2:{"agentId":"ID","result":"worked"}`,
		"assistant done")
	budgetTest(s).wellFormed()
}

// testMixedTimeGone leaves no time for a nested run to continue after its answer, for example because a
// worker died then. The run waits for more time, and for no other answer.
func testMixedTimeGone(s nestedTest) {
	m := casting(map[string][]spooltest.Turn{
		"go":   {spooltest.Use(spawn("c1", "helper", "mail")), spooltest.Say("done")},
		"mail": {spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}), spooltest.Say("sent")},
	})
	c := s.treeConfig(m, approved("send", `"sent"`))
	c.Budget.Default, c.Budget.OnBudget = spool.Budget{WallTime: time.Minute}, spool.BudgetPark
	e := s.engine(c)
	stop := s.work(e)
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	stop()
	s.answer(e, s.waiting()["mail:send"].ToolCallID, true, "")
	err := s.backend.Store.Update(context.Background(), chat, 0, func(tx store.Tx) error {
		run, err := store.FindRun(tx, "r1")
		if err != nil {
			return err
		}
		run.Allowance.Spent.WallTime = time.Minute
		return tx.Write(store.Changes{Runs: []store.RunRow{run}})
	})
	if err != nil {
		s.Fatal(err)
	}
	s.work(e)
	s.until("the question", func() bool { return s.run("r1").Allowance.Parks > 0 })
	park := budgetTest(s).budgetPark()
	if s.executed() != 0 {
		s.Error("a tool ran without time")
	}
	s.answer(e, park.ToolCallID, true, `{"wallTimeMs":600000}`)
	s.ended(wire.Completed)
	if s.executed() != 1 || askedAs(m, "mail") != 2 || askedAs(m, "go") != 2 {
		s.Errorf("%d calls, asked %d and %d times", s.executed(), askedAs(m, "mail"), askedAs(m, "go"))
	}
	budgetTest(s).wellFormed()
}

// later returns a function that delays an answer.
func later(d time.Duration) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// short returns a configuration for a tree in which, at two depths, one run waits for a person and
// another for a larger budget.
func (s nestedTest) short() engine.Config {
	m := casting(map[string][]spooltest.Turn{
		"go":   {spooltest.Use(spawn("c1", "lead", "plan"), spawn("c2", "helper", "look")), spooltest.Say("done")},
		"plan": {spooltest.Use(spawn("c1", "helper", "mail")), spooltest.Say("planned")},
		"mail": {spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}), spooltest.Say("sent")},
		"look": {
			{
				Before: later(time.Second),
				Calls:  []spooltest.Call{{ID: "c1", Name: "look"}, {ID: "c2", Name: "look"}, {ID: "c3", Name: "look"}},
			},
			spooltest.Say("looked"),
		},
	})
	c := s.treeConfig(m, approved("send", `"sent"`), plain("look", `"seen"`))
	c.Budget.Default, c.Budget.OnBudget = spool.Budget{ToolCalls: 5}, spool.BudgetPark
	return c
}

// shortParks waits for the two parks of such a tree.
func (s nestedTest) shortParks() (send, budget spool.ToolCallID) {
	s.Helper()
	budget = budgetTest(s).budgetPark().ToolCallID
	park, ok := s.waiting()["mail:send"]
	if !ok {
		s.Fatalf("parks: %v", s.waiting())
	}
	return park.ToolCallID, budget
}

// testMixedBudgetFirst raises the budget before the call is approved.
func testMixedBudgetFirst(s nestedTest) { s.raised(true) }

// testMixedBudgetLast approves the call before the budget is raised.
func testMixedBudgetLast(s nestedTest) { s.raised(false) }

func (s nestedTest) raised(first bool) {
	s.Helper()
	e := s.working(s.short())
	s.start(e, "r1", "go")
	send, budget := s.shortParks()
	for _, raise := range []bool{first, !first} {
		if got := s.thread().State; got != wire.WaitingForInput {
			s.Fatalf("the run is %s", got)
		}
		if raise {
			s.answer(e, budget, true, `{"toolCallBudget":50}`)
		} else {
			s.answer(e, send, true, "")
		}
	}
	s.ended(wire.Completed)
	if r := s.run("r1"); r.StopReason != wire.StopCompleted {
		s.Errorf("the run ended by %s", r.StopReason)
	}
	s.lines("messages of the one that waited", s.of("mail")[2:], `tool c1:"sent"`, "assistant sent")
	budgetTest(s).wellFormed()
}

// testMixedBudgetDenied approves the call and denies the budget. The call does not run, and its result
// says why.
func testMixedBudgetDenied(s nestedTest) {
	e := s.working(s.short())
	s.start(e, "r1", "go")
	send, budget := s.shortParks()
	s.answer(e, send, true, "")
	s.answer(e, budget, false, "")
	s.overBudget()
}

// testMixedBudgetExpired answers neither of the two parks.
func testMixedBudgetExpired(s nestedTest) {
	e := s.working(s.short())
	s.start(e, "r1", "go")
	s.shortParks()
	s.ended(wire.Completed)
	s.overBudget()
}

// testMixedAnswerAll answers both parks at once. If one answer is wrong, none is delivered.
func testMixedAnswerAll(s nestedTest) {
	e := s.working(s.short())
	s.start(e, "r1", "go")
	send, budget := s.shortParks()
	before := s.all(chat, "r1")
	all := []wire.Response{
		{ToolCallID: send, Approved: true, By: "ann"},
		{ToolCallID: "nobody", Approved: true, By: "ann"},
		{ToolCallID: budget, Approved: true, Payload: json.RawMessage(`{"toolCallBudget":1}`), By: "ann"},
	}
	if got, err := e.RespondAll(context.Background(), chat, all); spool.CodeOf(err) != spool.Invalid || got != nil {
		s.Errorf("a wrong answer among them: %+v, %v", got, err)
	}
	s.same("after a wrong answer", s.all(chat, "r1"), before)
	if got, err := e.RespondAll(context.Background(), chat, all[1:2]); err != nil || got[0].Reason != wire.ReasonNoPark {
		s.Errorf("an answer to nothing: %+v, %v", got, err)
	}
	s.same("after an answer to nothing", s.all(chat, "r1"), before)
	all[2].Payload = json.RawMessage(`{"toolCallBudget":50}`)
	got, err := e.RespondAll(context.Background(), chat, all)
	if err != nil || len(got) != 3 || !got[0].Delivered || got[1].Reason != wire.ReasonNoPark || !got[2].Delivered {
		s.Fatalf("all answers: %+v, %v", got, err)
	}
	for i, r := range all {
		s.history.Answered(spooltest.Answered{Thread: chat, Call: r.ToolCallID, Delivered: got[i].Delivered})
	}
	s.ended(wire.Completed)
	s.lines("messages of the one that waited", s.of("mail")[2:], `tool c1:"sent"`, "assistant sent")
}

// overBudget waits for the end of a tree that got no larger budget.
func (s nestedTest) overBudget() {
	s.Helper()
	s.ended(wire.Completed)
	if r := s.run("r1"); r.StopReason != wire.StopToolCallBudget {
		s.Errorf("the run ended by %s", r.StopReason)
	}
	for brief, run := range s.nested() {
		if run.State != wire.Cancelled {
			s.Errorf("%s is %s by %s", brief, run.State, run.StopReason)
		}
	}
	if text := strings.Join(s.tree(), "\n"); strings.Contains(text, `"reason":"failed"`) ||
		strings.Contains(text, `:"sent"`) {
		s.Errorf("messages:\n%s", text)
	}
	budgetTest(s).wellFormed()
}

// testMixedManyParks has thirty nested runs that wait at once, while only three may be active.
func testMixedManyParks(s nestedTest) {
	const many = 30
	script := map[string][]spooltest.Turn{"go": {{}, spooltest.Say("done")}}
	for i := range many {
		brief := fmt.Sprintf("b%d", i)
		script["go"][0].Calls = append(script["go"][0].Calls, spawn(spool.ToolCallID(fmt.Sprintf("c%d", i)), "helper", brief))
		script[brief] = []spooltest.Turn{
			{Usage: spooltest.Tokens(2, 1), Calls: []spooltest.Call{{ID: "c1", Name: "send"}}},
			{Text: []string{brief}, Usage: spooltest.Tokens(2, 1)},
		}
	}
	e := s.working(s.treeConfig(casting(script), approved("send", `"sent"`)))
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	parks := s.waiting()
	if len(parks) != many {
		s.Fatalf("%d parks", len(parks))
	}
	var group sync.WaitGroup
	for _, p := range parks {
		for range 2 {
			group.Go(func() { _, _ = s.respond(e, p.ToolCallID, true, "") })
		}
	}
	group.Wait()
	s.ended(wire.Completed)
	if s.executed() != many || s.run("r1").TotalTokens != 6*many {
		s.Errorf("%d calls, %d tokens", s.executed(), s.run("r1").TotalTokens)
	}
	budgetTest(s).wellFormed()
}

// testMixedTwins has two nested runs with the same profile and brief, which both wait.
func testMixedTwins(s nestedTest) {
	m := casting(map[string][]spooltest.Turn{
		"go": {spooltest.Use(spawn("c1", "helper", "mail"), spawn("c1", "helper", "mail")), spooltest.Say("done")},
		"mail": {
			spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}, spooltest.Call{ID: "c1", Name: "send"}), spooltest.Say("sent"),
		},
	})
	e := s.working(s.treeConfig(m, approved("send", `"sent"`)))
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	n := 0
	for _, p := range s.parksOf(chat, "r1") {
		n++
		s.answer(e, p.ToolCallID, true, "")
	}
	s.ended(wire.Completed)
	if n != 4 || s.executed() != 4 {
		s.Errorf("%d parks, %d calls", n, s.executed())
	}
	budgetTest(s).wellFormed()
}

// testMixedTakenID has a caller that chooses the id that a nested run would get, for a run of the same
// thread. The nested run then fails, and its result does not contain the other run's answer.
func testMixedTakenID(s nestedTest) {
	m := casting(map[string][]spooltest.Turn{
		"go":    {spooltest.Use(spawn("c1", "helper", "find")), spooltest.Say("done")},
		"find":  {spooltest.Say("found")},
		"other": {spooltest.Say("secret")},
	})
	e := s.working(s.treeConfig(m))
	s.startAs(e, spool.ThreadKey{Tenant: "elsewhere", ID: "chat"}, wire.StartRequest{Prompt: "go", RunID: "r1"})
	var id spool.RunID
	s.until("a nested run", func() bool {
		for _, r := range s.runsOf(spool.ThreadKey{Tenant: "elsewhere", ID: "chat"}) {
			if r.Depth > 0 {
				id = r.ID
			}
		}
		return id != ""
	})
	s.start(e, id, "other")
	s.ended(wire.Completed)
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	text := strings.Join(s.script(), "\n")
	if strings.Contains(text, `"result":"secret"`) || !strings.Contains(text, `c1:"error: `) {
		s.Errorf("messages:\n%s", text)
	}
}

// deep returns a configuration for a tree of three levels, whose last level waits in the middle.
func (s nestedTest) deep(gate chan struct{}) engine.Config {
	script := map[string][]spooltest.Turn{
		"go": {
			{
				Text:  []string{"one ", "two"},
				Calls: []spooltest.Call{spawn("c1", "lead", "above"), spawn("c2", "helper", "side")},
			},
			spooltest.Say("the ", "end"),
		},
		"above": {
			{Text: []string{"up ", "here"}, Calls: []spooltest.Call{spawn("c1", "lead", "middle")}},
			spooltest.Say("up ", "done"),
		},
		"middle": {
			{
				Reasoning: []string{"hm ", "hm"},
				Text:      []string{"mid"},
				Calls:     []spooltest.Call{spawn("c1", "helper", "below"), {ID: "c2", Name: "look"}},
			}, spooltest.Say("mid ", "done"),
		},
		"below": {
			{Text: []string{"down"}, Calls: []spooltest.Call{{ID: "c1", Name: "look"}}},
			{Text: []string{"gated ", "text"}, Gate: gate},
		},
		"side": {
			{Text: []string{"aside ", "aside"}, Calls: []spooltest.Call{{ID: "c1", Name: "look"}}},
			spooltest.Say("side ", "done"),
		},
	}
	for brief, turns := range script {
		for i := range turns {
			turns[i].Before = later(time.Duration(len(brief)+i) * time.Millisecond)
		}
	}
	c := s.treeConfig(casting(script), plain("look", `"seen"`))
	c.Agents[0].Spawn.MaxDepth = 3
	c.Stream.FlushEvery = -1
	return c
}

// testMixedCursorWalk reconnects at every position in the stream of a deep tree: the frames after a
// position must always be the same.
func testMixedCursorWalk(s nestedTest) {
	gate := make(chan struct{})
	close(gate)
	e := s.engine(s.deep(gate))
	s.start(e, "r1", "go")
	client := &spooltest.Client{Name: "live", FromStart: true}
	stop := s.watch(e, client, wire.FollowOptions{})
	s.work(e)
	s.ended(wire.Completed)
	<-time.After(quiet)
	frames := stop()
	lines := func(frames []wire.Frame) (lines []string) {
		for _, f := range frames {
			if f.Cursor != nil {
				lines = append(lines, frameLine(f))
			}
		}
		return lines
	}
	for i, f := range frames {
		if f.Cursor == nil {
			continue
		}
		s.lines("after "+frameLine(f), lines(s.collect(e, chat, wire.FollowOptions{Cursor: f.Cursor})),
			lines(frames[i+1:])...)
	}
	started, finished := subagents(frames)
	if len(s.nested()) != 4 || len(started) != 4 || len(finished) != 4 {
		s.Errorf("%d nested runs, %v, %v", len(s.nested()), started, finished)
	}
}

// testMixedSnapshotWalk takes a snapshot each time the stream of a deep tree has moved: with the
// messages and the frames after it, everything must appear exactly once.
func testMixedSnapshotWalk(s nestedTest) {
	gate := make(chan struct{})
	e := s.engine(s.deep(gate))
	s.start(e, "r1", "go")
	type taken struct {
		snap   *wire.Snapshot
		frames []wire.Frame
	}
	var all []*taken
	var group sync.WaitGroup
	take := func() {
		snap, err := e.Snapshot(context.Background(), chat, nil)
		if err != nil {
			s.Fatal(err)
		}
		at := &wire.Cursor{Seq: max(snap.LastEventSeq, 0)}
		if snap.Stream != nil {
			at.Stream = snap.Stream.StreamID
			if snap.Stream.Offset != nil {
				at.Offset = *snap.Stream.Offset
			}
		}
		t := &taken{snap: snap}
		all = append(all, t)
		group.Go(func() { t.frames = s.collect(e, chat, wire.FollowOptions{Cursor: at}) })
	}
	moved := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{})
	s.work(e)
	for range 40 {
		take()
		<-time.After(time.Millisecond)
	}
	close(gate)
	s.ended(wire.Completed)
	group.Wait()
	moved()
	want := map[spool.AgentID]string{}
	for _, m := range s.messagesOf(chat) {
		if m.Role == spool.RoleAssistant {
			want[m.AgentID] += m.Text()
		}
	}
	for i, t := range all {
		got := map[spool.AgentID]string{}
		for _, m := range t.snap.Messages {
			if m.Role == spool.RoleAssistant {
				got[m.AgentID] += m.Text()
			}
		}
		var items []wire.Item
		if t.snap.Stream != nil {
			items = t.snap.Stream.Items
		}
		for _, f := range t.frames {
			if f.Kind == wire.FrameStream {
				items = append(items, *f.Item)
			}
		}
		for who, text := range saidIn(items) {
			got[who] += text
		}
		s.same(fmt.Sprintf("what snapshot %d and what comes after it say", i), got, want)
	}
}

// testMixedRaceStop answers parks at two depths while the run is stopped.
func testMixedRaceStop(s nestedTest) {
	m := casting(map[string][]spooltest.Turn{
		"go": {
			spooltest.Use(spawn("c1", "lead", "plan"), spawn("c2", "helper", "mail2"), spooltest.Call{ID: "c3", Name: "send"}),
			spooltest.Say("done"),
		},
		"plan":  {spooltest.Use(spawn("c1", "helper", "mail")), spooltest.Say("planned")},
		"mail":  {spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}), spooltest.Say("sent")},
		"mail2": {spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}), spooltest.Say("sent")},
	})
	e := s.working(s.treeConfig(m, approved("send", `"sent"`)))
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	var group sync.WaitGroup
	for _, p := range s.waiting() {
		group.Go(func() { _, _ = s.respond(e, p.ToolCallID, true, "") })
	}
	group.Go(func() {
		if r, err := e.Stop(context.Background(), chat); err == nil && r.Accepted {
			s.history.Stopped(chat)
		}
	})
	group.Wait()
	s.until("the end", func() bool { return s.thread().State.Terminal() })
	budgetTest(s).wellFormed()
}

// shortScript runs a tree that waits for a person, and for a larger budget of time and of calls. The
// first process has faults; if it crashes, a second one continues. shortScript returns how many calls
// the first process made.
func shortScript(t *engineTest, own bool, faults ...spooltest.Fault) int {
	s := nestedTest{t}
	config := s.short()
	config.Budget.Default.WallTime = 900 * time.Millisecond
	c := newCampaign(s.engineTest, config, 1, own)
	first, stop := c.survive(faults, []string{"a"}, func(n *node) {
		c.answerAll(n.Engine, func(p store.Park) wire.Response {
			r := wire.Response{Approved: true, Digest: p.Digest}
			if p.Reason == wire.ParkBudget {
				r.Payload = json.RawMessage(`{"toolCallBudget":50,"wallTimeMs":3600000}`)
			}
			return r
		})
	})
	calls := first.faulty.Calls()
	if r := s.run("r1"); r.State != wire.Completed || r.StopReason != wire.StopCompleted {
		s.Errorf("the run: %+v, %+v", r, r.Allowance)
	}
	budgetTest(s).wellFormed()
	c.finish(stop)
	return calls
}
