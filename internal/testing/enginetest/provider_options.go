package enginetest

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

var providerOptionsTests = map[string]func(s *engineTest){
	"Reaches": testProviderOptionsReaches,
	"Redrive": testProviderOptionsRedrive,
	"Refused": testProviderOptionsRefused,
	"Ignored": testProviderOptionsIgnored,
}

// testProviderOptionsReaches gives options to a run that fails an attempt, spawns, parks, and continues
// in another process. Each of its requests, and of the nested run's, has them in addition to the
// agent's options; the next run has none.
func testProviderOptionsReaches(s *engineTest) {
	answer := func(r spool.ModelRequest) spooltest.Turn {
		switch role, step := roleOf(r), spooltest.StepOf(r); {
		case role == "help":
			return spooltest.Say("helped")
		case role != "go":
			return spooltest.Say("hello")
		case step == 0:
			return spooltest.Use(spawn("c1", "helper", "help"))
		case step == 1:
			return spooltest.Use(spooltest.Call{ID: "c2", Name: "send"})
		default:
			return spooltest.Say("done")
		}
	}
	failed := false
	wrapped := spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		if !failed { // the very first request
			failed = true
			return spooltest.Turn{Err: &spool.ModelError{Status: 503, Message: "busy"}}
		}
		return answer(r)
	})
	send := telling("send", func(context.Context, spool.ToolCall) error { return nil })
	send.Approval = spool.AlwaysApprove
	c := nestedTest{s}.treeConfig(wrapped, send)
	c.Agents[0].Extra = map[string]any{"temperature": 1, "top_p": 0.5}
	c.Agents[0].ProviderOptions = []string{"temperature", "reasoning"}
	first := s.engine(c)
	stop := s.work(first)
	s.startAs(first, chat, wire.StartRequest{
		Prompt: "go", RunID: "r1", StartOptions: wire.StartOptions{
			ProviderOptions: json.RawMessage(`{"temperature":0.20,"reasoning":{"effort":"low","max":12345678901234567890}}`),
		},
	})
	s.becomes(wire.WaitingForInput)
	stop()
	second := s.working(c)
	s.answer(second, "c2", true, "")
	s.ended(wire.Completed)
	s.startAs(second, chat, wire.StartRequest{
		Prompt: "hello", RunID: "r2", StartOptions: wire.StartOptions{ProviderOptions: json.RawMessage(` { } `)},
	})
	s.until("the second end", func() bool { return s.run("r2").State.Terminal() })

	const asked = `"reasoning":{"effort":"low","max":12345678901234567890},"temperature":0.20`
	want := map[string]string{
		"go": "{" + asked + `,"top_p":0.5}`, "help": "{" + asked + "}", "hello": `{"temperature":1,"top_p":0.5}`,
	}
	seen := make(map[string]int)
	for i, r := range wrapped.Requests() {
		role := roleOf(r)
		seen[role]++
		s.same(fmt.Sprintf("what is added to request %d, of %s", i, role), string(encoded(s, r.Extra)), want[role])
	}
	s.same("requests", seen, map[string]int{"go": 4, "help": 1, "hello": 1})
	if snap, err := second.Snapshot(context.Background(), chat, nil); err != nil ||
		strings.Contains(string(encoded(s, snap)), "effort") {
		s.Errorf("clients see the options: %v, %s", err, encoded(s, snap))
	}
}

func encoded(s *engineTest, v any) json.RawMessage {
	s.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		s.Fatal(err)
	}
	return text
}

// testProviderOptionsRedrive has a run that dies before it begins: the run that replaces it has the
// same options.
func testProviderOptionsRedrive(s *engineTest) {
	c := s.config(spooltest.NewModel(spooltest.Say("hi")))
	c.Agents[0].ProviderOptions = []string{"seed"}
	e := s.engine(c)
	s.startAs(e, chat, wire.StartRequest{
		Prompt: "go", RunID: "r1", StartOptions: wire.StartOptions{ProviderOptions: json.RawMessage(`{"seed":7}`)},
	})
	job := redriveTest{s}.die(e)
	s.ended(wire.Failed)
	result := redriveTest{s}.redrive(e, job)
	s.same("the options", string(s.run(result.RunID).ProviderOptions), `{"seed":7}`)
}

// testProviderOptionsRefused asks for options that the agent does not allow. The start is refused and
// changes nothing.
func testProviderOptionsRefused(s *engineTest) {
	c := s.config(echo())
	c.Agents[0].ProviderOptions = []string{"seed"}
	other := c.Agents[0]
	other.Name, other.ProviderOptions = "strict", nil
	c.Agents = append(c.Agents, other)
	c.StrictProviderOptions = true
	e := s.engine(c)
	for _, bad := range []struct{ agent, options, want string }{
		{
			"", `{"seed":7,"temperature":1}`, `providerOptions.temperature is not allowed by the configuration of the agent "a"`,
		},
		{"", `{"Seed":7}`, "providerOptions.Seed is not allowed"},
		{"strict", `{"seed":7}`, "providerOptions.seed is not allowed"},
		{"", `{"seed":7,"seed":8}`, "providerOptions.seed is there twice"},
		{"", `[1]`, "providerOptions must be an object"},
		{"", `{"seed":}`, "providerOptions is not JSON"},
		{"", `{"seed":"` + strings.Repeat("x", 20<<10) + `"}`, "providerOptions is longer than 16384 bytes"},
	} {
		_, err := e.Run(context.Background(), chat,
			wire.StartRequest{
				Prompt: "go", StartOptions: wire.StartOptions{Agent: bad.agent, ProviderOptions: json.RawMessage(bad.options)},
			})
		if spool.CodeOf(err) != spool.Invalid || !strings.HasPrefix(spool.MessageOf(err), bad.want) {
			s.Errorf("%.40s: %v, want %s", bad.options, err, bad.want)
		}
	}
	if _, err := e.Snapshot(context.Background(), chat, nil); spool.CodeOf(err) != spool.NotFound {
		s.Errorf("a refused start has made a thread: %v", err)
	}
}

// testProviderOptionsIgnored asks for options that the agent does not allow, of an engine that is not strict. The run
// has the others, and the result says what was left out.
func testProviderOptionsIgnored(s *engineTest) {
	c := s.config(echo())
	c.Agents[0].ProviderOptions = []string{"seed"}
	e := s.engine(c)
	for i, ask := range []struct{ options, kept, warning string }{
		{`{"seed":7}`, `{"seed":7}`, ""},
		{
			`{"temperature":1,"seed":7,"model":"x"}`, `{"seed":7}`,
			`ignored of providerOptions, because the configuration of the agent "a" does not allow it: "model", "temperature"`,
		},
		{
			`{"Seed":7}`, "", `ignored of providerOptions, because the configuration of the agent "a" does not allow it: "Seed"`,
		},
	} {
		key := threadKey(spool.ThreadID("options" + strconv.Itoa(i)))
		for range 2 { // the second is the first one again
			r, err := e.Run(context.Background(), key,
				wire.StartRequest{
					Prompt: "go", IdempotencyKey: string(key.ID),
					StartOptions: wire.StartOptions{ProviderOptions: json.RawMessage(ask.options)},
				})
			if err != nil || !r.Accepted || r.Warning != ask.warning {
				s.Errorf("%s: %+v, %v", ask.options, r, err)
			}
			s.same("the options", string(s.runsOf(key)[0].ProviderOptions), ask.kept)
		}
	}
}
