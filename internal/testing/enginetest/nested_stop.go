package enginetest

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// hanging returns a tool that returns only when its context ends.
func hanging(running chan struct{}) spool.Tool {
	return spool.Tool{
		ToolSpec: spool.ToolSpec{Name: "hang"},
		Call: func(ctx context.Context, _ spool.ToolCall) (json.RawMessage, error) {
			running <- struct{}{}
			<-ctx.Done()
			return nil, ctx.Err()
		},
	}
}

// allCancelled reports an error unless every nested run was cancelled with the tree, and every call has
// a result.
func (s nestedTest) allCancelled(want int) {
	s.Helper()
	runs := s.nested()
	if len(runs) != want {
		s.Errorf("%d nested runs, want %d", len(runs), want)
	}
	for brief, r := range runs {
		if r.State != wire.Cancelled || r.StopReason != wire.StopCancelled || r.EndedAt.IsZero() {
			s.Errorf("%s: %+v", brief, r)
		}
	}
}

const (
	cancelled = `{"cancelled":true,"reason":"stopped"}`
	begun     = `{"cancelled":true,"outcome":"unknown","reason":"stopped"}` // the call had begun
)

// testNestedStopRunning stops a tree in which one agent streams and another runs a tool.
func testNestedStopRunning(s nestedTest) {
	running := make(chan struct{}, 1)
	m := casting(map[string][]spooltest.Turn{
		"go": {
			spooltest.Use(spawn("c1", "lead", "plan"), spawn("c2", "helper", "talk"), spooltest.Call{ID: "c3", Name: "look"}),
		},
		"plan": {spooltest.Use(spawn("c1", "helper", "work"))},
		"work": {spooltest.Use(spooltest.Call{ID: "c1", Name: "hang"}, spooltest.Call{ID: "c2", Name: "look"})},
		"talk": {{Text: []string{"half ", "way"}, Gate: make(chan struct{}), Usage: spooltest.Tokens(7, 3)}},
	})
	e := s.engine(s.treeConfig(m, plain("look", `"seen"`), hanging(running)))
	s.start(e, "r1", "go")
	client := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{})
	s.work(e)
	receive(s, running, bubbleWait, "the call of the tool")
	<-time.After(time.Second)
	began := time.Now()
	s.stop(e)
	s.ended(wire.Cancelled)
	if took := time.Since(began); took > 100*time.Millisecond {
		s.Errorf("the stop took %s", took)
	}
	<-time.After(quiet)
	s.allCancelled(3)
	s.lines("messages of the one that talked", s.of("talk"), "user talk", "assistant half way")
	s.lines("messages of the one that worked", s.of("work")[2:], "tool c1:"+begun+` c2:"seen"`)
	s.lines("messages of the one above", s.of("plan")[2:], "tool c1:"+cancelled)
	s.lines("messages of the main agent", s.of("")[2:], "tool c1:"+cancelled+" c2:"+cancelled+` c3:"seen"`)
	ends := 0
	for _, f := range client() {
		if f.Kind == wire.FrameStream && f.Item.Type == wire.ItemSubagentFinished {
			var p wire.SubagentFinished
			_ = f.Item.Decode(&p)
			if p.Status != wire.SubagentCancelled {
				s.Errorf("%+v", p)
			}
			ends++
		}
	}
	if ends != 3 {
		s.Errorf("the stream tells the end of %d nested runs", ends)
	}
}

// testNestedStopParked stops a tree that waits, with one park answered and others open.
func testNestedStopParked(s nestedTest) {
	m := casting(map[string][]spooltest.Turn{
		"go": {
			spooltest.Use(spawn("c1", "lead", "plan"), spooltest.Call{ID: "c2", Name: "send"}, spawn("c3", "helper", "side")),
		},
		"plan": {spooltest.Use(spawn("c1", "helper", "mail"))},
		"mail": {spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}, spooltest.Call{ID: "c2", Name: "send"})},
		"side": {spooltest.Say("aside")},
	})
	e := s.working(s.treeConfig(m, approved("send", `"sent"`)))
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	s.answerAs(e, "main:send", true)
	s.stop(e)
	s.ended(wire.Cancelled)
	s.lines("messages", s.of("mail")[2:], "tool c1:"+cancelled+" c2:"+cancelled)
	s.lines("messages of the one above", s.of("plan")[2:], "tool c1:"+cancelled)
	s.lines("messages of the main agent", s.of("")[2:], `tool c3:{"agentId":"ID","result":"aside"}`,
		"tool c2:"+cancelled+" c1:"+cancelled)
	for brief, want := range map[string]wire.State{
		"plan": wire.Cancelled, "mail": wire.Cancelled, "side": wire.Completed,
	} {
		if got := s.nested()[brief].State; got != want {
			s.Errorf("%s is %s", brief, got)
		}
	}
	if s.executed() != 0 || len(s.waiting()) != 0 {
		s.Errorf("%d calls, parks %v", s.executed(), s.waiting())
	}
}

