package enginetest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// catalogueTest is the fixture of the cases about tools that a model has to find.
type catalogueTest struct{ *engineTest }

var catalogueTests = map[string]func(s catalogueTest){
	"Found":       testCatalogueFound,
	"Killed":      testCatalogueKilled,
	"Moved":       testCatalogueMoved,
	"Approval":    testCatalogueApproval,
	"Access":      testCatalogueAccess,
	"Undescribed": testCatalogueUndescribed,
	"Full":        testCatalogueFull,
	"Budget":      testCatalogueBudget,
	"Compacted":   testCatalogueCompacted,
	"Source":      testCatalogueSource,
	"SourceNames": testCatalogueSourceNames,
	"Nested":      testCatalogueNested,
	"Transfer":    testCatalogueTransfer,
	"Artifact":    testCatalogueArtifact,
	"Client":      testCatalogueClient,
	"Pinned":      testCataloguePinned,
	"Invalid":     testCatalogueInvalid,
}

// findTools are the names of the two tools of a catalogue.
const findTools = spool.SearchTool + " " + spool.DescribeTool

// searched returns a tool of a catalogue.
func searched(t spool.Tool) spool.Tool {
	t.Search, t.Description = true, "Does "+t.Name
	t.Parameters = json.RawMessage(`{"type":"object","properties":{"to":{"type":"string"}}}`)
	return t
}

// config returns a configuration of an engine that keeps no files: with files, an agent with a catalogue has one more
// tool.
func (s catalogueTest) config(m spool.Model, tools ...spool.Tool) engine.Config {
	return withoutFiles(s.engineTest.config(m, tools...))
}

func withoutFiles(c engine.Config) engine.Config {
	c.Limits.FileBytes = -1
	return c
}

// find and describe are calls of the two tools.
func find(id spool.ToolCallID, query string) spooltest.Call {
	return spooltest.Call{ID: id, Name: spool.SearchTool, Args: fmt.Sprintf(`{"query":%q}`, query)}
}

func describe(id spool.ToolCallID, names ...string) spooltest.Call {
	args, _ := json.Marshal(map[string][]string{"names": names}) //nolint:errchkjson // there are only strings
	return spooltest.Call{ID: id, Name: spool.DescribeTool, Args: string(args)}
}

// toolLines returns the lines of a script that begin with "tool".
func toolLines(lines []string) (all []string) {
	for _, line := range lines {
		if strings.HasPrefix(line, "tool") {
			all = append(all, line)
		}
	}
	return all
}

// testCatalogueFound finds a tool, describes it and calls it. The list of tools grows at its end, in the order in which
// the tools were described. The next run begins without them.
func testCatalogueFound(s catalogueTest) {
	m := spooltest.NewModel(
		spooltest.Use(find("c1", "sending mail")), spooltest.Use(describe("c2", "sendMail", "nothing")),
		spooltest.Use(spooltest.Call{ID: "c3", Name: "sendMail"}, describe("c4", "payBill"),
			describe("c5", "payBill", "askBank")), spooltest.Say("done"), spooltest.Say("again"))
	e := s.working(s.config(m, searched(plain("askBank", "1")), plain("now", "2"), searched(plain("payBill", "3")),
		searched(plain("sendMail", `"sent"`))))
	s.start(e, "r1", "go")
	client := s.watch(e, &spooltest.Client{Name: "live"}, wire.FollowOptions{})
	s.ended(wire.Completed)
	listed := "now " + findTools
	s.lines("tools", seen(m), listed, listed, listed+" sendMail", listed+" sendMail payBill askBank")
	sent := `{"description":"Does sendMail","name":"sendMail","parameters":{"properties":{"to":{"type":"string"}},"type":"object"}}`
	s.lines("results", toolLines(s.script())[:2],
		`tool c1:{"tools":[{"description":"Does sendMail","name":"sendMail"}]}`,
		`tool c2:{"notes":["there is no tool \"nothing\": find tools with searchTools"],"tools":[`+sent+`]}`)
	if got := toolLines(s.script())[2]; !strings.HasPrefix(
		got, `tool c3:"sent" c4:{"tools":[{"description":"Does payBill"`,
	) || !strings.Contains(got, "askBank") {
		s.Errorf("the results are %s", got)
	}
	s.start(e, "r2", "go")
	s.ended(wire.Completed)
	s.lines("tools of the next run", seen(m)[4:], listed)
	client()
}

