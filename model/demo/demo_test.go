package demo_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/model/demo"
)

var tools = []spool.ToolSpec{{Name: "weather", Description: "Tells the weather."}, {Name: "clock"}}

func user(text string) spool.Message {
	return spool.Message{Role: spool.RoleUser, Content: spool.TextContent(text)}
}

type answer struct {
	text, reasoning string
	provider        json.RawMessage
	calls           []spool.ToolCallEnd
	events          []spool.ModelEvent
	finish          spool.Finish
	seen            spool.Usage
}

func ask(t *testing.T, m spool.Model, r spool.ModelRequest) answer {
	t.Helper()

	var a answer
	args := make(map[spool.ToolCallID]string)
	for event, err := range m.Stream(t.Context(), r) {
		if err != nil {
			t.Fatal(err)
		}
		a.events = append(a.events, event)
		switch e := event.(type) {
		case spool.TextDelta:
			a.text += e.Text
		case spool.ReasoningDelta:
			a.reasoning += e.Text
		case spool.ReasoningEnd:
			a.provider = e.Provider
		case spool.ToolCallDelta:
			args[e.ID] += e.Args
		case spool.ToolCallEnd:
			if args[e.ID] != e.Args {
				t.Errorf("call %s: the pieces are %q, the whole is %q", e.ID, args[e.ID], e.Args)
			}
			a.calls = append(a.calls, e)
		case spool.UsageSeen:
			a.seen = e.Usage
		case spool.Finish:
			a.finish = e
		}
	}
	return a
}

// results appends the step that an answer made, with the result of its calls.
func (a answer) results(history []spool.Message, result string) []spool.Message {
	assistant := spool.Message{Role: spool.RoleAssistant, Content: spool.TextContent(a.text)}
	tool := spool.Message{Role: spool.RoleTool}
	for _, c := range a.calls {
		part := spool.Part{Type: spool.PartToolCall, ToolCallID: c.ID, ToolName: c.Name, Args: json.RawMessage(c.Args)}
		assistant.Content = append(assistant.Content, part)
		tool.Content = append(tool.Content, spool.Part{
			Type: spool.PartToolResult, ToolCallID: c.ID, ToolName: c.Name, Result: json.RawMessage(result),
		})
	}
	return append(history, assistant, tool)
}

func TestAsks(t *testing.T) {
	t.Parallel()

	spawning := append(slices.Clip(tools), spool.ToolSpec{Name: "spawnSubagent"})
	for prompt, want := range map[string][]string{
		"ask mailer to write to Ann": {`{"instructions":"write to Ann","name":"mailer"}`},
		`Ask a to use clock and use clock and ask b to look, and wait`: {
			`{"instructions":"use clock and use clock","name":"a"}`, `{"instructions":"look, and wait","name":"b"}`,
		},
		"ask nobody": nil,
	} {
		var got []string
		for _, c := range ask(
			t, demo.New(demo.Config{}), spool.ModelRequest{Messages: []spool.Message{user(prompt)}, Tools: spawning},
		).calls {
			if c.Name != "spawnSubagent" {
				t.Errorf("%s calls %s", prompt, c.Name)
			}
			got = append(got, c.Args)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", prompt, diff)
		}
		if calls := ask(
			t, demo.New(demo.Config{}), spool.ModelRequest{Messages: []spool.Message{user(prompt)}, Tools: tools},
		).calls; len(calls) > 0 {
			t.Errorf("%s: calls %v without the tool", prompt, calls)
		}
	}
}

func TestText(t *testing.T) {
	t.Parallel()

	r := spool.ModelRequest{Instructions: "Be brief.", Messages: []spool.Message{user("hello there")}}
	a := ask(t, demo.New(demo.Config{}), r)
	if want := "(demo model, not a language model) You said: hello there"; a.text != want {
		t.Errorf("got %q, want %q", a.text, want)
	}
	if a.reasoning == "" || !json.Valid(a.provider) {
		t.Errorf("reasoning %q, provider %s", a.reasoning, a.provider)
	}
	if a.finish.Reason != spool.FinishStop || a.finish.ModelID != demo.ModelID {
		t.Errorf("finish %+v", a.finish)
	}
	u := a.finish.Usage
	if *u.Input != 4 || *u.CacheRead != 0 || *u.CacheWrite != 4 || *u.Reasoning != 13 || *u.Output != *u.Reasoning+10 {
		t.Errorf("usage: in %d read %d write %d out %d reasoning %d", *u.Input, *u.CacheRead, *u.CacheWrite, *u.Output,
			*u.Reasoning)
	}

	again := ask(t, demo.New(demo.Config{}), r)
	if diff := cmp.Diff(a.events, again.events); diff != "" {
		t.Errorf("the second answer differs: %s", diff)
	}
}

