package enginetest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// transferTest is the fixture of the cases about runs that hand their thread to another agent.
type transferTest struct{ *engineTest }

var transferTests = map[string]func(s transferTest){
	"All":       testTransferAll,
	"Brief":     testTransferBrief,
	"Next":      testTransferNext,
	"Edited":    testTransferEdited,
	"Endless":   testTransferEndless,
	"Refused":   testTransferRefused,
	"Permitted": testTransferPermitted,
	"Parked":    testTransferParked,
	"Queue":     testTransferQueue,
	"Stopped":   testTransferStopped,
	"Steered":   testTransferSteered,
	"Given":     testTransferGiven,
	"Nested":    testTransferNested,
	"Pinned":    testTransferPinned,
	"Redriven":  testTransferRedriven,
	"Rejected":  testTransferRejected,
}

// configOf returns a configuration whose agent a, with the model m, can hand threads to b, with the model n.
func (s transferTest) configOf(m, n spool.Model, history spool.TransferHistory) engine.Config {
	c := s.config(m, plain("look", `"seen"`))
	c.Models["n"] = n
	c.Agents[0].Instructions = "I am a."
	c.Agents[0].Transfers = map[string]spool.Transfer{"b": {Description: "Knows b.", History: history}}
	c.Agents = append(c.Agents, spool.Agent{
		Name: "b", Model: "n", Instructions: "I am b.", Tools: []spool.Tool{s.history.Tool(plain("find", `"found"`))},
	})
	return c
}

// hand returns a call that hands the thread over.
func hand(id spool.ToolCallID, agent, brief string) spooltest.Call {
	return spooltest.Call{ID: id, Name: spool.TransferTool, Args: fmt.Sprintf(`{"agent":%q,"brief":%q}`, agent, brief)}
}

// handovers checks the thread's changes of agents: "step from>to history".
func (s transferTest) handovers(want ...string) {
	s.Helper()
	var all []string
	for _, e := range s.entriesOf(chat) {
		var h wire.HandedOver
		if e.Type == wire.EntryHandedOver && json.Unmarshal(e.Payload, &h) == nil {
			all = append(all, fmt.Sprintf("%d %s>%s %s", h.Step, h.From, h.To, h.History))
		}
	}
	s.lines("handovers", all, want...)
}

// agents checks the agents of the runs, in the order of their starts.
func (s transferTest) agents(want ...string) {
	s.Helper()
	var all []string
	for _, r := range slices.Backward(s.runsOf(chat)) {
		all = append(all, string(r.ID)+" "+r.Agent+" "+r.Model)
	}
	slices.Sort(all)
	s.lines("agents", all, want...)
}

// toolsOf returns the names of a request's tools.
func toolsOf(r spool.ModelRequest) string {
	var names []string
	for _, t := range r.Tools {
		names = append(names, t.Name)
	}
	return strings.Join(names, " ")
}

// linesOf returns a line for each message of a request.
func linesOf(r spool.ModelRequest) (lines []string) {
	for _, m := range r.Messages {
		lines = append(lines, messageLine(m))
	}
	return lines
}