// testCatalogueKilled kills the process between the description and the call. Another one has the tool.
func testCatalogueKilled(s catalogueTest) {
	asked := make(chan struct{}, 1)
	hang := make(chan struct{})
	m := spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		switch spooltest.StepOf(r) {
		case 0:
			return spooltest.Use(describe("c1", "sendMail", "askBank"))
		case 1:
			turn := spooltest.Use(spooltest.Call{ID: "c2", Name: "sendMail"})
			select {
			case <-hang: // the second process
			default:
				turn.Gate = hang
				asked <- struct{}{}
			}
			return turn
		default:
			return spooltest.Say("done")
		}
	})
	config := s.config(m, searched(plain("askBank", "1")), searched(plain("sendMail", `"sent"`)))
	p := s.process(config)
	s.start(p.Engine, "r1", "go")
	receive(s.engineTest, asked, bubbleWait, "the question after the description")
	p.kill()
	close(hang)
	s.working(config)
	s.ended(wire.Completed)
	after := findTools + " sendMail askBank"
	s.lines("tools", seen(m), findTools, after, after, after)
	s.same("described", s.run("r1").Described, []string{"sendMail", "askBank"})
	if got := toolLines(s.script()); len(got) != 2 || got[1] != `tool c2:"sent"` {
		s.Errorf("the results are %v", got)
	}
}

// testCatalogueMoved lets the process end while the run waits in the step of its description. Another process has the
// tools.
func testCatalogueMoved(s catalogueTest) {
	m := spooltest.NewReplayModel(
		spooltest.Use(describe("c1", "sendMail"), spooltest.Call{ID: "c2", Name: "ask"}),
		spooltest.Use(spooltest.Call{ID: "c3", Name: "sendMail"}), spooltest.Say("done"))
	config := s.config(m, approved("ask", "1"), searched(plain("sendMail", `"sent"`)))
	p := s.process(config)
	s.start(p.Engine, "r1", "go")
	s.becomes(wire.WaitingForInput)
	p.kill()
	e := s.working(config)
	s.answer(e, "c2", true, "")
	s.ended(wire.Completed)
	listed := "ask " + findTools
	s.lines("tools", seen(m), listed, listed+" sendMail", listed+" sendMail")
	s.same("executed", s.called("sendMail").ID, spool.ToolCallID("c3"))
}

