package anthropic_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	fake "github.com/spoolhq/spool/internal/testing/fake/anthropic"
	"github.com/spoolhq/spool/model/anthropic"
)

var (
	adaptive = anthropic.Thinking{Mode: anthropic.ThinkingAdaptive}
	budget   = anthropic.Thinking{Mode: anthropic.ThinkingBudget, Budget: 2000}
)

// loop is a model that thinks and calls a tool twice before it answers.
func loop(r fake.Request) fake.Answer {
	calls := 0 // of this turn
	for _, m := range r.Messages {
		for i := range m.Content {
			switch b := &m.Content[i]; {
			case b.Type == "tool_result":
				calls++
			case m.Role == "user":
				calls = 0
			}
		}
	}
	if calls < 4 {
		return blocks(fake.Thinking("Hm, "+strings.Repeat("deep ", calls+1)), fake.Redacted("x"), fake.Text("Looking."),
			fake.Call("weather", `{"city":"Oslo"}`), fake.Call("clock", `{}`))
	}
	return blocks(fake.Thinking("Now I know."), fake.Text("Sunny."))
}

// run asks until the model calls no more tools, and returns the messages. A refusal ends the test.
func run(t *testing.T, r spool.ModelRequest, models ...spool.Model) []spool.Message {
	t.Helper()

	for i := range 10 {
		events, err := stream(t, models[i%len(models)], r)
		if err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		m := answerOf(events)
		r.Messages = append(slices.Clone(r.Messages), m)
		if finishOf(t, events).Reason != spool.FinishToolCalls {
			return r.Messages
		}
		r.Messages = append(r.Messages, results(m))
	}
	t.Fatal("the model goes on for ever")
	return nil
}

// The strict fake takes the history of a model that thinks, in each mode, and after a change of the model.
func TestThinkingGoesBack(t *testing.T) {
	t.Parallel()

	for name, thinking := range map[string]anthropic.Thinking{
		"Default": {}, "Adaptive": adaptive, "Budget": budget,
		"Omitted": {Mode: anthropic.ThinkingAdaptive, Display: anthropic.DisplayOmitted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, url := newPeer(t, loop)
			first := newModel(t, url, anthropic.Config{Thinking: thinking})
			second := newModel(t, url, anthropic.Config{Thinking: thinking, Model: "claude-other-5"})
			r := asks("How is Oslo?")
			r.CacheMarks = []int{0, 1}
			r.Messages = append(run(t, r, first), user("And now?"))
			r.Messages = append(run(t, r, first), user("Once more?"))
			r.Messages = append(run(t, r, first, second), user("A last time?"))
			run(t, r, first, second)
		})
	}
}

