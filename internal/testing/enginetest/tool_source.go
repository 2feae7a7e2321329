package enginetest

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// sourceTest is the fixture of the cases about tool sources.
type sourceTest struct{ *engineTest }

var sourceTests = map[string]func(s sourceTest){
	"Pinned":   testSourcePinned,
	"Crash":    testSourceCrash,
	"Down":     testSourceDown,
	"Approval": testSourceApproval,
	"Names":    testSourceNames,
	"Nested":   testSourceNested,
	"Persona":  testSourcePersona,
	"Revision": testSourceRevision,
	"Panic":    testSourcePanic,
	"Invalid":  testSourceInvalid,
	"Changed":  testSourceChanged,
	"Compact":  testSourceCompacted,
}

// source is a tool source whose tools have the names of its list.
type source struct {
	s     sourceTest
	name  string
	ready func(t *spool.Tool) // completes each tool; nil for nothing

	mu    sync.Mutex
	names []string
	err   error
	asked int
}

func (c *source) Name() string { return c.name }

func (c *source) List(context.Context, spool.Tenant, string) (json.RawMessage, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	if c.err != nil {
		return nil, c.err
	}
	return json.Marshal(c.names)
}

func (c *source) Tools(list json.RawMessage) (tools []spool.Tool, err error) {
	var names []string
	if err := json.Unmarshal(list, &names); err != nil {
		return nil, err
	}
	for _, name := range names {
		t := plain(name, `"`+name+`"`)
		t.Parameters = json.RawMessage(`{"type":"object","properties":{"to":{"type":"string"}}}`)
		if c.ready != nil {
			c.ready(&t)
		}
		tools = append(tools, c.s.history.Tool(t))
	}
	return tools, nil
}

func (c *source) set(err error, names ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.names, c.err = names, err
}

func (c *source) lists() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asked
}

func (s sourceTest) sourced(m spool.Model, c *source, tools ...spool.Tool) engine.Config {
	config := s.config(m, tools...)
	config.Agents[0].ToolSources = []spool.ToolSource{c}
	return config
}

// seen returns the names of the tools of each request to the model.
func seen(m *spooltest.Model) (all []string) {
	for _, r := range m.Requests() {
		var names []string
		for _, t := range r.Tools {
			names = append(names, t.Name)
		}
		all = append(all, strings.Join(names, " "))
	}
	return all
}

// testSourcePinned changes the list while a run waits, and moves the run to another process.
func testSourcePinned(s sourceTest) {
	m := spooltest.NewModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "ask"}),
		spooltest.Use(spooltest.Call{ID: "c2", Name: "send"}),
		spooltest.Say("done"), spooltest.Say("again"))
	ask := plain("ask", "")
	ask.Call = func(_ context.Context, c spool.ToolCall) (json.RawMessage, error) {
		if c.Answer == nil {
			return nil, spool.ParkFor("", nil, 0)
		}
		return nil, nil
	}
	c := &source{s: s, name: "mail"}
	c.set(nil, "send", "look")
	config := s.sourced(m, c, ask)
	p := s.process(config)
	s.start(p.Engine, "r1", "go")
	s.becomes(wire.WaitingForInput)
	p.kill()
	c.set(nil, "other")
	e := s.working(config)
	s.answer(e, "c1", true, "")
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go", "assistant c1=ask{}", "tool c1:null", "assistant c2=send{}",
		`tool c2:"send"`, "assistant done")
	s.start(e, "r2", "go")
	s.ended(wire.Completed)
	s.lines("tools", seen(m), "ask send look", "ask send look", "ask send look", "ask other")
	if c.lists() != 2 {
		s.Errorf("the source was asked %d times", c.lists())
	}
}

// testSourceCrash lets the worker die in a call of a source's tool, whose list has changed by then.
func testSourceCrash(s sourceTest) {
	m := spooltest.NewReplayModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}), spooltest.Say("done"))
	d := newDying(1)
	c := &source{s: s, name: "mail", ready: func(t *spool.Tool) { t.Call = d.Call }}
	c.set(nil, "send")
	config := s.sourced(m, c)
	p := s.process(config)
	s.start(p.Engine, "r1", "go")
	receive(s.engineTest, d.called, bubbleWait, "the call of the tool")
	p.kill()
	close(d.gate)
	c.set(spool.Errorf(spool.Unavailable, "the server is down"))
	e := s.working(config)
	s.becomes(wire.WaitingForInput)
	if got := s.shown("c1"); got.Reason != wire.ParkOutcomeUnknown {
		s.Errorf("the park is %+v", got)
	}
	s.answer(e, "c1", true, "")
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go", "assistant c1=send{}", `tool c1:"sent"`, "assistant done")
}