// testCatalogueApproval asks a person about a call. The answer is bound to the arguments, which the person may edit.
func testCatalogueApproval(s catalogueTest) {
	m := spooltest.NewReplayModel(spooltest.Use(describe("c1", "sendMail")),
		spooltest.Use(spooltest.Call{ID: "c2", Name: "sendMail", Args: `{"to":"bob"}`}), spooltest.Say("done"))
	send := searched(approved("sendMail", `"sent"`))
	send.Check = func(args json.RawMessage) error {
		var a struct{ To *string }
		return json.Unmarshal(args, &a)
	}
	config := s.config(m, send, searched(plain("askBank", "1")))
	p := s.process(config)
	s.start(p.Engine, "r1", "go")
	s.becomes(wire.WaitingForInput)
	p.kill()
	e := s.engine(config)
	park := s.parksOf(chat, "r1")[0]
	o, err := e.Outcome(context.Background(), chat, "r1")
	if err != nil || len(o.Parks) != 1 || !strings.Contains(string(o.Parks[0].InputSchema), `"to"`) || park.Digest == "" ||
		o.Parks[0].Digest != park.Digest {
		s.Fatalf("the question is %+v, %v", o.Parks, err)
	}
	approveTest(s).refused(e, wire.Response{ToolCallID: "c2", Approved: true, Digest: "another"}, wire.ReasonChanged)
	if _, err := s.respondWith(
		e, wire.Response{ToolCallID: "c2", Approved: true, Args: json.RawMessage(`{"to":7}`)},
	); spool.CodeOf(err) != spool.Invalid {
		s.Errorf("wrong arguments: %v", err)
	}
	approveTest(s).delivered(e, wire.Response{
		ToolCallID: "c2", Approved: true, Digest: park.Digest, Args: json.RawMessage(`{"to":"eve"}`),
	})
	s.work(e)
	s.ended(wire.Completed)
	if got := s.called("sendMail"); string(got.Args) != `{"to":"eve"}` {
		s.Errorf("the arguments are %s", got.Args)
	}
	if last := seen(m)[len(seen(m))-1]; last != findTools+" sendMail" {
		s.Errorf("the last request has %s", last)
	}
}

// testCatalogueAccess hides a tool from who may not use it: from the search, from the description and from calls.
// Without any tool that the subject may use, there is no catalogue.
func testCatalogueAccess(s catalogueTest) {
	m := func() *spooltest.Model {
		return spooltest.NewModel(
			spooltest.Use(find("c1", "pay bill"), describe("c2", "payBill", "sendMail"),
				spooltest.Call{ID: "c3", Name: "payBill"}), spooltest.Say("done"))
	}
	pay := func() spool.Tool { return limited(searched(plain("payBill", `"paid"`))) }
	first := m()
	e := s.engine(s.config(first, pay(), searched(plain("sendMail", "1"))))
	stop := s.work(e)
	s.startAs(e, chat, wire.StartRequest{Prompt: "go", RunID: "r1", Scopes: []string{"write"}})
	s.ended(wire.Completed)
	got := toolLines(s.script())[0]
	for _, want := range []string{
		`c1:{"note":"no tool has these words in its name or description: try others","tools":[]}`,
		`"notes":["there is no tool \"payBill\": find tools with searchTools"]`, `c3:"error: unknown tool payBill"`,
	} {
		if !strings.Contains(got, want) {
			s.Errorf("the results are %s, without %s", got, want)
		}
	}
	if strings.Contains(got, "Does payBill") || !strings.Contains(first.Requests()[0].Tools[0].Description, "of 1 tool ") {
		s.Errorf("the model can see the tool: %s, %s", got, first.Requests()[0].Tools[0].Description)
	}
	s.lines("tools", seen(first), findTools, findTools+" sendMail")

	stop()
	second := m()
	e2 := s.working(s.config(second, pay()))
	key := of(chat.Tenant, "other")
	s.startAs(e2, key, wire.StartRequest{Prompt: "go", RunID: "r2", Scopes: []string{"write"}})
	s.until("the end", func() bool { return s.threadOf(key).State.Terminal() })
	s.lines("tools without a catalogue", seen(second), "", "")
}

// testCatalogueUndescribed calls a tool that was not described. The call has no effect, and the model reads the
// description and can call the tool.
func testCatalogueUndescribed(s catalogueTest) {
	m := spooltest.NewModel(
		spooltest.Use(spooltest.Call{ID: "c1", Name: "sendMail"}, spooltest.Call{ID: "c2", Name: "sendMail"},
			describe("c3", "askBank"), spooltest.Call{ID: "c4", Name: "askBank"}),
		spooltest.Use(spooltest.Call{ID: "c5", Name: "sendMail"}), spooltest.Say("done"))
	e := s.working(s.config(m, searched(approved("askBank", "1")), searched(plain("sendMail", `"sent"`))))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	s.lines("tools", seen(m), findTools, findTools+" sendMail askBank", findTools+" sendMail askBank")
	results := s.messagesOf(chat)[2].ToolResults()
	for i, name := range map[int]string{0: "sendMail", 1: "sendMail", 3: "askBank"} {
		var text string
		_ = json.Unmarshal(results[i].Result, &text)
		if !strings.HasPrefix(text, "error: "+name+" was not called, because it was not described in this run.") ||
			!strings.HasSuffix(text, `{"to":{"type":"string"}}}}`) {
			s.Errorf("result %d is %s", i, results[i].Result)
		}
	}
	s.same("executed", len(slices.DeleteFunc(s.history.Calls(),
		func(c spool.ToolCall) bool { return c.Name != "sendMail" })), 1)
}

