package aimock_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/model/openai"
	"github.com/spoolhq/spool/test/aimock"
)

func user(text string) []spool.Message {
	return []spool.Message{{Role: spool.RoleUser, Content: spool.TextContent(text)}}
}

type answer struct {
	text, reasoning string
	calls           []spool.ToolCallEnd
	finish          spool.Finish
	err             error
}

func ask(ctx context.Context, m spool.Model, r spool.ModelRequest) answer {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var a answer
	for event, err := range m.Stream(ctx, r) {
		if err != nil {
			a.err = err
			break
		}
		switch e := event.(type) {
		case spool.TextDelta:
			a.text += e.Text
		case spool.ReasoningDelta:
			a.reasoning += e.Text
		case spool.ToolCallEnd:
			a.calls = append(a.calls, e)
		case spool.Finish:
			a.finish = e
		}
	}
	return a
}

func TestOpenAI(t *testing.T) {
	t.Parallel()

	server := aimock.Start(t, "testdata/openai.json")
	open := func(t *testing.T, path string) spool.Model {
		t.Helper()

		m, err := openai.New(openai.Config{
			BaseURL: server.URL + path, APIKey: "sk-test", Model: "gpt-5", IdleTimeout: 300 * time.Millisecond,
			HeaderTimeout: 2 * time.Second,
		})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}

	t.Run("Text", func(t *testing.T) {
		t.Parallel()

		a := ask(t.Context(), open(t, "/v1"), spool.ModelRequest{Instructions: "Be kind.", Messages: user("plain text")})
		if a.err != nil || a.text != "Hello from the other side, in several pieces." || a.finish.Reason != spool.FinishStop {
			t.Fatalf("got %+v", a)
		}
		if u := a.finish.Usage; u.Input == nil || *u.Input != 12 || u.Output == nil || *u.Output != 9 {
			t.Errorf("usage %+v", u)
		}
	})

	t.Run("Reasoning", func(t *testing.T) {
		t.Parallel()

		for _, path := range []string{"/v1", "/api/v1"} {
			a := ask(t.Context(), open(t, path), spool.ModelRequest{Messages: user("think first")})
			if a.err != nil || a.reasoning != "Six times seven." || a.text != "Forty-two." {
				t.Errorf("%s: got %+v", path, a)
			}
		}
	})

	t.Run("ParallelTools", func(t *testing.T) {
		t.Parallel()

		r := spool.ModelRequest{Messages: user("both tools"), Tools: []spool.ToolSpec{{Name: "weather"}, {Name: "clock"}}}
		a := ask(t.Context(), open(t, "/v1"), r)
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
				Type: spool.PartToolCall, ToolCallID: c.ID, ToolName: c.Name, Args: json.RawMessage(c.Args),
			})
			results.Content = append(results.Content, spool.Part{
				Type: spool.PartToolResult, ToolCallID: c.ID, ToolName: c.Name, Result: json.RawMessage(`{"ok":true}`),
			})
		}
		r.Messages = append(r.Messages, asked, results)
		if a := ask(t.Context(), open(t, "/v1"), r); a.err != nil || a.text != "Clear, and noon." {
			t.Errorf("after the results: %+v", a)
		}
	})

	// The server tells cached tokens where it plays OpenRouter only.
	t.Run("CachedUsage", func(t *testing.T) {
		t.Parallel()

		a := ask(t.Context(), open(t, "/api/v1"), spool.ModelRequest{Messages: user("cached")})
		u := a.finish.Usage
		if a.err != nil || u.CacheRead == nil || *u.CacheRead != 60 || u.Reasoning == nil || *u.Reasoning != 8 {
			t.Errorf("got %+v", a)
		}
	})

	t.Run("Length", func(t *testing.T) {
		t.Parallel()

		if a := ask(
			t.Context(), open(t, "/v1"), spool.ModelRequest{Messages: user("too long")},
		); a.finish.Reason != spool.FinishLength {
			t.Errorf("got %+v", a)
		}
	})

	t.Run("RateLimited", func(t *testing.T) {
		t.Parallel()

		a := ask(t.Context(), open(t, "/v1"), spool.ModelRequest{Messages: user("slow down")})
		var m *spool.ModelError
		if !errors.As(a.err, &m) || m.Status != 429 || m.After != 7*time.Second || m.Type != "rate_limit_exceeded" {
			t.Errorf("got %+v", m)
		}
	})

	for name, prompt := range map[string]string{"Cut": "cut off", "Idle": "take your time"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			a := ask(t.Context(), open(t, "/v1"), spool.ModelRequest{Messages: user(prompt)})
			var m *spool.ModelError
			if !errors.As(a.err, &m) || m.Permanent() {
				t.Errorf("got %+v", a)
			}
		})
	}

	t.Run("Cancel", func(t *testing.T) {
		t.Parallel()

		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		a := ask(ctx, open(t, "/v1"), spool.ModelRequest{Messages: user("take your time")})
		if !errors.Is(a.err, context.DeadlineExceeded) {
			t.Errorf("got %v", a.err)
		}
		if _, ok := errors.AsType[*spool.ModelError](a.err); ok {
			t.Errorf("the context's end is put on the provider: %v", a.err)
		}
	})

	t.Run("Image", func(t *testing.T) {
		t.Parallel()

		r := spool.ModelRequest{Messages: user("what is this")}
		r.Messages[0].Content = append(r.Messages[0].Content,
			spool.Part{Type: spool.PartImage, Image: "data:image/png;base64,iVBORw0KGgo"})
		if a := ask(t.Context(), open(t, "/v1"), r); a.err != nil || a.text != "A cat." {
			t.Fatalf("got %+v", a)
		}
		seen := false
		for _, body := range server.Journal(t) {
			seen = seen || strings.Contains(string(body), "iVBORw0KGgo")
		}
		if !seen {
			t.Error("the server did not get the image")
		}
	})
}
