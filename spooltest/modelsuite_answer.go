package spooltest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
)

func (s modelSuite) text(t *testing.T) {
	p := s.open(t, ModelText)
	got := askModel(t.Context(), t, p.Model, spool.ModelRequest{
		Instructions:    "Instructions-in-brief",
		Messages:        []spool.Message{userText("Prompt-in-brief")},
		MaxOutputTokens: 4321,
		Extra:           map[string]any{"spooltest_extra": "passed-on"},
	}, nil)
	got.mustFinish(t, spool.FinishStop)
	s.wantText(t, got.content.Text(), "Hello, world.")
	if got.finish.ModelID == "" {
		t.Error("no model id")
	}
	s.wantCount(t, "input", got.usage.Input, 12)
	s.wantCount(t, "output", got.usage.Output, 4)
	s.wantInRequest(t, p, 0, "Instructions-in-brief", "Prompt-in-brief", "4321", "spooltest_extra", "passed-on")
}

func (s modelSuite) parallelTools(t *testing.T) {
	p := s.open(t, ModelParallelTools)
	r := spool.ModelRequest{
		Messages: []spool.Message{userText(`use weather with {"city":"Oslo"} and use clock with {"zone":"UTC"}`)},
		Tools:    modelTools(),
	}
	got := askModel(t.Context(), t, p.Model, r, nil)
	got.mustFinish(t, spool.FinishToolCalls)
	s.wantText(t, got.content.Text(), "Looking.")
	calls := got.calls()
	if len(calls) != 2 || calls[0].ToolName != "weather" || calls[1].ToolName != "clock" {
		t.Fatalf("calls %+v", calls)
	}
	wantJSON(t, calls[0].Args, `{"city":"Oslo"}`)
	wantJSON(t, calls[1].Args, `{"zone":"UTC"}`)
	s.wantInRequest(t, p, 0, "weather", "clock", "coin", "Tells the weather.")

	r.Messages = append(r.Messages, got.stored(t), toolResults(calls, `{"sky":"result-of-weather"}`, `"result-of-clock"`))
	next := askModel(t.Context(), t, p.Model, r, nil)
	next.mustFinish(t, spool.FinishStop)
	s.wantText(t, next.content.Text(), "Done.")
	s.wantInRequest(t, p, 1, string(calls[0].ToolCallID), string(calls[1].ToolCallID), "result-of-weather",
		"result-of-clock")
}

// noCalls asks for an answer without calls, behind calls and their results. The tools stay in the request, because some
// providers refuse calls of tools that it does not have.
func (s modelSuite) noCalls(t *testing.T) {
	p := s.open(t, ModelNoCalls)
	r := spool.ModelRequest{
		Messages: []spool.Message{userText(`use weather with {"city":"Oslo"} then use coin`)}, Tools: modelTools(),
	}
	got := askModel(t.Context(), t, p.Model, r, nil)
	got.mustFinish(t, spool.FinishToolCalls)
	calls := got.calls()
	if len(calls) != 1 || calls[0].ToolName != "weather" {
		t.Fatalf("calls %+v", calls)
	}
	r.NoCalls = true
	r.Messages = append(r.Messages, got.stored(t), toolResults(calls, `"result-of-weather"`),
		userText("Answer now, please."))
	last := askModel(t.Context(), t, p.Model, r, nil)
	last.mustFinish(t, spool.FinishStop)
	if calls := last.calls(); len(calls) > 0 {
		t.Errorf("the last answer has the calls %+v", calls)
	}
	s.wantText(t, last.content.Text(), "Done.")
	s.wantInRequest(t, p, 1, "result-of-weather", "Answer now, please.", "Tells the weather.", "Flips a coin.")
}

func (s modelSuite) wholeCalls(t *testing.T) {
	p := s.open(t, ModelWholeCalls)
	got := askModel(t.Context(), t, p.Model, spool.ModelRequest{
		Messages: []spool.Message{userText(`use weather with {"city":"Oslo"} and use coin`)},
		Tools:    modelTools(),
	}, nil)
	got.mustFinish(t, spool.FinishToolCalls)
	calls := got.calls()
	if len(calls) != 2 || calls[0].ToolName != "weather" || calls[1].ToolName != "coin" {
		t.Fatalf("calls %+v", calls)
	}
	wantJSON(t, calls[0].Args, `{"city":"Oslo"}`)
	wantJSON(t, calls[1].Args, `{}`)
}

// brokenArguments checks that the text is kept, and that the history with it is a valid prompt.
func (s modelSuite) brokenArguments(t *testing.T) {
	p := s.open(t, ModelBrokenArguments)
	r := spool.ModelRequest{Messages: []spool.Message{userText("How is Oslo?")}, Tools: modelTools()}
	got := askModel(t.Context(), t, p.Model, r, nil)
	got.mustFinish(t, spool.FinishToolCalls)
	calls := got.calls()
	if len(calls) != 1 || calls[0].ToolName != "weather" {
		t.Fatalf("calls %+v", calls)
	}
	wantJSON(t, calls[0].Args, `"{\"city\":\"Os"`)
	r.Messages = append(r.Messages, got.stored(t), toolResults(calls, `"error: these arguments are no JSON"`))
	next := askModel(t.Context(), t, p.Model, r, nil)
	next.mustFinish(t, spool.FinishStop)
	s.wantText(t, next.content.Text(), "Done.")
}