// testCatalogueFull describes more tools than a run can have, also in one step.
func testCatalogueFull(s catalogueTest) {
	var tools []spool.Tool
	var turns []spooltest.Turn
	for batch := range 7 {
		var names []string
		for i := range 10 {
			names = append(names, fmt.Sprintf("tool%d", batch*10+i))
			tools = append(tools, searched(plain(names[i], "1")))
		}
		turns = append(turns, spooltest.Use(describe(spool.ToolCallID(fmt.Sprintf("c%d", batch)), names...)))
	}
	turns = append(turns, spooltest.Use(spooltest.Call{ID: "d1", Name: "tool69"}, spooltest.Call{ID: "d2", Name: "tool3"}),
		spooltest.Say("done"))
	m := spooltest.NewModel(turns...)
	e := s.working(s.config(m, tools...))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	results := toolLines(s.script())
	if got := strings.Count(results[6], `"parameters"`); got != spool.MaxDescribed-60 ||
		!strings.Contains(results[6], "tool64 cannot be called: this run has described 64 tools") {
		s.Errorf("the last description is %s", results[6])
	}
	s.lines("results", results[7:],
		`tool d1:"error: tool69 cannot be called: this run has described 64 tools, and cannot have more. Go on with those" d2:1`)
	last := m.Requests()[8].Tools
	if len(last) != 2+spool.MaxDescribed || last[2].Name != "tool0" || last[65].Name != "tool63" {
		s.Errorf("the last request has %d tools", len(last))
	}
}

// testCatalogueBudget counts searches, descriptions and the calls of what was found against the budget of tool calls.
func testCatalogueBudget(s catalogueTest) {
	m := spooltest.NewModel(
		spooltest.Use(find("c1", "send")), spooltest.Use(describe("c2", "sendMail"), describe("c3", "askBank")),
		spooltest.Say("done"))
	c := s.config(m, searched(plain("askBank", "1")), searched(plain("sendMail", `"sent"`)))
	c.Agents[0].Budget, c.Agents[0].OnBudget = spool.Budget{ToolCalls: 2}, spool.BudgetEnd
	e := s.working(c)
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	s.same("described", s.run("r1").Described, []string{"sendMail"})
	if got := s.run("r1"); got.StopReason != wire.StopToolCallBudget {
		s.Errorf("the run ended with %s", got.StopReason)
	}
}

// testCatalogueCompacted summarises the messages of a run whose tools were described. The run still has them.
func testCatalogueCompacted(s catalogueTest) {
	sums := summing()
	m := counting(1700, func(r spool.ModelRequest) spooltest.Turn {
		switch text := promptText(r); {
		case len(r.Tools) == 3: // look and the two
			return spooltest.Use(describe("d1", "sendMail"))
		case strings.Contains(text, "SUM-1"):
			if strings.Contains(text, `"sent"`) {
				return spooltest.Say("done")
			}
			return spooltest.Use(spooltest.Call{ID: "s1", Name: "sendMail"})
		default:
			return spooltest.Use(spooltest.Call{
				ID: spool.ToolCallID(fmt.Sprintf("l%d", len(r.Messages))), Name: "look",
				Args: fmt.Sprintf(`{"n":%d}`, len(r.Messages)),
			})
		}
	})
	e := s.working(withoutFiles(contextTest(s).contextConfig(m, sums, plain("look", `"`+long("seen", 600)+`"`),
		searched(plain("sendMail", `"sent"`)))))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	all := seen(m)
	if sums.Asked() == 0 || !slices.Contains(toolLines(s.script()), `tool s1:"sent"`) {
		s.Errorf("%d summaries, messages %v", sums.Asked(), s.script())
	}
	for _, tools := range all[1:] {
		s.same("the tools", tools, "look "+findTools+" sendMail")
	}
}