// testSourceDown starts a run while the source fails. The run has further attempts, and succeeds once the
// source does.
func testSourceDown(s sourceTest) {
	m := spooltest.NewModel(spooltest.Say("done"))
	c := &source{s: s, name: "mail"}
	c.set(spool.Errorf(spool.Unavailable, "the server mail is down"))
	e := s.working(s.sourced(m, c))
	s.start(e, "r1", "go")
	s.until("the second attempt", func() bool { return c.lists() == 2 })
	c.set(nil, "send")
	s.ended(wire.Completed)
	s.lines("tools", seen(m), "send")

	c.set(spool.Errorf(spool.Unavailable, "the server mail is down"))
	s.start(e, "r2", "go")
	s.ended(wire.Failed)
	if got := s.run("r2"); got.Error != "the server mail is down" || got.Attempts == 0 {
		s.Errorf("the run is %+v", got.Run)
	}
}

// testSourceApproval answers an approval by a process that has never seen the list.
func testSourceApproval(s sourceTest) {
	m := spooltest.NewReplayModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "send", Args: `{"to":"bob"}`}),
		spooltest.Say("done"))
	c := &source{s: s, name: "mail", ready: func(t *spool.Tool) { t.Approval = spool.AlwaysApprove }}
	c.set(nil, "send")
	config := s.sourced(m, c)
	p := s.process(config)
	s.start(p.Engine, "r1", "go")
	s.becomes(wire.WaitingForInput)
	p.kill()
	c.set(spool.Errorf(spool.Unavailable, "down"))
	e := s.engine(config)
	var asked wire.InputRequired
	for _, entry := range s.entriesOf(chat) {
		if entry.Type == wire.EntryInputRequired {
			_ = json.Unmarshal(entry.Payload, &asked)
		}
	}
	if !strings.Contains(string(asked.InputSchema), `"to"`) {
		s.Errorf("the schema is %s", asked.InputSchema)
	}
	_, err := s.respondWith(e, wire.Response{ToolCallID: "c1", Approved: true, Args: json.RawMessage(`{"to":7}`)})
	if spool.CodeOf(err) != spool.Invalid || !strings.Contains(spool.MessageOf(err), "to") {
		s.Errorf("wrong arguments: %v", err)
	}
	approveTest(s).delivered(e, wire.Response{ToolCallID: "c1", Approved: true, Args: json.RawMessage(`{"to":"eve"}`)})
	s.work(e)
	s.ended(wire.Completed)
	if got := s.called("send"); string(got.Args) != `{"to":"eve"}` {
		s.Errorf("the arguments are %s", got.Args)
	}
}

// testSourceNames lets a source offer names that the agent has, or that no tool can have.
func testSourceNames(s sourceTest) {
	m := spooltest.NewModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}), spooltest.Say("done"))
	c := &source{s: s, name: "mail"}
	c.set(nil, "send", "a b", "look", "look", spool.SpawnTool)
	e := s.working(s.sourced(m, c, plain("send", `"own"`)))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	s.lines("tools", seen(m)[:1], "send look")
	s.lines("messages", s.script(), "user go", "assistant c1=send{}", `tool c1:"own"`, "assistant done")
}

// testSourceNested gives a source to a profile, and lets a persona use the tools of its parent.
func testSourceNested(s sourceTest) {
	m := spooltest.NewModel(
		spooltest.Use(spooltest.Call{ID: "c1", Name: spool.SpawnTool, Args: `{"name":"clerk","instructions":"work"}`}),
		spooltest.Say("clerk done"),
		spooltest.Use(spooltest.Call{ID: "c2", Name: spool.SpawnTool, Args: `{"name":"other","instructions":"work"}`}),
		spooltest.Say("other done"), spooltest.Say("done"))
	mine, theirs := &source{s: s, name: "mine"}, &source{s: s, name: "theirs"}
	mine.set(nil, "send")
	theirs.set(nil, "file")
	config := s.sourced(m, mine)
	config.Agents[0].Spawn = &spool.Spawn{
		Open: true, Profiles: map[string]spool.Profile{"clerk": {ToolSources: []spool.ToolSource{theirs, mine}}},
	}
	e := s.working(config)
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	s.lines("tools", seen(m), "send "+spool.SpawnTool, "file send", "send "+spool.SpawnTool, "send",
		"send "+spool.SpawnTool)
	if got := s.run("r1").ToolLists; len(got) != 2 || mine.lists() != 1 || theirs.lists() != 1 {
		s.Errorf("the run has %+v, and the sources were asked %d and %d times", got, mine.lists(), theirs.lists())
	}
}