// testNestedStopDead stops a tree whose worker died while a nested run's tools ran. Results that tools
// had by then are kept.
func testNestedStopDead(s nestedTest) {
	s.stopDead(func(c engine.Config) *process {
		p := s.process(c)
		s.start(p.Engine, "r1", "go")
		return p
	})
}

// testNestedStopDeadDeep does the same after a park, when only the nested run has an open step.
func testNestedStopDeadDeep(s nestedTest) {
	s.stopDead(func(c engine.Config) *process {
		p := s.process(c)
		s.start(p.Engine, "r1", "first")
		s.becomes(wire.WaitingForInput)
		s.answerAs(p.Engine, "mail:send", true)
		return p
	})
}

func (s nestedTest) stopDead(begin func(c engine.Config) *process) {
	s.Helper()
	running := make(chan struct{}, 1)
	m := casting(map[string][]spooltest.Turn{
		"go":    {spooltest.Use(spawn("c1", "helper", "work"))},
		"work":  {{Text: []string{"on it"}, Calls: []spooltest.Call{{ID: "c1", Name: "hang"}, {ID: "c2", Name: "once"}}}},
		"first": {spooltest.Use(spawn("c1", "helper", "mail"))},
		"mail": {
			spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}),
			{Text: []string{"on it"}, Calls: []spooltest.Call{{ID: "c2", Name: "hang"}, {ID: "c3", Name: "once"}}},
		},
	})
	c := s.treeConfig(m, hanging(running), plain("once", `"done"`), approved("send", `"sent"`))
	p := begin(c)
	receive(s, running, bubbleWait, "the call of the tool")
	<-time.After(time.Second)
	p.kill()
	e := s.engine(c)
	<-time.After(31 * time.Second) // its lease
	s.stop(e)
	s.work(e)
	s.ended(wire.Cancelled)
	s.allCancelled(1)
	text := strings.Join(s.tree(), "\n")
	if !strings.Contains(text, "assistant on it") || !strings.Contains(text, begun+` c`) ||
		!strings.Contains(text, `:"done"`) {
		s.Errorf("messages:\n%s", text)
	}
}

// testNestedFailedRoot fails a parked tree by a park whose expiry fails the run.
func testNestedFailedRoot(s nestedTest) {
	send := approved("send", `"sent"`)
	send.Expiry = spool.Expiry{Then: spool.ExpireFail}
	e := s.working(s.treeConfig(mailing(), plain("look", `"seen"`), send))
	s.start(e, "r1", "go")
	s.ended(wire.Failed)
	r := s.nested()["mail"]
	if r.State != wire.Failed || r.Error == "" || r.EndedAt.IsZero() {
		s.Errorf("the nested run: %+v", r)
	}
	if last := s.of(""); !strings.Contains(last[len(last)-1], `c1:{"cancelled":true,"reason":"failed"}`) {
		s.Errorf("messages: %v", last)
	}
}