// testCatalogueSource has the catalogue of a source. The list of the run is the catalogue, also in another process.
func testCatalogueSource(s catalogueTest) {
	m := spooltest.NewReplayModel(spooltest.Use(find("c1", "send")), spooltest.Use(describe("c2", "send_mail")),
		spooltest.Use(spooltest.Call{ID: "c3", Name: "ask"}),
		spooltest.Use(spooltest.Call{ID: "c4", Name: "send_mail", Args: `{"to":"bob"}`}), spooltest.Say("done"))
	c := &source{
		s: sourceTest(s), name: "mail", ready: func(t *spool.Tool) { t.Search, t.Approval = true, spool.AlwaysApprove },
	}
	c.set(nil, "send_fax", "send_mail")
	config := withoutFiles(sourceTest(s).sourced(m, c, approved("ask", "1")))
	p := s.process(config)
	s.start(p.Engine, "r1", "go")
	s.becomes(wire.WaitingForInput)
	p.kill()
	c.set(nil, "other")
	e := s.working(config)
	s.answer(e, "c3", true, "")
	s.until("the second question", func() bool {
		return len(s.parksOf(chat, "r1")) == 2 && s.thread().State == wire.WaitingForInput
	})
	approveTest(s).delivered(e, wire.Response{ToolCallID: "c4", Approved: true, Args: json.RawMessage(`{"to":"eve"}`)})
	s.ended(wire.Completed)
	if got := s.called("send_mail"); string(got.Args) != `{"to":"eve"}` || c.lists() != 1 {
		s.Errorf("the arguments are %s, and the source was asked %d times", got.Args, c.lists())
	}
	for i, tools := range seen(m) {
		want := "ask " + findTools
		if i > 1 {
			want += " send_mail"
		}
		s.same(fmt.Sprintf("the tools of request %d", i), tools, want)
	}
}

// testCatalogueSourceNames has sources whose tools have the names of the two, and agents that have such tools.
func testCatalogueSourceNames(s catalogueTest) {
	m := spooltest.NewModel(spooltest.Say("done"))
	c := &source{s: sourceTest(s), name: "mail", ready: func(t *spool.Tool) { t.Search = t.Name != spool.SearchTool }}
	c.set(nil, "send", spool.SearchTool, "look")
	e := s.engine(withoutFiles(sourceTest(s).sourced(m, c, plain("look", "1"))))
	stop := s.work(e)
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	stop()
	s.lines("tools", seen(m), "look "+findTools)
	if text := m.Requests()[0].Tools[1].Description; !strings.Contains(text, "of 1 tool ") {
		s.Errorf("the catalogue is described as %s", text)
	}

	m = spooltest.NewModel(spooltest.Say("done"))
	e = s.working(sourceTest(s).sourced(m, c, plain(spool.DescribeTool, "1")))
	key := of(chat.Tenant, "own")
	s.startAs(e, key, wire.StartRequest{Prompt: "go", RunID: "r2"})
	s.until("the end", func() bool { return s.threadOf(key).State.Terminal() })
	s.lines("tools", seen(m), spool.DescribeTool)
}

