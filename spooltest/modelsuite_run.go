package spooltest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
)

// TestModel checks that an adapter keeps the contract of [spool.Model]. Open is called once per
// subtest. It returns a model whose key is [ModelSecret], and a provider that answers it according to
// the scenario.
func TestModel(t *testing.T, open func(t *testing.T, scenario ModelScenario) ModelPeer, features ModelFeatures) {
	t.Helper()
	t.Parallel()

	s := modelSuite{open: open, features: features}
	for name, test := range map[string]func(*testing.T){
		"Text":              s.text,
		"ParallelTools":     s.parallelTools,
		"Reasoning":         s.reasoning,
		"Image":             s.image,
		"CachedUsage":       s.cachedUsage,
		"NoUsage":           s.noUsage,
		"Length":            s.length,
		"RateLimited":       s.rateLimited,
		"Unavailable":       s.unavailable,
		"Unauthorized":      s.unauthorized,
		"StreamError":       s.streamError,
		"Cut":               s.cut,
		"NoFinish":          s.noFinish,
		"Cancel":            s.cancel,
		"CancelBeforeWords": s.cancelBeforeWords,
		"CancelledAlready":  s.cancelledAlready,
		"StopIterating":     s.stopIterating,
		"Idle":              s.idle,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
}

type modelSuite struct {
	open     func(t *testing.T, scenario ModelScenario) ModelPeer
	features ModelFeatures
}

func userText(text string) spool.Message {
	return spool.Message{Role: spool.RoleUser, Content: spool.TextContent(text)}
}

func modelTools() []spool.ToolSpec {
	parameters := json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"},"zone":{"type":"string"}}}`)
	return []spool.ToolSpec{
		{Name: "weather", Description: "Tells the weather.", Parameters: parameters},
		{Name: "clock", Description: "Tells the time.", Parameters: parameters},
		{Name: "coin", Description: "Flips a coin."},
	}
}

func (s modelSuite) text(t *testing.T) {
	p := s.open(t, ModelText)
	got := askModel(t.Context(), t, p.Model, spool.ModelRequest{
		Instructions:    "Instructions-in-brief",
		Messages:        []spool.Message{userText("Prompt-in-brief")},
		MaxOutputTokens: 4321,
		Extra:           map[string]any{"spooltest_extra": "passed-on"},
	}, nil)
	got.mustFinish(t, spool.FinishStop)
	if text := got.content.Text(); text != "Hello, world." {
		t.Errorf("text %q", text)
	}
	if got.finish.ModelID == "" {
		t.Error("no model id")
	}
	wantCount(t, "input", got.usage.Input, 12)
	wantCount(t, "output", got.usage.Output, 4)
	wantInRequest(t, p, 0, "Instructions-in-brief", "Prompt-in-brief", "4321", "spooltest_extra", "passed-on")
}

func (s modelSuite) parallelTools(t *testing.T) {
	p := s.open(t, ModelParallelTools)
	r := spool.ModelRequest{Messages: []spool.Message{userText("How is Oslo?")}, Tools: modelTools()}
	got := askModel(t.Context(), t, p.Model, r, nil)
	got.mustFinish(t, spool.FinishToolCalls)
	if text := got.content.Text(); text != "Looking." {
		t.Errorf("text %q", text)
	}
	calls := got.calls()
	if len(calls) != 2 || calls[0].ToolName != "weather" || calls[1].ToolName != "clock" {
		t.Fatalf("calls %+v", calls)
	}
	wantJSON(t, calls[0].Args, `{"city":"Oslo"}`)
	wantJSON(t, calls[1].Args, `{"zone":"UTC"}`)
	wantInRequest(t, p, 0, "weather", "clock", "coin", "Tells the weather.")

	r.Messages = append(r.Messages,
		spool.Message{Role: spool.RoleAssistant, Content: got.content},
		spool.Message{Role: spool.RoleTool, Content: spool.Content{
			{Type: spool.PartToolResult, ToolCallID: calls[0].ToolCallID, ToolName: "weather", Result: json.RawMessage(`{"sky":"result-of-weather"}`)},
			{Type: spool.PartToolResult, ToolCallID: calls[1].ToolCallID, ToolName: "clock", Result: json.RawMessage(`"result-of-clock"`)},
		}})
	next := askModel(t.Context(), t, p.Model, r, nil)
	next.mustFinish(t, spool.FinishStop)
	if text := next.content.Text(); text != "Done." {
		t.Errorf("text %q after the results", text)
	}
	wantInRequest(t, p, 1, string(calls[0].ToolCallID), string(calls[1].ToolCallID), "result-of-weather", "result-of-clock")
}

func (s modelSuite) reasoning(t *testing.T) {
	p := s.open(t, ModelReasoning)
	r := spool.ModelRequest{Messages: []spool.Message{userText("The answer?")}}
	got := askModel(t.Context(), t, p.Model, r, nil)
	got.mustFinish(t, spool.FinishStop)
	if got.reasoning() != "Thinking hard." || got.content.Text() != "Forty-two." {
		t.Errorf("reasoning %q, text %q", got.reasoning(), got.content.Text())
	}
	if !s.features.SignedReasoning {
		return
	}
	// A thread is stored as JSON between one request and the next.
	stored, err := json.Marshal(got.content)
	if err != nil {
		t.Fatal(err)
	}
	var loaded spool.Content
	if err := json.Unmarshal(stored, &loaded); err != nil {
		t.Fatal(err)
	}
	r.Messages = append(r.Messages, spool.Message{Role: spool.RoleAssistant, Content: loaded}, userText("Sure?"))
	askModel(t.Context(), t, p.Model, r, nil).mustFinish(t, spool.FinishStop)
	wantInRequest(t, p, 1, "sig-4711", "Thinking hard.")
}

func (s modelSuite) image(t *testing.T) {
	if !s.features.Images {
		t.Skip("the provider takes no images")
	}
	p := s.open(t, ModelImage)
	message := userText("What is this?")
	message.Content = append(message.Content,
		spool.Part{Type: spool.PartImage, Image: "https://example.com/cat.png", MIMEType: "image/png"},
		spool.Part{Type: spool.PartImage, Image: "data:image/png;base64,iVBORw0KGgo", MIMEType: "image/png"})
	got := askModel(t.Context(), t, p.Model, spool.ModelRequest{Messages: []spool.Message{message}}, nil)
	got.mustFinish(t, spool.FinishStop)
	wantInRequest(t, p, 0, "https://example.com/cat.png", "iVBORw0KGgo", "What is this?")
}

func (s modelSuite) cachedUsage(t *testing.T) {
	if !s.features.CachedUsage {
		t.Skip("the provider does not tell cached tokens apart")
	}
	p := s.open(t, ModelCachedUsage)
	got := askModel(t.Context(), t, p.Model, spool.ModelRequest{Messages: []spool.Message{userText("Hi?")}}, nil)
	got.mustFinish(t, spool.FinishStop)
	wantCount(t, "input", got.usage.Input, 100)
	wantCount(t, "cache read", got.usage.CacheRead, 60)
	wantCount(t, "output", got.usage.Output, 20)
	wantCount(t, "reasoning", got.usage.Reasoning, 8)
}

func (s modelSuite) noUsage(t *testing.T) {
	p := s.open(t, ModelNoUsage)
	got := askModel(t.Context(), t, p.Model, spool.ModelRequest{Messages: []spool.Message{userText("Hi?")}}, nil)
	got.mustFinish(t, spool.FinishStop)
	if got.usage != (spool.Usage{}) {
		t.Errorf("usage %+v, want nothing", got.usage)
	}
}

func (s modelSuite) length(t *testing.T) {
	p := s.open(t, ModelLength)
	got := askModel(t.Context(), t, p.Model, spool.ModelRequest{Messages: []spool.Message{userText("Go on.")}}, nil)
	got.mustFinish(t, spool.FinishLength)
}

func wantCount(t *testing.T, what string, got *int64, want int64) {
	t.Helper()

	switch {
	case got == nil:
		t.Errorf("%s tokens: not reported, want %d", what, want)
	case *got != want:
		t.Errorf("%s tokens: %d, want %d", what, *got, want)
	}
}

func wantJSON(t *testing.T, got json.RawMessage, want string) {
	t.Helper()

	var value any
	if err := json.Unmarshal(got, &value); err != nil {
		t.Errorf("%q is no JSON: %v", got, err)
		return
	}
	if same, err := json.Marshal(value); err != nil || string(same) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func wantInRequest(t *testing.T, p ModelPeer, n int, wants ...string) {
	t.Helper()

	requests := p.Requests()
	if len(requests) != n+1 {
		t.Fatalf("the provider got %d requests, want %d", len(requests), n+1)
	}
	for _, want := range wants {
		if !strings.Contains(requests[n], want) {
			t.Errorf("%q is not in the request %s", want, requests[n])
		}
	}
}
