package enginetest

import (
	"context"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// accessTest is the fixture of the cases about what subjects may see and do.
type accessTest struct{ *engineTest }

var accessTests = map[string]func(s accessTest){
	"Agents":  testAccessAgents,
	"Models":  testAccessModels,
	"Tools":   testAccessTools,
	"Nested":  testAccessNested,
	"Answers": testAccessAnswers,
}

// noStart makes an invalid start, and returns its error.
func (s accessTest) noStart(e *engine.Engine, key spool.ThreadKey, r wire.StartRequest) string {
	s.Helper()
	r.Prompt = "go"
	result, err := e.Run(context.Background(), key, r)
	if spool.CodeOf(err) != spool.Invalid {
		s.Errorf("a start: %+v, %v", result, err)
	}
	return spool.MessageOf(err)
}

// An agent that a caller may not use looks as if it did not exist.
func testAccessAgents(s accessTest) {
	c := s.config(spooltest.NewModel(spooltest.Say("1"), spooltest.Say("2"), spooltest.Say("3")))
	c.Agents = []spool.Agent{
		{Name: "sales", Model: "m", Access: spool.Access{Tenants: []spool.Tenant{"other"}}},
		{Name: "desk", Model: "m", Access: spool.Access{Scopes: []string{"team:desk", "write:all"}}},
		{Name: "open", Model: "m"},
	}
	e := s.working(c)
	for _, name := range []string{"sales", "desk", "nobody"} {
		got := s.noStart(e, chat, wire.StartRequest{StartOptions: wire.StartOptions{Agent: name}, Scopes: []string{"write"}})
		s.same("as "+name, got, `agent: there is none of the name "`+name+`"`)
	}
	// The default is the first agent that the caller may use.
	for want, r := range map[string]wire.StartRequest{
		"open": {Prompt: "go", RunID: "r1", Scopes: []string{"write"}},
		"desk": {Prompt: "go", RunID: "r2", Scopes: []string{"write", "team:desk"}},
	} {
		key := of(chat.Tenant, spool.ThreadID(want))
		s.startAs(e, key, r)
		s.same("the agent", s.runsOf(key)[0].Agent, want)
	}
	s.startAs(e, of("other", "t"), wire.StartRequest{Prompt: "go", RunID: "r3"})
	s.same("of the other tenant", s.runsOf(of("other", "t"))[0].Agent, "sales")
	s.keys = slices.DeleteFunc(s.keys, func(key spool.ThreadKey) bool { return key == chat }) // nobody could start there
	for _, key := range s.keys {
		s.until("the end of "+key.String(), func() bool { return s.threadOf(key).State.Terminal() })
	}
}

func testAccessModels(s accessTest) {
	c := s.config(spooltest.NewModel(spooltest.Say("1")))
	c.Models["large"] = spooltest.NewModel(spooltest.Say("2"))
	c.ModelAccess = map[string]spool.Access{"large": {Scopes: []string{"model:large"}}}
	e := s.working(c)
	for _, name := range []string{"large", "nothing"} {
		s.same("as "+name, s.noStart(e, chat, wire.StartRequest{StartOptions: wire.StartOptions{Model: name}}),
			`model: there is none of the name "`+name+`"`)
	}
	s.startAs(e, chat, wire.StartRequest{
		Prompt: "go", StartOptions: wire.StartOptions{Model: "large"}, RunID: "r1", Scopes: []string{"model:large"},
	})
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go", "assistant 2")
}

// offered returns the names of the tools that a model was offered.
func offered(r spool.ModelRequest) string {
	names := make([]string, len(r.Tools))
	for i, t := range r.Tools {
		names[i] = t.Name
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// limited returns a tool for the runs of subjects that have the scope team:pay.
func limited(t spool.Tool) spool.Tool {
	t.Access = spool.Access{Scopes: []string{"team:pay"}}
	return t
}

// The model is not offered a tool that the run's subject may not use, and cannot call it. That also
// holds after a restart, and for a run that continues a failed one.
func testAccessTools(s accessTest) {
	var seen []string
	model := func() spool.Model {
		return spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
			seen = append(seen, offered(r))
			if spooltest.StepOf(r) == 0 {
				return spooltest.Use(spooltest.Call{ID: "c1", Name: "pay"})
			}
			return spooltest.Say("done")
		})
	}
	c := s.config(model(), limited(plain("pay", "1")), plain("look", "1"))
	first := s.engine(c)
	s.startAs(first, chat, wire.StartRequest{Prompt: "go", RunID: "r1", Scopes: []string{"write"}})
	job := redriveTest(s).die(first)
	redriveTest(s).redrive(first, job)
	stop := s.work(s.engine(c)) // in another process than the start
	s.ended(wire.Completed)
	stop()
	s.same("offered", seen, []string{"look", "look"})
	s.lines("messages", s.script(), "user go", "assistant c1=pay{}", `tool c1:"error: unknown tool pay"`, "assistant done")
	s.same("executed", s.executed(), 0)

	seen = nil
	e := s.working(c)
	s.startAs(e, of(chat.Tenant, "paid"), wire.StartRequest{Prompt: "go", RunID: "r2", Scopes: []string{"team:pay"}})
	s.until("the end", func() bool { return s.threadOf(of(chat.Tenant, "paid")).State.Terminal() })
	s.same("offered to who may", seen, []string{"look pay", "look pay"})
	s.same("executed for who may", s.executed(), 1)
}

// A nested run has only the tools and models that the subject of the dispatched run may use.
func testAccessNested(s accessTest) {
	var seen []string
	m := spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		seen = append(seen, offered(r))
		if strings.Contains(offered(r), spool.SpawnTool) && spooltest.StepOf(r) == 0 {
			return spooltest.Use(spooltest.Call{
				ID: "c1", Name: spool.SpawnTool, Args: `{"name":"helper","instructions":"help","model":"large"}`,
			})
		}
		return spooltest.Say("done")
	})
	c := s.config(m)
	c.Models["large"] = spooltest.NewModel(spooltest.Say("of the large one"))
	c.ModelAccess = map[string]spool.Access{"large": {Tenants: []spool.Tenant{"other"}}}
	c.Agents[0].Spawn = &spool.Spawn{Profiles: map[string]spool.Profile{"helper": {
		Description: "helps", Tools: []spool.Tool{limited(plain("pay", "1")), plain("look", "1")},
	}}}
	e := s.working(c)
	s.startAs(e, chat, wire.StartRequest{Prompt: "go", RunID: "r1", Scopes: []string{"write"}})
	s.ended(wire.Completed)
	s.same("offered", seen, []string{spool.SpawnTool, "look", spool.SpawnTool})
}

// A park of a restricted tool is answered like any other.
func testAccessAnswers(s accessTest) {
	e := s.working(
		s.config(spooltest.NewModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "pay"}), spooltest.Say("done")),
			limited(approved("pay", "1"))),
	)
	s.startAs(e, chat, wire.StartRequest{Prompt: "go", RunID: "r1", Scopes: []string{"team:pay"}})
	s.becomes(wire.WaitingForInput)
	if r, err := s.respondWith(e, wire.Response{ToolCallID: "c1", Approved: true, Args: []byte(`{"x":1}`)}); err != nil ||
		!r.Delivered {
		s.Fatalf("the answer: %+v, %v", r, err)
	}
	s.ended(wire.Completed)
	s.same("executed", s.executed(), 1)
}