// testCatalogueNested gives a nested run the catalogue of its parent, and none of what the parent has described.
func testCatalogueNested(s catalogueTest) {
	m := spooltest.NewModel(
		spooltest.Use(describe("c1", "askBank")),
		spooltest.Use(spooltest.Call{ID: "c2", Name: spool.SpawnTool, Args: `{"name":"other","instructions":"work"}`}),
		spooltest.Use(describe("c3", "sendMail")), spooltest.Use(spooltest.Call{ID: "c4", Name: "sendMail"}),
		spooltest.Say("other done"), spooltest.Say("done"))
	config := s.config(m, searched(plain("askBank", "1")), searched(plain("sendMail", `"sent"`)))
	config.Agents[0].Spawn = &spool.Spawn{Open: true}
	e := s.working(config)
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	outer := spool.SpawnTool + " " + findTools
	s.lines("tools", seen(m), outer, outer+" askBank", findTools, findTools+" sendMail", findTools+" sendMail",
		outer+" askBank")
	s.same("executed", s.called("sendMail").Agent, "other")
}

// testCatalogueTransfer hands a thread over. The other agent begins with none of what was described.
func testCatalogueTransfer(s catalogueTest) {
	m := spooltest.NewModel(spooltest.Use(describe("c1", "askBank")), spooltest.Use(hand("c2", "b", "for b")))
	n := spooltest.NewModel(spooltest.Say("end"))
	config := withoutFiles(transferTest(s).configOf(m, n, spool.TransferAll))
	tools := []spool.Tool{searched(plain("askBank", "1")), searched(plain("sendMail", "2"))}
	for i := range config.Agents[:2] {
		config.Agents[i].Tools = slices.Clone(tools)
	}
	e := s.working(config)
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	s.lines("tools of a", seen(m), findTools+" transfer", findTools+" transfer askBank")
	s.lines("tools of b", seen(n), findTools)
}

// testCatalogueArtifact saves an artifact after a description. The tool that reads it was there before, so that the
// list grows only at its end.
func testCatalogueArtifact(s catalogueTest) {
	m := spooltest.NewModel(spooltest.Use(describe("c1", "save")), spooltest.Use(spooltest.Call{ID: "c2", Name: "save"}),
		spooltest.Say("done"))
	save := searched(plain("save", ""))
	save.Call = func(ctx context.Context, call spool.ToolCall) (json.RawMessage, error) {
		_, err := call.SaveArtifact(ctx, "a.txt", "text/plain", strings.NewReader("text"))
		return json.RawMessage(`"saved"`), err
	}
	config := s.config(m, save)
	config.Artifacts = &spooltest.Artifacts{}
	e := s.working(config)
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	listed := findTools + " " + spool.ArtifactTool
	s.lines("tools", seen(m), listed, listed+" save", listed+" save")
}

// testCatalogueClient has a client with a tool of its own beside the catalogue, and refuses one of a name of the two.
func testCatalogueClient(s catalogueTest) {
	m := spooltest.NewModel(spooltest.Use(describe("c1", "sendMail")), spooltest.Say("done"))
	e := s.working(s.config(m, searched(plain("sendMail", "1"))))
	for _, name := range []string{spool.SearchTool, "sendMail"} {
		_, err := e.Run(context.Background(), chat,
			wire.StartRequest{Prompt: "go", Client: wire.ClientInput{Tools: []wire.ClientTool{{Name: name}}}})
		if want := `tools[0].name: the agent "a" has a tool "` + name +
			`" of its own; give the client's another name`; spool.MessageOf(err) != want {
			s.Errorf("a client's tool %s: %v", name, err)
		}
	}
	s.startAs(e, chat, wire.StartRequest{
		Prompt: "go", RunID: "r1", Client: wire.ClientInput{Tools: []wire.ClientTool{{Name: "confirm"}}},
	})
	s.ended(wire.Completed)
	s.lines("tools", seen(m), findTools+" confirm", findTools+" confirm sendMail")
}