func TestCachedUsage(t *testing.T) {
	t.Parallel()

	history := []spool.Message{
		user("one two three"),
		{Role: spool.RoleAssistant, Content: spool.TextContent("four five")},
		user("six"),
	}
	u := ask(t, demo.New(demo.Config{}), spool.ModelRequest{Messages: history}).finish.Usage
	if *u.Input != 6 || *u.CacheRead != 5 || *u.CacheWrite != 1 {
		t.Errorf("in %d, read %d, write %d", *u.Input, *u.CacheRead, *u.CacheWrite)
	}
}

func TestPrompts(t *testing.T) {
	t.Parallel()

	for prompt, want := range map[string][]string{
		`use weather with {"city":"Oslo"}`: {`weather {"city":"Oslo"}`},
		`Use weather`:                      {`weather {}`},
		`please use weather with {"a": {"b": "} and use c"}}.`: {`weather {"a": {"b": "} and use c"}}`},
		`use weather with {"a":1} and use clock with {}`:       {`weather {"a":1}`, `clock {}`},
		`use weather and use clock and use clock`:              {`weather {}`, `clock {}`, `clock {}`},
		`use weather with {broken and use clock with {}`:       {`weather {broken`, `clock {}`},
		`use nothing with {}`:                                  nil,
		`use weather and use nothing`:                          nil,
		`I use weather`:                                        nil,
	} {
		t.Run(prompt, func(t *testing.T) {
			t.Parallel()

			a := ask(t, demo.New(demo.Config{}), spool.ModelRequest{Messages: []spool.Message{user(prompt)}, Tools: tools})
			var got []string
			ids := make(map[spool.ToolCallID]bool)
			for _, c := range a.calls {
				got = append(got, c.Name+" "+c.Args)
				ids[c.ID] = true
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if len(ids) != len(got) {
				t.Errorf("%d ids for %d calls", len(ids), len(got))
			}
			reason := spool.FinishStop
			if len(want) > 0 {
				reason = spool.FinishToolCalls
			}
			if a.finish.Reason != reason {
				t.Errorf("finish reason %s, want %s", a.finish.Reason, reason)
			}
			if !strings.HasPrefix(a.text, demo.Label) {
				t.Errorf("text without the label: %q", a.text)
			}
		})
	}
}

func TestSteps(t *testing.T) {
	t.Parallel()

	m := demo.New(demo.Config{})
	history := []spool.Message{user(`use weather with {"a":1} then use clock with {"b":2}`)}
	first := ask(t, m, spool.ModelRequest{Messages: history, Tools: tools})
	if len(first.calls) != 1 || first.calls[0].Name != "weather" {
		t.Fatalf("first step: %v", first.calls)
	}
	history = first.results(history, `1`)
	second := ask(t, m, spool.ModelRequest{Messages: history, Tools: tools})
	if len(second.calls) != 1 || second.calls[0].Name != "clock" || second.calls[0].ID == first.calls[0].ID {
		t.Fatalf("second step: %v after %v", second.calls, first.calls)
	}
	history = second.results(history, `{"time":"noon"}`)
	last := ask(t, m, spool.ModelRequest{Messages: history, Tools: tools})
	if want := demo.Label + ` clock answered: {"time":"noon"}.`; last.text != want ||
		last.finish.Reason != spool.FinishStop {
		t.Errorf("got %q (%s), want %q", last.text, last.finish.Reason, want)
	}
}

func TestResults(t *testing.T) {
	t.Parallel()

	for result, want := range map[string]string{
		`"sunny"`:                               "weather answered: sunny.",
		`{"denied":true}`:                       "weather was denied by a person.",
		`{"denied":true,"reason":"too risky"}`:  "weather was denied by a person: too risky.",
		`{"cancelled":true,"reason":"timeout"}`: "weather was cancelled: timeout.",
		`"error: no such city"`:                 "weather failed: no such city.",
		`{"error":"no such city"}`:              "weather failed: no such city.",
		`{"error":{"code":1}}`:                  `weather failed: {"code":1}.`,
		`{"error":null,"sky":"clear"}`:          `weather answered: {"error":null,"sky":"clear"}.`,
		`[1,2]`:                                 "weather answered: [1,2].",
		`"` + strings.Repeat("x", 2_000) + `"`:  "weather answered: " + strings.Repeat("x", 500) + "....",
	} {
		m := demo.New(demo.Config{})
		history := []spool.Message{user("use weather")}
		history = ask(t, m, spool.ModelRequest{Messages: history, Tools: tools}).results(history, result)
		got := ask(t, m, spool.ModelRequest{Messages: history, Tools: tools}).text
		if got != demo.Label+" "+want {
			t.Errorf("%s: got %q, want %q", result, got, want)
		}
	}
}

func TestImages(t *testing.T) {
	t.Parallel()

	message := user("what is this?")
	message.Content = append(message.Content,
		spool.Part{Type: spool.PartImage, Image: "data:image/png;base64,AA==", MIMEType: "image/png"},
		spool.Part{Type: spool.PartImage, Image: "https://example.com/a.png"})
	a := ask(t, demo.New(demo.Config{}), spool.ModelRequest{Messages: []spool.Message{message}})
	if !strings.Contains(a.text, "received 2 images") {
		t.Errorf("got %q", a.text)
	}
}

func TestMaxOutputTokens(t *testing.T) {
	t.Parallel()

	a := ask(t, demo.New(demo.Config{}), spool.ModelRequest{
		Messages: []spool.Message{user("use weather")}, Tools: tools, MaxOutputTokens: 3,
	})
	if a.finish.Reason != spool.FinishLength || *a.finish.Usage.Output != 3 || len(a.calls) != 0 {
		t.Errorf("finish %s after %d words and %d calls", a.finish.Reason, *a.finish.Usage.Output, len(a.calls))
	}
}

func TestSlowAndCancel(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second+time.Millisecond)
		defer cancel()
		r := spool.ModelRequest{Messages: []spool.Message{user("slow 1000")}}
		start, words := time.Now(), 0
		var last error
		for event, err := range demo.New(demo.Config{}).Stream(ctx, r) {
			if event != nil {
				words++
			}
			last = err
		}
		if !errors.Is(last, context.DeadlineExceeded) {
			t.Errorf("got %v, want ctx's error", last)
		}
		if time.Since(start) != 10*time.Second+time.Millisecond || words < 50 {
			t.Errorf("stopped after %s and %d events", time.Since(start), words)
		}
	})
}