// testTransferAll hands a thread over. The same run goes on, in another segment, with all messages.
func testTransferAll(s transferTest) {
	m := spooltest.NewModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "look"}),
		spooltest.Use(hand("c2", "b", "It is about b.")))
	n := spooltest.NewModel(spooltest.Use(spooltest.Call{ID: "c3", Name: "find"}), spooltest.Say("done"))
	e := s.engine(s.configOf(m, n, ""))
	begin := time.Now()
	s.start(e, "r1", "go")
	client := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{})
	s.work(e)
	s.ended(wire.Completed)
	if took := time.Since(begin); took > 4*time.Second {
		s.Errorf("it took %s", took)
	}
	<-time.After(quiet)
	client()
	s.lines("record", s.record(), "RUN_STARTED r1:1", "HANDED_OVER", "RUN_ENDED r1:1 lost", "RUN_STARTED r1:2",
		"RUN_ENDED r1:2 finished")
	s.handovers("2 a>b all")
	s.lines("messages", s.script(), "user go", "assistant c1=look{}", `tool c1:"seen"`,
		`assistant c2=transfer{"agent":"b","brief":"It is about b."}`, `tool c2:{"transferredTo":"b"}`,
		"assistant c3=find{}", `tool c3:"found"`, "assistant done")
	asked := n.Requests()[0]
	if asked.Instructions != "I am b." || toolsOf(asked) != "find" {
		s.Errorf("b got %q and the tools %q", asked.Instructions, toolsOf(asked))
	}
	s.lines("what b sees", linesOf(asked), s.script()[:5]...)
	if first := m.Requests()[0]; toolsOf(first) != "look transfer" ||
		!strings.Contains(first.Tools[1].Description, "b: Knows b.") {
		s.Errorf("a has the tools %q", toolsOf(first))
	}
	r := s.run("r1")
	if r.Agent != "b" || r.Model != "n" || r.Steps != 4 || s.thread().Model != "n" {
		s.Errorf("the run is %+v, with the thread's model %s", r, s.thread().Model)
	}
	var charged []string
	for _, row := range s.usage(wire.UsageQuery{}) {
		charged = append(charged, row.Agent+" "+row.Model)
	}
	slices.Sort(charged)
	s.lines("ledger", charged, "a m", "a m", "b n", "b n")
}

// testTransferBrief shows the other agent the user's turn and the brief, now and in later runs. People see everything.
func testTransferBrief(s transferTest) {
	m := spooltest.NewModel(spooltest.Say("hello"),
		spooltest.Turn{Text: []string{"my secret thought"}, Calls: []spooltest.Call{hand("c1", "b", "It is about b.")}})
	n := spooltest.NewModel(spooltest.Say("done"), spooltest.Say("again"))
	e := s.engine(s.configOf(m, n, spool.TransferBrief))
	s.start(e, "r1", "hi")
	client := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{})
	s.work(e)
	s.ended(wire.Completed)
	s.start(e, "r2", "go")
	s.ended(wire.Completed)
	s.start(e, "r3", "more")
	s.ended(wire.Completed)
	<-time.After(quiet)
	client()
	s.handovers("1 a>b brief")
	s.agents("r1 a m", "r2 b n", "r3 b n")
	for i, r := range n.Requests() {
		text := strings.Join(linesOf(r), "\n")
		if strings.Contains(text, "secret") || strings.Contains(text, "hello") || strings.Contains(text, "transfer") {
			s.Errorf("request %d shows what a did: %s", i, text)
		}
		if !strings.Contains(text, "It is about b.") || !strings.HasSuffix(linesOf(r)[0], "go") {
			s.Errorf("request %d has no brief or no turn: %s", i, text)
		}
	}
	if lines := s.script(); !slices.Contains(lines, "assistant hello") || len(lines) != 9 {
		s.Errorf("the thread is %q", lines)
	}
}

// testTransferNext starts further runs: without an agent they get the one that has the thread.
func testTransferNext(s transferTest) {
	m := spooltest.NewModel(spooltest.Use(hand("c1", "b", "x")), spooltest.Say("I am back"), spooltest.Say("and again"))
	n := spooltest.NewModel(spooltest.Say("one"), spooltest.Say("two"), spooltest.Say("three"))
	c := s.configOf(m, n, "")
	e := s.working(c)
	start := func(run spool.RunID, agent string) {
		s.startAs(e, chat, wire.StartRequest{RunID: run, Prompt: "go", StartOptions: wire.StartOptions{Agent: agent}})
		s.ended(wire.Completed)
	}
	start("r1", "")
	start("r2", "")
	start("r3", "")
	start("r4", "a")
	start("r5", "")
	s.agents("r1 b n", "r2 b n", "r3 b n", "r4 a m", "r5 a m")
}

