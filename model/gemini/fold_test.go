package gemini_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/spoolhq/spool"
)

// answer is what a model has said.
type answer struct {
	message spool.Message
	finish  spool.Finish
	usages  []spool.Usage
	err     error
}

// ask streams an answer and folds it into a message, as the engine does.
func ask(ctx context.Context, m spool.Model, r spool.ModelRequest) answer {
	a := answer{message: spool.Message{Role: spool.RoleAssistant}}
	var open spool.PartType
	add := func(p spool.Part) { a.message.Content = append(a.message.Content, p) }
	extend := func(kind spool.PartType, text string) {
		if open != kind {
			add(spool.Part{Type: kind})
		}
		open = kind
		a.message.Content[len(a.message.Content)-1].Text += text
	}
	end := func(kind spool.PartType, provider json.RawMessage) {
		if open == kind {
			a.message.Content[len(a.message.Content)-1].Provider = provider
		} else if provider != nil {
			add(spool.Part{Type: kind, Provider: provider})
		}
		open = ""
	}
	for event, err := range m.Stream(ctx, r) {
		if err != nil {
			a.err = err
			return a
		}
		switch e := event.(type) {
		case spool.TextDelta:
			extend(spool.PartText, e.Text)
		case spool.TextEnd:
			end(spool.PartText, e.Provider)
		case spool.ReasoningDelta:
			extend(spool.PartReasoning, e.Text)
		case spool.ReasoningEnd:
			end(spool.PartReasoning, e.Provider)
		case spool.ProviderPart:
			open = ""
			add(spool.Part{Type: spool.PartProvider, Provider: e.Provider})
		case spool.FileMade:
			open = ""
			add(spool.Part{
				Type: spool.PartImage, Image: "data:" + e.MediaType + ";base64," + base64.StdEncoding.EncodeToString(e.Data),
				MIMEType: e.MediaType, Provider: e.Provider,
			})
		case spool.ToolCallEnd:
			open = ""
			add(spool.Part{
				Type: spool.PartToolCall, ToolCallID: e.ID, ToolName: e.Name, Args: json.RawMessage(e.Args), Provider: e.Provider,
			})
		case spool.UsageSeen:
			a.usages = append(a.usages, e.Usage)
		case spool.Finish:
			a.finish = e
		}
	}
	return a
}

// mustAsk is ask for an answer that finishes.
func mustAsk(t *testing.T, m spool.Model, r spool.ModelRequest) answer {
	t.Helper()

	a := ask(t.Context(), m, r)
	if a.err != nil {
		t.Fatal(a.err)
	}
	return a
}

// mustFail is ask for an answer that ends with a model error.
func mustFail(t *testing.T, m spool.Model, r spool.ModelRequest) *spool.ModelError {
	t.Helper()

	a := ask(t.Context(), m, r)
	e, ok := errors.AsType[*spool.ModelError](a.err)
	if !ok {
		t.Fatalf("got %+v, want a ModelError", a)
	}
	return e
}

func user(text string) spool.Message {
	return spool.Message{Role: spool.RoleUser, Content: spool.TextContent(text)}
}

// hello is a request that any model answers.
func hello() spool.ModelRequest {
	return spool.ModelRequest{Messages: []spool.Message{user("Hello?")}}
}

// resultsOf returns a message with a result for each call of an answer.
func resultsOf(m spool.Message) spool.Message {
	out := spool.Message{Role: spool.RoleTool}
	for i, c := range m.ToolCalls() {
		out.Content = append(out.Content, spool.Part{
			Type: spool.PartToolResult, ToolCallID: c.ToolCallID, ToolName: c.ToolName,
			Result: json.RawMessage(fmt.Sprintf(`{"n":%d}`, i)),
		})
	}
	return out
}