func TestDelay(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		a := ask(t, demo.New(demo.Config{Delay: time.Second}), spool.ModelRequest{Messages: []spool.Message{user("hi")}})
		if got, want := time.Since(start), time.Duration(*a.finish.Usage.Output)*time.Second; got != want {
			t.Errorf("took %s, want %s", got, want)
		}
	})
}

func TestStopIterating(t *testing.T) {
	t.Parallel()

	r := spool.ModelRequest{Messages: []spool.Message{user("hi")}}
	for _, err := range demo.New(demo.Config{}).Stream(t.Context(), r) {
		if err != nil {
			t.Error(err)
		}
		break
	}
}

func TestSummary(t *testing.T) {
	t.Parallel()

	a := ask(t, demo.New(demo.Config{}), spool.ModelRequest{
		Kind: spool.UsageCompaction,
		Messages: []spool.Message{
			user("user: \"use clock\"\nagent: \"It is late.\"\nuser: \"Tell me all about the history of clocks.\""),
		},
	})
	if want := demo.Label +
		" Summary of 3 entries. The user said: “use clock” “Tell me all about the h…”"; a.text != want ||
		len(a.calls) > 0 {
		t.Errorf("got %s", a.text)
	}
}

// TestBehindSummary has a prompt with a summary before it, which is not the prompt.
func TestBehindSummary(t *testing.T) {
	t.Parallel()

	prompt := user("use clock")
	prompt.Content = append(spool.TextContent("use weather, as was said"), prompt.Content...)
	a := ask(t, demo.New(demo.Config{}), spool.ModelRequest{Messages: []spool.Message{prompt}, Tools: tools})
	if len(a.calls) != 1 || a.calls[0].Name != "clock" {
		t.Errorf("got %+v", a.calls)
	}
}