// testTransferEdited edits the turn whose run handed the thread over. The new run begins with the agent from before.
func testTransferEdited(s transferTest) {
	m := spooltest.NewModel(spooltest.Use(hand("c1", "b", "x")), spooltest.Say("mine"))
	n := spooltest.NewModel(spooltest.Say("one"), spooltest.Say("two"), spooltest.Say("three"))
	e := s.working(s.configOf(m, n, ""))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	s.start(e, "r2", "more")
	s.ended(wire.Completed)
	turn := func(text string) (id spool.MessageID) {
		for _, m := range s.messagesOf(chat) {
			if m.Role == spool.RoleUser && m.Text() == text {
				id = m.ID
			}
		}
		return id
	}
	s.startAs(e, chat, wire.StartRequest{RunID: "r3", Prompt: "other", EditMessageID: turn("more")})
	s.ended(wire.Completed)
	s.startAs(e, chat, wire.StartRequest{RunID: "r4", Prompt: "first", EditMessageID: turn("go")})
	s.ended(wire.Completed)
	s.agents("r1 b n", "r2 b n", "r3 b n", "r4 a m")
}

// testTransferEndless has agents that hand a thread to each other. After eight times, one has to answer.
func testTransferEndless(s transferTest) {
	always := func(to string) *spooltest.Model {
		var turns []spooltest.Turn
		for i := range 4 {
			turns = append(turns, spooltest.Use(hand(spool.ToolCallID(fmt.Sprintf("%s%d", to, i)), to, "yours")))
		}
		return spooltest.NewModel(append(turns, spooltest.Use(hand("late", to, "yours")), spooltest.Say("mine then"))...)
	}
	c := s.configOf(always("b"), always("a"), "")
	c.Agents[1].Transfers = map[string]spool.Transfer{"a": {}}
	e := s.working(c)
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	lines := s.script()
	if last := lines[len(lines)-2:]; !strings.Contains(last[0], "handed over 8 times") ||
		last[1] != "assistant mine then" {
		s.Errorf("it ended with %q", last)
	}
	if r := s.run("r1"); len(r.Handovers) != 8 || r.Segments != 9 || r.Agent != "a" {
		s.Errorf("the run is %+v", r)
	}
}

// testTransferRefused has calls that hand nothing over: the model reads why. The first good one of a step counts.
func testTransferRefused(s transferTest) {
	m := spooltest.NewModel(
		spooltest.Use(hand("c1", "nobody", "x"), hand("c2", "b", " "), hand("c3", "a", "x"),
			spooltest.Call{ID: "c4", Name: spool.TransferTool, Args: `{"agent":"b","brief":"x","more":1}`}),
		spooltest.Use(hand("c5", "nobody", "x"), hand("c6", "b", "first"), hand("c7", "b", "second")),
	)
	n := spooltest.NewModel(spooltest.Say("done"))
	e := s.working(s.configOf(m, n, ""))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	s.handovers("2 a>b all")
	lines := s.script()
	s.lines("results", []string{lines[2], lines[4]},
		`tool c1:"error: there is no agent \"nobody\": the choices are b" c2:"error: brief is required" c3:"error: there is no agent \"a\": the choices are b" c4:"error: the arguments are agent and brief, both of them strings"`,
		`tool c5:"error: there is no agent \"nobody\": the choices are b" c6:{"transferredTo":"b"} c7:"error: another call of this step has handed the conversation over"`)
}

// testTransferPermitted has agents and models that only some callers may use. For others, there is nobody to hand to.
func testTransferPermitted(s transferTest) {
	for name, limit := range map[string]func(c *engine.Config){
		"agent": func(c *engine.Config) { c.Agents[1].Access.Scopes = []string{"team"} },
		"model": func(c *engine.Config) { c.ModelAccess = map[string]spool.Access{"n": {Scopes: []string{"team"}}} },
	} {
		m, n := spooltest.NewModel(spooltest.Say("alone"), spooltest.Use(hand(spool.ToolCallID(name), "b", "x"))),
			spooltest.NewModel(spooltest.Say("done"))
		c := s.configOf(m, n, "")
		limit(&c)
		e := s.engine(c)
		stop := s.work(e)
		for _, scopes := range [][]string{nil, {"team"}} {
			s.startAs(e, chat, wire.StartRequest{
				RunID: spool.RunID(name + strconv.Itoa(len(scopes))), Prompt: "go", StartOptions: wire.StartOptions{Agent: "a"},
				Scopes: scopes,
			})
			s.ended(wire.Completed)
		}
		stop()
		if got := []string{toolsOf(m.Requests()[0]), toolsOf(m.Requests()[1])}; got[0] != "look" ||
			got[1] != "look transfer" || n.Asked() != 1 {
			s.Errorf("%s: the tools were %q", name, got)
		}
	}
}