func (s modelSuite) reasoning(t *testing.T) {
	p := s.open(t, ModelReasoning)
	r := spool.ModelRequest{Messages: []spool.Message{userText("The answer?")}}
	got := askModel(t.Context(), t, p.Model, r, nil)
	got.mustFinish(t, spool.FinishStop)
	s.wantText(t, got.reasoning(), "Thinking hard.")
	s.wantText(t, got.content.Text(), "Forty-two.")
	if !s.features.SignedReasoning {
		return
	}
	r.Messages = append(r.Messages, got.stored(t), userText("Sure?"))
	askModel(t.Context(), t, p.Model, r, nil).mustFinish(t, spool.FinishStop)
	s.wantInRequest(t, p, 1, "Thinking hard.")
	if !s.features.Local && !hasData(p.Requests()[1], "sig-4711") {
		t.Errorf("the signature is not in the request %s", p.Requests()[1])
	}
}

func (s modelSuite) image(t *testing.T) {
	p := s.open(t, ModelImage)
	message := userText("What is this?")
	message.Content = append(message.Content,
		spool.Part{Type: spool.PartImage, Image: "https://example.com/cat.png", MIMEType: "image/png"},
		spool.Part{Type: spool.PartImage, Image: "data:image/png;base64,iVBORw0KGgo=", MIMEType: "image/png"})
	got := askModel(t.Context(), t, p.Model, spool.ModelRequest{Messages: []spool.Message{message}}, nil)
	got.mustFinish(t, spool.FinishStop)
	s.wantText(t, got.content.Text(), "A cat.")
	s.wantInRequest(t, p, 0, "https://example.com/cat.png", "iVBORw0KGgo", "What is this?")
}

func (s modelSuite) file(t *testing.T) {
	p := s.open(t, ModelFile)
	message := userText("What does it say?")
	message.Content = append(message.Content, spool.Part{
		Type: spool.PartFile, File: "data:application/pdf;base64,JVBERi0xLjcK", FileName: "report.pdf",
		MIMEType: "application/pdf",
	})
	got := askModel(t.Context(), t, p.Model, spool.ModelRequest{Messages: []spool.Message{message}}, nil)
	got.mustFinish(t, spool.FinishStop)
	s.wantText(t, got.content.Text(), "A report.")
	s.wantInRequest(t, p, 0, "JVBERi0xLjcK", "application/pdf", "What does it say?")
}

func (s modelSuite) cachedUsage(t *testing.T) {
	p := s.open(t, ModelCachedUsage)
	got := askModel(t.Context(), t, p.Model, modelHello(), nil)
	got.mustFinish(t, spool.FinishStop)
	s.wantCount(t, "input", got.usage.Input, 100)
	s.wantCount(t, "cache read", got.usage.CacheRead, 60)
	s.wantCount(t, "output", got.usage.Output, 20)
	s.wantCount(t, "reasoning", got.usage.Reasoning, 8)
}

func (s modelSuite) noUsage(t *testing.T) {
	p := s.open(t, ModelNoUsage)
	got := askModel(t.Context(), t, p.Model, modelHello(), nil)
	got.mustFinish(t, spool.FinishStop)
	if got.usage != (spool.Usage{}) {
		t.Errorf("usage %+v, want nothing", got.usage)
	}
}

func (s modelSuite) length(t *testing.T) {
	p := s.open(t, ModelLength)
	got := askModel(t.Context(), t, p.Model,
		spool.ModelRequest{Messages: []spool.Message{userText("Go on.")}, MaxOutputTokens: 2}, nil)
	got.mustFinish(t, spool.FinishLength)
	if text := got.content.Text(); text != "Too lo" && !s.features.Local {
		t.Errorf("text %q", text)
	}
}

func (s modelSuite) filter(t *testing.T) {
	p := s.open(t, ModelFilter)
	got := askModel(t.Context(), t, p.Model, modelHello(), nil)
	got.mustFinish(t, spool.FinishFilter)
	if text := got.content.Text(); !strings.HasPrefix(text, "I can") {
		t.Errorf("text %q", text)
	}
}

// pause sends the paused answer back, and gets the rest of it.
func (s modelSuite) pause(t *testing.T) {
	p := s.open(t, ModelPause)
	r := modelHello()
	got := askModel(t.Context(), t, p.Model, r, nil)
	got.mustFinish(t, spool.FinishPause)
	s.wantText(t, got.content.Text(), "Half")
	r.Messages = append(r.Messages, got.stored(t))
	next := askModel(t.Context(), t, p.Model, r, nil)
	next.mustFinish(t, spool.FinishStop)
	s.wantText(t, next.content.Text(), " done.")
	s.wantInRequest(t, p, 1, "Half")
}

func (s modelSuite) unknownReason(t *testing.T) {
	p := s.open(t, ModelUnknownReason)
	got := askModel(t.Context(), t, p.Model, modelHello(), nil)
	if got.err != nil {
		t.Fatal(got.err)
	}
	if reason := string(got.finish.Reason); !strings.EqualFold(reason, "spooltest_odd") {
		t.Errorf("finish reason %q", reason)
	}
	s.wantText(t, got.content.Text(), "Odd.")
}

func (s modelSuite) unknownEvents(t *testing.T) {
	p := s.open(t, ModelUnknownEvents)
	got := askModel(t.Context(), t, p.Model, modelHello(), nil)
	got.mustFinish(t, spool.FinishStop)
	s.wantText(t, got.content.Text(), "Hello, world.")
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