// testCataloguePinned takes a tool out of the catalogue while a run waits whose revision is pinned, and one whose is
// not.
func testCataloguePinned(s catalogueTest) {
	for name, want := range map[spool.Revisions]string{
		spool.RevisionsPin: "ask " + findTools + " sendMail", spool.RevisionsFollow: "ask sendMail other",
	} {
		m := spooltest.NewReplayModel(spooltest.Use(describe("c1", "sendMail")),
			spooltest.Use(spooltest.Call{ID: "c2", Name: "ask"}), spooltest.Say("done"))
		config := s.config(m, approved("ask", "1"), searched(plain("sendMail", "2")), searched(plain("other", "3")))
		config.Agents[0].Revisions = name
		p := s.process(config)
		key := of(chat.Tenant, spool.ThreadID("t-"+name))
		run := spool.RunID("r-" + name)
		s.startAs(p.Engine, key, wire.StartRequest{Prompt: "go", RunID: run})
		s.until("the question", func() bool { return s.threadOf(key).State == wire.WaitingForInput })
		p.kill()
		config.Agents[0].Tools = slices.Clone(config.Agents[0].Tools)
		for i := range config.Agents[0].Tools {
			config.Agents[0].Tools[i].Search = false
		}
		e := s.engine(config)
		stop := s.work(e)
		park := s.parksOf(key, run)[0]
		if _, err := e.Respond(
			context.Background(), key, wire.Response{ToolCallID: "c2", Approved: true, Digest: park.Digest, By: "ann"},
		); err != nil {
			s.Fatal(err)
		}
		s.until("the end", func() bool { return s.threadOf(key).State.Terminal() })
		stop()
		s.same("the tools, "+string(name), seen(m)[len(seen(m))-1], want)
	}
}

// testCatalogueInvalid configures agents whose own tools have the names of the two.
func testCatalogueInvalid(s catalogueTest) {
	for name := range strings.FieldsSeq(findTools) {
		_, err := engine.New(s.join(), s.config(spooltest.NewModel(), searched(plain("a", "1")), plain(name, "2")))
		if want := `Config.Agents: agent "a" has tools with Search and a tool of the name "` + name +
			`"`; spool.MessageOf(err) != want {
			s.Errorf("got %v", err)
		}
	}
	if _, err := engine.New(s.join(), s.config(spooltest.NewModel(), plain(spool.SearchTool, "1"))); err != nil {
		s.Errorf("without a catalogue: %v", err)
	}
}

// catalogueScript is a run that describes tools, and calls one that was not described and one that asks a person, in a
// process with faults. Whatever the fault is, the list of tools only grows at its end.
func catalogueScript(t *engineTest, own bool, faults ...spooltest.Fault) int {
	s := catalogueTest{t}
	m := spooltest.NewReplayModel(
		spooltest.Use(describe("c1", "sendMail"), spooltest.Call{ID: "c2", Name: "askBank"}),
		spooltest.Use(spooltest.Call{ID: "c3", Name: "sendMail"}, find("c4", "pay"), describe("c5", "payBill")),
		spooltest.Say("end"))
	send := searched(approved("sendMail", `"sent"`))
	send.Idempotent = true
	config := s.config(m, searched(plain("payBill", "1")), searched(plain("askBank", "2")), send)
	c := newCampaign(s.engineTest, config, 1, own)
	first, stop := c.survive(faults, []string{"a"}, func(n *node) {
		c.answerAll(n.Engine, func(p store.Park) wire.Response { return wire.Response{Approved: true, Digest: p.Digest} })
	})
	s.same("described", s.run("r1").Described, []string{"sendMail", "askBank", "payBill"})
	whole := findTools + " sendMail askBank payBill"
	for _, tools := range seen(m) {
		if !strings.HasPrefix(whole, tools) {
			s.Errorf("a request has the tools %s", tools)
		}
	}
	if got := s.run("r1"); got.State != wire.Completed {
		s.Errorf("the run is %+v", got)
	}
	c.finish(stop)
	return first.faulty.Calls()
}