// testTransferParked hands a thread over in a step whose other call needs an approval. The agent that called waits for
// it, and has the result, before the other one takes over.
func testTransferParked(s transferTest) {
	m := spooltest.NewModel(spooltest.Use(hand("c1", "b", "x"), spooltest.Call{ID: "c2", Name: "send"}))
	n := spooltest.NewModel(spooltest.Say("done"))
	c := s.configOf(m, n, "")
	c.Agents[0].Tools = []spool.Tool{s.history.Tool(approved("send", `"sent"`))}
	e := s.working(c)
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	if r := s.run("r1"); r.Agent != "a" || n.Asked() != 0 {
		s.Errorf("while it waits, the run is %+v", r)
	}
	s.answer(e, "c2", true, "")
	s.ended(wire.Completed)
	s.handovers("1 a>b all")
	s.lines("messages", s.script(), "user go", `assistant c1=transfer{"agent":"b","brief":"x"} c2=send{}`,
		`tool c1:{"transferredTo":"b"}`, `tool c2:"sent"`, "assistant done")
}

// testTransferQueue hands a thread to an agent whose runs another worker executes.
func testTransferQueue(s transferTest) {
	m, n := spooltest.NewModel(spooltest.Use(hand("c1", "b", "x"))), spooltest.NewModel(spooltest.Say("done"))
	c := s.configOf(m, n, "")
	c.Agents[1].Queue = "slow"
	first := s.engine(c)
	s.work(first)
	s.start(first, "r1", "go")
	s.until("the handover", func() bool { return s.run("r1").Agent == "b" })
	<-time.After(10 * time.Second)
	if r := s.run("r1"); r.State != wire.Queued || n.Asked() != 0 {
		s.Errorf("the run is %+v", r)
	}
	second := s.engine(c)
	s.workWith(second, engine.WorkOptions{Queues: []string{"slow"}})
	s.ended(wire.Completed)
}

// testTransferStopped stops a run while the other agent answers.
func testTransferStopped(s transferTest) {
	m, n := spooltest.NewModel(spooltest.Use(hand("c1", "b", "x"))),
		spooltest.NewModel(spooltest.Turn{Gate: make(chan struct{})}, spooltest.Say("next"))
	e := s.working(s.configOf(m, n, ""))
	s.start(e, "r1", "go")
	s.until("b", func() bool { return n.Asked() == 1 })
	s.stop(e)
	s.ended(wire.Cancelled)
	s.start(e, "r2", "go on")
	s.ended(wire.Completed)
	s.agents("r1 b n", "r2 b n")
}

// testTransferSteered steers a run while it hands its thread over. The other agent reads the message.
func testTransferSteered(s transferTest) {
	m, n := spooltest.NewModel(spooltest.Use(spooltest.Call{ID: "c0", Name: "wait"}, hand("c1", "b", "x"))),
		spooltest.NewModel(spooltest.Say("done"))
	c := s.configOf(m, n, "")
	begun, over := make(chan struct{}), make(chan struct{})
	wait := plain("wait", "")
	wait.Call = func(context.Context, spool.ToolCall) (json.RawMessage, error) {
		close(begun)
		<-over
		return json.RawMessage(`"over"`), nil
	}
	c.Agents[0].Tools = []spool.Tool{s.history.Tool(wait)}
	e := s.working(c)
	s.start(e, "r1", "go")
	<-begun
	s.startAs(e, chat, wire.StartRequest{RunID: "s1", Prompt: "be quick", WhenBusy: spool.BusySteer})
	close(over)
	s.ended(wire.Completed)
	if lines := linesOf(n.Requests()[0]); lines[len(lines)-1] != "user be quick" {
		s.Errorf("b saw %q", lines)
	}
}