// testNestedHandBack shuts a worker down during a tree, which continues in another process without
// costing an attempt.
func testNestedHandBack(s nestedTest) {
	gate := make(chan struct{})
	m := casting(map[string][]spooltest.Turn{
		"go": {spooltest.Use(spawn("c1", "helper", "talk"), spawn("c2", "helper", "other")), spooltest.Say("done")},
		"talk": {
			spooltest.Use(spooltest.Call{ID: "c1", Name: "once"}),
			{Text: []string{"long"}, Gate: gate, Usage: spooltest.Tokens(1, 1)},
		},
		"other": {spooltest.Say("short")},
	})
	c := s.treeConfig(m, plain("once", "1"))
	e := s.engine(c)
	s.start(e, "r1", "go")
	client := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{})
	stop := s.work(e)
	s.until("the second step", func() bool { return askedAs(m, "talk") == 2 })
	<-time.After(time.Second)
	stop()
	if got := s.thread().State; got != wire.Queued {
		s.Errorf("the run is %s", got)
	}
	close(gate)
	s.work(s.engine(c))
	s.ended(wire.Completed)
	<-time.After(quiet)
	client()
	if r := s.nested()["talk"]; r.State != wire.Completed || r.Attempts != 0 || s.executed() != 1 ||
		askedAs(m, "other") != 1 || askedAs(m, "go") != 2 {
		s.Errorf("%d calls, asked %d, %d: %+v", s.executed(), askedAs(m, "other"), askedAs(m, "go"), r)
	}
}

// testNestedKilled kills a worker during a tree: work that was saved at any depth is not repeated.
func testNestedKilled(s nestedTest) {
	gate := make(chan struct{})
	m := casting(map[string][]spooltest.Turn{
		"go":    {spooltest.Use(spawn("c1", "lead", "plan")), spooltest.Say("done")},
		"plan":  {spooltest.Use(spawn("c1", "helper", "talk"), spawn("c2", "helper", "other")), spooltest.Say("planned")},
		"talk":  {spooltest.Use(spooltest.Call{ID: "c1", Name: "once"}), {Text: []string{"long"}, Gate: gate}},
		"other": {spooltest.Say("short")},
	})
	c := s.treeConfig(m, plain("once", "1"))
	p := s.process(c)
	s.start(p.Engine, "r1", "go")
	client := s.watch(s.engine(c), &spooltest.Client{Name: "live", FromStart: true},
		wire.FollowOptions{Cursor: &wire.Cursor{}})
	s.until("the second step", func() bool { return askedAs(m, "talk") == 2 })
	<-time.After(time.Second)
	p.kill()
	close(gate)
	s.working(c)
	s.ended(wire.Completed)
	<-time.After(quiet)
	client()
	if s.executed() != 1 || askedAs(m, "other") != 1 || askedAs(m, "go") != 2 || askedAs(m, "plan") != 2 ||
		askedAs(m, "talk") != 3 {
		s.Errorf("%d calls, asked %d, %d, %d, %d", s.executed(), askedAs(m, "other"), askedAs(m, "go"), askedAs(m, "plan"),
			askedAs(m, "talk"))
	}
	if s.run("r1").Deaths != 0 {
		s.Errorf("the run: %+v", s.run("r1"))
	}
}

// testNestedUnknown kills a worker in a nested tool: a person is asked what became of it.
func testNestedUnknown(s nestedTest) {
	d := newDying(1)
	m := casting(map[string][]spooltest.Turn{
		"go":   {spooltest.Use(spawn("c1", "helper", "mail")), spooltest.Say("done")},
		"mail": {spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}), spooltest.Say("sent")},
	})
	c := s.treeConfig(m, d.Tool)
	p := s.process(c)
	s.start(p.Engine, "r1", "go")
	receive(s, d.called, bubbleWait, "the call of the tool")
	p.kill()
	close(d.gate)
	e := s.working(c)
	s.becomes(wire.WaitingForInput)
	if got := s.waiting()["mail:send"]; got.Reason != wire.ParkOutcomeUnknown {
		s.Errorf("the park: %+v", got)
	}
	s.answerAs(e, "mail:send", true)
	s.ended(wire.Completed)
	if n := d.calls.Load(); n != 2 || askedAs(m, "mail") != 2 {
		s.Errorf("the tool was called %d times", n)
	}
	s.lines("messages", s.of("mail")[2:], `tool c1:"sent"`, "assistant sent")
}

