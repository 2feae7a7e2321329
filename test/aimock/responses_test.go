package aimock_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/model/responses"
	"github.com/spoolhq/spool/test/aimock"
)

func TestResponses(t *testing.T) {
	t.Parallel()

	server := aimock.Start(t, "testdata/openai.json")
	m, err := responses.New(responses.Config{
		BaseURL: server.URL + "/v1", APIKey: "sk-test", Model: "gpt-5", IdleTimeout: 300 * time.Millisecond,
		HeaderTimeout: 2 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}

	t.Run("Text", func(t *testing.T) {
		t.Parallel()

		a := ask(t.Context(), m, spool.ModelRequest{Instructions: "Be kind.", Messages: user("plain text")})
		if a.err != nil || a.text != "Hello from the other side, in several pieces." || a.finish.Reason != spool.FinishStop {
			t.Fatalf("got %+v", a)
		}
		if u := a.finish.Usage; u.Input == nil || *u.Input != 12 || u.Output == nil || *u.Output != 9 {
			t.Errorf("usage %+v", u)
		}
	})

	t.Run("Reasoning", func(t *testing.T) {
		t.Parallel()

		r := spool.ModelRequest{Messages: user("think first")}
		var data json.RawMessage
		for event, err := range m.Stream(t.Context(), r) {
			if err != nil {
				t.Fatal(err)
			}
			if end, ok := event.(spool.ReasoningEnd); ok {
				data = end.Provider
			}
		}
		if !strings.Contains(string(data), "encrypted_content") {
			t.Errorf("the data are %s", data)
		}
		if a := ask(t.Context(), m, r); a.err != nil || a.reasoning != "Six times seven." || a.text != "Forty-two." {
			t.Errorf("got %+v", a)
		}
	})

	t.Run("ParallelTools", func(t *testing.T) {
		t.Parallel()

		r := spool.ModelRequest{Messages: user("both tools"), Tools: []spool.ToolSpec{{Name: "weather"}, {Name: "clock"}}}
		a := ask(t.Context(), m, r)
		if a.err != nil || a.finish.Reason != spool.FinishToolCalls || len(a.calls) != 2 || a.text != "I look." {
			t.Fatalf("got %+v", a)
		}
		if a.calls[0].Args != `{"city":"Oslo"}` || a.calls[1].Args != `{"zone":"UTC"}` || a.calls[0].ID == a.calls[1].ID {
			t.Errorf("calls %+v", a.calls)
		}
		asked := spool.Message{Role: spool.RoleAssistant, Content: spool.TextContent(a.text)}
		results := spool.Message{Role: spool.RoleTool}
		for _, c := range a.calls {
			asked.Content = append(asked.Content, spool.Part{
				Type: spool.PartToolCall, ToolCallID: c.ID, ToolName: c.Name, Args: json.RawMessage(c.Args), Provider: c.Provider,
			})
			results.Content = append(results.Content, spool.Part{
				Type: spool.PartToolResult, ToolCallID: c.ID, ToolName: c.Name, Result: json.RawMessage(`{"ok":true}`),
			})
		}
		r.Messages = append(r.Messages, asked, results)
		if a := ask(t.Context(), m, r); a.err != nil || a.text != "Clear, and noon." {
			t.Errorf("after the results: %+v", a)
		}
	})

	t.Run("Length", func(t *testing.T) {
		t.Parallel()

		if a := ask(t.Context(), m, spool.ModelRequest{Messages: user("too long")}); a.finish.Reason != spool.FinishLength {
			t.Errorf("got %+v", a)
		}
	})

	t.Run("RateLimited", func(t *testing.T) {
		t.Parallel()

		a := ask(t.Context(), m, spool.ModelRequest{Messages: user("slow down")})
		var e *spool.ModelError
		if !errors.As(a.err, &e) || e.Status != 429 || e.After != 7*time.Second || e.Type != "rate_limit_exceeded" {
			t.Errorf("got %+v", e)
		}
	})

	for name, prompt := range map[string]string{"Cut": "cut off", "Idle": "take your time"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			a := ask(t.Context(), m, spool.ModelRequest{Messages: user(prompt)})
			var e *spool.ModelError
			if !errors.As(a.err, &e) || e.Permanent() {
				t.Errorf("got %+v", a)
			}
		})
	}

	t.Run("Cancel", func(t *testing.T) {
		t.Parallel()

		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if a := ask(
			ctx, m, spool.ModelRequest{Messages: user("take your time")},
		); !errors.Is(a.err, context.DeadlineExceeded) {
			t.Errorf("got %v", a.err)
		}
	})

	t.Run("Image", func(t *testing.T) {
		t.Parallel()

		r := spool.ModelRequest{Messages: user("what is this")}
		r.Messages[0].Content = append(r.Messages[0].Content,
			spool.Part{Type: spool.PartImage, Image: "data:image/png;base64,iVBORw0KGgo"})
		if a := ask(t.Context(), m, r); a.err != nil || a.text != "A cat." {
			t.Fatalf("got %+v", a)
		}
	})
}