// testTransferGiven keeps what the start asked for: the schema of the answer and the client's tools. Provider options
// reach only an agent that allows them.
func testTransferGiven(s transferTest) {
	m, n := spooltest.NewModel(spooltest.Use(hand("c1", "b", "x"))), spooltest.NewModel(spooltest.Say(`{"degrees":21}`))
	c := s.configOf(m, n, "")
	c.Agents[0].ProviderOptions, c.Agents[1].ProviderOptions = []string{"seed", "effort"}, []string{"seed"}
	e := s.working(c)
	s.startAs(e, chat, wire.StartRequest{
		RunID: "r1", Prompt: "go", StartOptions: wire.StartOptions{
			ProviderOptions: json.RawMessage(`{"seed":1,"effort":"low"}`),
			Output: &spool.OutputSchema{
				Name:   "weather",
				Schema: json.RawMessage(`{"type":"object","properties":{"degrees":{"type":"integer"}},"required":["degrees"]}`),
			},
		},
		Client: wire.ClientInput{Tools: []wire.ClientTool{{Name: "alert", Description: "Alerts."}}},
	})
	s.ended(wire.Completed)
	asked := n.Requests()[0]
	if r := s.run("r1"); string(r.OutputValue()) != `{"degrees":21}` || toolsOf(asked) != "find alert" {
		s.Errorf("the run is %+v with %s, the tools %s", r, r.OutputValue(), toolsOf(asked))
	}
	if got := fmt.Sprint(asked.Extra); got != "map[seed:1]" || len(m.Requests()[0].Extra) != 2 {
		s.Errorf("b got the options %s", got)
	}
}

// testTransferNested has a nested run, which hands nothing over.
func testTransferNested(s transferTest) {
	m := casting(map[string][]spooltest.Turn{
		"go":     {spooltest.Use(spawn("c1", "helper", "find"), spawn("c2", "made-up", "invent")), spooltest.Say("done")},
		"invent": {spooltest.Say("made")},
		"find":   {spooltest.Use(hand("c3", "b", "x")), spooltest.Say("found")},
	})
	c := s.configOf(m, spooltest.NewModel(), "")
	c.Agents[0].Spawn = &spool.Spawn{Profiles: map[string]spool.Profile{"helper": {Tools: c.Agents[0].Tools}}, Open: true}
	e := s.working(c)
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	s.handovers()
	for _, r := range m.Requests() {
		if has := strings.Contains(toolsOf(r), spool.TransferTool); has != (r.Instructions == "I am a.") {
			s.Errorf("%q has the tools %s", r.Instructions, toolsOf(r))
		}
	}
}

// testTransferPinned has a pinned run that waits while its agent loses its transfers. It can still hand over.
func testTransferPinned(s transferTest) {
	m := spooltest.NewModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}), spooltest.Use(hand("c2", "b", "x")))
	n := spooltest.NewModel(spooltest.Say("done"))
	c := s.configOf(m, n, "")
	c.Agents[0].Tools = []spool.Tool{s.history.Tool(approved("send", `"sent"`))}
	c.Agents[0].Revisions, c.Agents[1].Revisions = spool.RevisionsPin, spool.RevisionsPin
	e := s.engine(c)
	stop := s.work(e)
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	stop()
	c.Agents = slices.Clone(c.Agents)
	c.Agents[0].Transfers = nil
	e = s.working(c)
	s.answer(e, "c1", true, "")
	s.ended(wire.Completed)
	s.handovers("2 a>b all")
	if r := s.run("r1"); r.Agent != "b" || r.Revision == "" || n.Asked() != 1 {
		s.Errorf("the run is %+v", r)
	}
}