// midway returns a model for a tree in which one nested run is in its second step and another has
// ended.
func midway(gate chan struct{}) *spooltest.Model {
	return casting(map[string][]spooltest.Turn{
		"go": {
			{Text: []string{"main "}, Calls: []spooltest.Call{spawn("c1", "helper", "talk"), spawn("c2", "helper", "other")}},
			spooltest.Say("end"),
		},
		"talk": {
			{Text: []string{"saved"}, Calls: []spooltest.Call{{ID: "c1", Name: "look"}}},
			{Text: []string{"un", "saved"}, Gate: gate},
		},
		"other": {spooltest.Say("short")},
	})
}

// saidIn returns the text deltas of stream items by agent. The main agent is "".
func saidIn(items []wire.Item) map[spool.AgentID]string {
	said := make(map[spool.AgentID]string)
	for _, item := range items {
		var e wire.SubagentEvent
		if item.Type == wire.ItemSubagentEvent && item.Decode(&e) == nil {
			_ = json.Unmarshal(e.Event, &item)
		}
		if item.Type == wire.ItemTextContent {
			said[e.SubagentID] += deltaOf(item)
		}
	}
	return said
}

// testNestedSnapshot takes a snapshot while nested runs are at different steps: for each agent it has
// exactly the content that the messages lack.
func testNestedSnapshot(s nestedTest) {
	gate := make(chan struct{})
	m := midway(gate)
	c := s.treeConfig(m, plain("look", "1"))
	c.Stream.FlushEvery = -1
	e := s.working(c)
	s.start(e, "r1", "go")
	s.until("the second step", func() bool {
		return askedAs(m, "talk") == 2 && s.nested()["other"].State == wire.Completed
	})
	<-time.After(time.Second)
	snap, err := e.Snapshot(context.Background(), chat, nil)
	if err != nil || snap.Stream == nil {
		s.Fatalf("snapshot: %+v, %v", snap, err)
	}
	said := saidIn(snap.Stream.Items)
	if talk := s.nested()["talk"].AgentID(); said[""] != "main " || said[talk] != "unsaved" || len(said) != 2 {
		s.Errorf("the stream shows %v", said)
	}
	started, finished := 0, 0
	for _, item := range snap.Stream.Items {
		switch item.Type {
		case wire.ItemSubagentStarted:
			started++
		case wire.ItemSubagentFinished:
			finished++
		default:
		}
	}
	if started != 2 || finished != 1 || len(snap.Runs) != 3 {
		s.Errorf("%d started, %d finished, %d runs", started, finished, len(snap.Runs))
	}
	close(gate)
	s.ended(wire.Completed)
}

// testNestedFollowNow follows without a cursor, and gets of each agent only the content that the
// messages lack.
func testNestedFollowNow(s nestedTest) {
	gate := make(chan struct{})
	m := midway(gate)
	c := s.treeConfig(m, plain("look", "1"))
	c.Stream.FlushEvery = -1
	e := s.working(c)
	s.start(e, "r1", "go")
	s.until("the second step", func() bool {
		return askedAs(m, "talk") == 2 && s.nested()["other"].State == wire.Completed
	})
	<-time.After(time.Second)
	talk := s.nested()["talk"].AgentID()
	for name, o := range map[string]wire.FollowOptions{"no cursor": {}, "a seq": {Cursor: &wire.Cursor{Seq: 1}}} {
		var items []wire.Item
		for _, f := range s.collect(e, chat, o) {
			if f.Kind == wire.FrameStream {
				items = append(items, *f.Item)
			}
		}
		if said := saidIn(items); said[""] != "main " || said[talk] != "unsaved" || len(said) != 2 {
			s.Errorf("%s: the stream shows %v", name, said)
		}
	}
	close(gate)
	s.ended(wire.Completed)
}

// testNestedDelete deletes a thread with a waiting nested run.
func testNestedDelete(s nestedTest) {
	e := s.working(s.treeConfig(mailing(), plain("look", `"seen"`), approved("send", `"sent"`)))
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	if r, err := e.DeleteThread(context.Background(), chat); err != nil || !r.Accepted {
		s.Fatalf("delete: %+v, %v", r, err)
	}
	s.history.Starts, s.history.Executions = nil, nil
	s.startAs(e, chat, wire.StartRequest{Prompt: "go", RunID: "r1"})
	s.becomes(wire.WaitingForInput)
	if n := len(s.nested()); n != 1 {
		s.Errorf("%d nested runs", n)
	}
	s.stop(e)
}