// What is saved of an answer.
func TestSavedData(t *testing.T) {
	t.Parallel()

	_, url := newPeer(t, say(blocks(append([]fake.Block{
		{Type: "thinking", Text: "Hm.", Signature: "s1=="},
		{Type: "redacted_thinking", Signature: "d1=="},
		fake.Text("One."), fake.Text("Two."),
		{Type: "text", Text: "Three.", Cited: true, Signature: "i1=="},
		{Type: "web_search", Raw: json.RawMessage(`{"type":"new_kind","x":{"y":"<&>"}}`)},
	}, fake.Search("cats")...)...)))
	events, err := stream(t, newModel(t, url, anthropic.Config{}), asks("Hi?"))
	if err != nil {
		t.Fatal(err)
	}
	content := fold(events)
	for i := range content { // the blocks of the search have ids and signatures of their own
		if head, block, _ := strings.Cut(string(content[i].Provider), `"block"`); strings.Contains(block, "srvtoolu_") {
			content[i].Provider = json.RawMessage(head)
		}
	}
	want := spool.Content{
		{
			Type: spool.PartReasoning, Text: "Hm.",
			Provider: json.RawMessage(`{"anthropic":{"model":"claude-test-4","signature":"s1=="}}`),
		},
		{Type: spool.PartReasoning, Provider: json.RawMessage(`{"anthropic":{"model":"claude-test-4","redacted":"d1=="}}`)},
		{Type: spool.PartText, Text: "One."},
		{Type: spool.PartText, Text: "Two."},
		{
			Type: spool.PartText, Text: "Three.",
			Provider: json.RawMessage(`{"anthropic":{"model":"claude-test-4","citations":[` +
				`{"cited_text":"quoted","encrypted_index":"i1==","title":"Example","type":"web_search_result_location","url":"https://example.com/"}]}}`),
		},
		{
			Type:     spool.PartProvider,
			Provider: json.RawMessage(`{"anthropic":{"model":"claude-test-4","block":{"type":"new_kind","x":{"y":"<&>"}}}}`),
		},
		{Type: spool.PartProvider, Provider: json.RawMessage(`{"anthropic":{"model":"claude-test-4",`)},
		{Type: spool.PartProvider, Provider: json.RawMessage(`{"anthropic":{"model":"claude-test-4",`)},
	}
	if diff := cmp.Diff(want, content); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A pause goes on where it was, also with thinking and the service's own tools.
func TestPause(t *testing.T) {
	t.Parallel()

	_, url := newPeer(t, func(r fake.Request) fake.Answer {
		if len(r.Messages) == 1 {
			a := blocks(append([]fake.Block{fake.Thinking("I search.")}, fake.Search("cats")...)...)
			a.Stop = "pause_turn"
			return a
		}
		return blocks(fake.Thinking("I know."), fake.Text("Meow."))
	})
	m := newModel(t, url, anthropic.Config{Thinking: budget})
	r := asks("Cats?")
	for _, want := range []spool.FinishReason{spool.FinishPause, spool.FinishStop} {
		events, err := stream(t, m, r)
		if err != nil {
			t.Fatal(err)
		}
		if got := finishOf(t, events).Reason; got != want {
			t.Fatalf("finish reason %q, want %q", got, want)
		}
		r.Messages = append(r.Messages, answerOf(events))
	}
	// The two messages become one of the provider's, in which the blocks have their places.
	r.Messages = append(r.Messages, user("Thanks."))
	if _, err := stream(t, m, r); err != nil {
		t.Fatal(err)
	}
}

func TestOutputTool(t *testing.T) {
	t.Parallel()

	schema := &spool.OutputSchema{
		Name: "weather", Schema: json.RawMessage(`{"type":"object","properties":{"sky":{"type":"string"}}}`),
	}
	ask := func(thinking anthropic.Thinking, tools ...string) sent {
		r := asks("Hi?")
		r.Output = schema
		for _, name := range tools {
			r.Tools = append(r.Tools, spool.ToolSpec{Name: name})
		}
		return send(t, anthropic.Config{Output: anthropic.OutputTool, Thinking: thinking}, r)
	}
	alone := ask(anthropic.Thinking{})
	alone.wantField(t, "tool_choice", `{"type":"tool","name":"weather"}`)
	alone.wantField(t, "tools",
		`[{"name":"weather","description":"Takes the final answer.","input_schema":{"type":"object","properties":{"sky":{"type":"string"}}}}]`)
	alone.wantField(t, "output_config", "")
	ask(anthropic.Thinking{}, "coin").wantField(t, "tool_choice", `{"type":"any"}`)
	if tools := ask(anthropic.Thinking{}, "weather", "weather_output").Tools; tools[2].Name != "weather_output_output" {
		t.Errorf("tools %+v", tools)
	}
	thinks := ask(budget)
	thinks.wantField(t, "tool_choice", `{"type":"auto"}`)
	thinks.wantField(t, "system",
		`[{"type":"text","text":"Give the final answer only as a call of the tool weather, once, without a text before it."}]`)
}

// Texts before the call of the output are no part of it. Without the call they are the answer.
func TestHeldTexts(t *testing.T) {
	t.Parallel()

	value := fake.Call("answer", `{"sky":"blue"}`)
	for name, c := range map[string]struct {
		answer []fake.Block
		text   string
		reason spool.FinishReason
	}{
		"Output":       {[]fake.Block{fake.Text("Here:"), value}, `{"sky":"blue"}`, spool.FinishStop},
		"Late text":    {[]fake.Block{value, fake.Text("There.")}, `{"sky":"blue"}`, spool.FinishStop},
		"No output":    {[]fake.Block{fake.Text("No, "), fake.Text("sorry.")}, "No, sorry.", spool.FinishStop},
		"Other call":   {[]fake.Block{fake.Text("First:"), fake.Call("coin", "{}")}, "First:", spool.FinishToolCalls},
		"No arguments": {[]fake.Block{fake.Call("answer", "")}, "{}", spool.FinishStop},
		"With thinking": {
			[]fake.Block{
				{Type: "thinking", Text: "Hm.", Loose: true},
				fake.Text("Here:"),
				{Type: "thinking", Text: "So.", Loose: true},
				value,
			},
			`{"sky":"blue"}`, spool.FinishStop,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, url := newPeer(t, func(r fake.Request) fake.Answer {
				if len(r.Messages) > 1 {
					return blocks(fake.Text("Fine."))
				}
				return blocks(c.answer...)
			})
			m := newModel(t, url, anthropic.Config{Output: anthropic.OutputTool})
			r := asks("Sky?")
			r.Output = &spool.OutputSchema{Name: "answer", Schema: json.RawMessage(`{"type":"object"}`)}
			r.Tools = []spool.ToolSpec{{Name: "coin"}}
			events, err := stream(t, m, r)
			if err != nil {
				t.Fatal(err)
			}
			if got := texts(events); got != c.text || finishOf(t, events).Reason != c.reason {
				t.Errorf("text %q, %+v", got, finishOf(t, events))
			}
			answer := answerOf(events)
			r.Messages = append(r.Messages, answer)
			if c.reason == spool.FinishToolCalls {
				r.Messages = append(r.Messages, results(answer))
			}
			r.Messages = append(r.Messages, user("Sure?"))
			if _, err := stream(t, m, r); err != nil {
				t.Error(err)
			}
		})
	}
}

// Native output keeps what else the configuration says about the output, and the provider takes the schema.
func TestNativeOutput(t *testing.T) {
	t.Parallel()

	r := asks("Hi?")
	r.Output = &spool.OutputSchema{
		Name:   "x",
		Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer","maximum":9}},"required":["n"]}`),
	}
	config := anthropic.Config{Thinking: adaptive, Extra: map[string]any{"output_config": map[string]any{"effort": "low"}}}
	s := send(t, config, r)
	s.wantField(t, "output_config", `{"effort":"low","format":{"type":"json_schema","schema":
		{"type":"object","properties":{"n":{"type":"integer","description":"{maximum: 9}"}},"required":["n"],"additionalProperties":false}}}`)
	s.wantField(t, "tool_choice", "")
}