// testTransferRedriven lets the job of the other agent die, and redrives it. The new run has the same agent.
func testTransferRedriven(s transferTest) {
	m, n := spooltest.NewModel(spooltest.Use(hand("c1", "b", "x"))),
		spooltest.NewModel(spooltest.Say("done"), spooltest.Say("more"))
	c := s.configOf(m, n, "")
	c.Agents[1].Queue = "slow"
	e := s.working(c)
	s.start(e, "r1", "go")
	s.until("the handover", func() bool { return s.run("r1").Agent == "b" })
	redriven := redriveTest(s)
	result := redriven.redrive(e, redriven.die(e, "slow"))
	s.workWith(s.engine(c), engine.WorkOptions{Queues: []string{"slow"}})
	s.ended(wire.Completed)
	s.start(e, "r3", "and now")
	s.ended(wire.Completed)
	for _, id := range []spool.RunID{result.RunID, "r3"} {
		if r := s.run(id); r.Agent != "b" || r.State != wire.Completed || !r.Held {
			s.Errorf("the run is %+v", r)
		}
	}
}

// testTransferRejected has configurations that no engine takes.
func testTransferRejected(s transferTest) {
	for want, change := range map[string]func(a *spool.Agent){
		`Transfers has the agent "x", which Config.Agents lacks`: func(a *spool.Agent) {
			a.Transfers = map[string]spool.Transfer{"x": {}}
		},
		`Transfers has the agent itself`: func(a *spool.Agent) {
			a.Transfers = map[string]spool.Transfer{"a": {}}
		},
		`"b" has no History of the name "some"`: func(a *spool.Agent) {
			a.Transfers = map[string]spool.Transfer{"b": {History: "some"}}
		},
		`has Transfers and a tool of the name "transfer"`: func(a *spool.Agent) {
			a.Tools = append(a.Tools, plain("transfer", `1`))
		},
	} {
		c := s.configOf(spooltest.NewModel(), spooltest.NewModel(), "")
		change(&c.Agents[0])
		if _, err := engine.New(s.join(), c); spool.CodeOf(err) != spool.Invalid || !strings.Contains(err.Error(), want) {
			s.Errorf("got %v, want %s", err, want)
		}
	}
	e := s.engine(s.configOf(spooltest.NewModel(), spooltest.NewModel(), ""))
	_, err := e.Run(s.Context(), chat, wire.StartRequest{
		Prompt: "go", Client: wire.ClientInput{Tools: []wire.ClientTool{{Name: "transfer"}}},
	})
	if spool.CodeOf(err) != spool.Invalid || !strings.Contains(err.Error(), "tools[0].name") {
		s.Errorf("a client's tool: %v", err)
	}
}

// transferScript is a run that is handed over with a brief after a call that was approved, and back, in a process with
// faults. Whatever the fault is, each handover happens once.
func transferScript(t *engineTest, own bool, faults ...spooltest.Fault) int {
	s := transferTest{t}
	m := spooltest.NewReplayModel(spooltest.Use(hand("c1", "b", "for b"), spooltest.Call{ID: "c2", Name: "send"}),
		spooltest.Say("end"))
	n := spooltest.NewReplayModel(spooltest.Use(hand("c3", "a", "for a")))
	config := s.configOf(m, n, spool.TransferBrief)
	send := approved("send", `"sent"`)
	send.Idempotent = true
	config.Agents[0].Tools = []spool.Tool{s.history.Tool(send)}
	config.Agents[1].Transfers = map[string]spool.Transfer{"a": {}}
	c := newCampaign(s.engineTest, config, 1, own)
	first, stop := c.survive(faults, []string{"a"}, func(n *node) {
		c.answerAll(n.Engine, func(p store.Park) wire.Response { return wire.Response{Approved: true, Digest: p.Digest} })
	})
	s.handovers("1 a>b brief", "2 b>a all")
	lines := s.script()
	s.lines("the end", lines[len(lines)-3:], `assistant c3=transfer{"agent":"a","brief":"for a"}`,
		`tool c3:{"transferredTo":"a"}`, "assistant end")
	if r := s.run("r1"); r.State != wire.Completed || r.Agent != "a" || len(r.Handovers) != 2 {
		s.Errorf("the run is %+v, %+v", r, r.Handovers)
	}
	c.finish(stop)
	return first.faulty.Calls()
}