// testSourceRevision adds a source to an agent and its profile while a run waits whose revision is pinned. The run
// keeps its sources.
func testSourceRevision(s sourceTest) {
	m := spooltest.NewReplayModel(
		spooltest.Use(spooltest.Call{ID: "c1", Name: "ask"}),
		spooltest.Use(spooltest.Call{ID: "c2", Name: spool.SpawnTool, Args: `{"name":"clerk","instructions":"work"}`}),
		spooltest.Say("done"))
	mail, bank := &source{s: s, name: "mail"}, &source{s: s, name: "bank"}
	mail.set(nil, "send")
	bank.set(nil, "pay")
	config := func(sources ...spool.ToolSource) engine.Config {
		c := s.config(m, approved("ask", "1"))
		c.Agents[0].ToolSources, c.Agents[0].Revisions = sources, spool.RevisionsPin
		c.Agents[0].Spawn = &spool.Spawn{Profiles: map[string]spool.Profile{"clerk": {ToolSources: sources}}}
		return c
	}
	p := s.process(config(mail))
	s.start(p.Engine, "r1", "go")
	s.becomes(wire.WaitingForInput)
	p.kill()
	e := s.working(config(mail, bank))
	s.answer(e, "c1", true, "")
	s.ended(wire.Completed)
	for _, tools := range seen(m) {
		if strings.Contains(tools, "pay") {
			s.Errorf("a request has the tools %s", tools)
		}
	}
	if n := bank.lists(); n != 0 {
		s.Errorf("the new source was asked %d times", n)
	}
}

// testSourcePersona edits the arguments of a call of a persona, which has the tools of its parent.
func testSourcePersona(s sourceTest) {
	m := spooltest.NewModel(
		spooltest.Use(spooltest.Call{ID: "c1", Name: spool.SpawnTool, Args: `{"name":"other","instructions":"work"}`}),
		spooltest.Use(spooltest.Call{ID: "c2", Name: "send", Args: `{"to":"bob"}`}),
		spooltest.Say("other done"), spooltest.Say("done"))
	c := &source{s: s, name: "mail", ready: func(t *spool.Tool) { t.Approval = spool.AlwaysApprove }}
	c.set(nil, "send")
	config := s.sourced(m, c)
	config.Agents[0].Spawn = &spool.Spawn{Open: true}
	e := s.working(config)
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	o, err := e.Outcome(context.Background(), chat, "r1")
	if err != nil || len(o.Parks) != 1 || !strings.Contains(string(o.Parks[0].InputSchema), `"to"`) {
		s.Fatalf("the question is %+v, %v", o.Parks, err)
	}
	approveTest(s).delivered(e, wire.Response{
		ToolCallID: o.Parks[0].ToolCallID, Approved: true, Args: json.RawMessage(`{"to":"eve"}`),
	})
	s.ended(wire.Completed)
	if got := s.called("send"); string(got.Args) != `{"to":"eve"}` {
		s.Errorf("the arguments are %s", got.Args)
	}
}

// panicking is a source whose list panics once, and then its tools.
type panicking struct{ *source }

func (p panicking) Tools(list json.RawMessage) ([]spool.Tool, error) {
	if p.lists() == 2 {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.asked++
		panic("tools")
	}
	return p.source.Tools(list)
}

func (p panicking) List(ctx context.Context, tenant spool.Tenant, subject string) (json.RawMessage, error) {
	if list, err := p.source.List(ctx, tenant, subject); p.lists() > 1 {
		return list, err
	}
	panic("list")
}

func testSourcePanic(s sourceTest) {
	c := &source{s: s, name: "mail"}
	c.set(nil, "send")
	config := s.config(spooltest.NewModel(spooltest.Say("done")))
	config.Agents[0].ToolSources = []spool.ToolSource{panicking{c}}
	e := s.working(config)
	begin := time.Now()
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	if time.Since(begin) < time.Millisecond || c.lists() != 3 || s.run("r1").Segments != 3 {
		s.Errorf("the source was asked %d times in %d segments", c.lists(), s.run("r1").Segments)
	}
}

func testSourceInvalid(s sourceTest) {
	for name, sources := range map[string][]spool.ToolSource{
		"nil tool source": {nil},
		"bad name":        {&source{name: "a b"}},
		"two tool sources": {
			&source{name: "a"},
			&source{name: "a"},
		},
	} {
		config := s.config(spooltest.NewModel())
		config.Agents[0].ToolSources = sources
		if _, err := engine.New(s.join(), config); spool.CodeOf(err) != spool.Invalid ||
			!strings.Contains(spool.MessageOf(err), name) {
			s.Errorf("%s: %v", name, err)
		}
	}
}
