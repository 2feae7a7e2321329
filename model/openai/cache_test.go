package openai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/model/openai"
	"github.com/spoolhq/spool/wire"
)

// asked is a request as far as caches look at it.
type asked struct {
	Key      string            `json:"prompt_cache_key"` //nolint:tagliatelle // the provider's word
	Tools    json.RawMessage   `json:"tools"`
	Messages []json.RawMessage `json:"messages"`
}

// conversation has an engine ask a server, in two turns with two steps of tools each, and
// returns what it was asked.
func conversation(t *testing.T, cache openai.PromptCache) []asked {
	t.Helper()

	p := newPeer(t, func(w http.ResponseWriter, _ *http.Request, body string) {
		after := body[strings.LastIndex(body, `"role":"user"`):]
		if n := strings.Count(body, `"tool_call_id"`); strings.Count(after, `"tool_call_id"`) < 4 {
			call := func(i int) string {
				return fmt.Sprintf(`{"index":%d,"id":"c%d.%d","function":{"name":"look","arguments":"{\"a\":\"<b> & ü\"}"}}`, i, n,
					i)
			}
			send(w, `{"choices":[{"delta":{"content":"I look."}}]}`,
				`{"choices":[{"delta":{"tool_calls":[`+call(0)+`,`+call(1)+`]}}]}`,
				`{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`, "[DONE]")
			return
		}
		send(w, `{"choices":[{"delta":{"content":"It is <so>."}}]}`, `{"choices":[{"delta":{},"finish_reason":"stop"}]}`,
			"[DONE]")
	})
	look := spool.Tool{
		ToolSpec: spool.ToolSpec{
			Name: "look", Description: "Looks.",
			Parameters: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`),
		},
		Call: func(context.Context, spool.ToolCall) (json.RawMessage, error) {
			return json.RawMessage(`{"z":1,"a":"<seen>"}`), nil
		},
	}
	e, err := engine.New(memory.New(nil), engine.Config{
		Agents: []spool.Agent{
			{
				Name: "a", Model: "m", Instructions: "Be brief.",
				Tools: []spool.Tool{look, {ToolSpec: spool.ToolSpec{Name: "other"}, Call: look.Call}},
			},
		},
		Models: map[string]spool.Model{"m": p.model(t, openai.Config{PromptCache: cache})},
		Log:    slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	ctx, cancel := context.WithCancel(testwait.Context(t, "the runs"))
	worked := make(chan error, 1)
	go func() { worked <- e.Work(ctx, engine.WorkOptions{}) }()
	key := spool.ThreadKey{Tenant: "acme", ID: "chat"}
	for _, prompt := range []string{"one", "two"} {
		if r, err := e.Run(ctx, key, wire.StartRequest{Prompt: prompt}); err != nil || !r.Accepted {
			t.Fatal(r, err)
		}
		for f, err := range e.Follow(ctx, key, wire.FollowOptions{}) {
			if err != nil {
				t.Fatal(err)
			}
			if f.Event != nil && f.Event.Type == wire.NoticeStateChange &&
				strings.Contains(string(f.Event.Payload), `"COMPLETED"`) {
				break
			}
		}
	}
	cancel()
	if err := testwait.For(t, worked, "the end of the worker"); err != nil {
		t.Fatal(err)
	}
	var all []asked
	for _, body := range p.requests() {
		var a asked
		if err := json.Unmarshal([]byte(body), &a); err != nil {
			t.Fatal(err)
		}
		all = append(all, a)
	}
	if len(all) != 6 {
		t.Fatalf("the server was asked %d times", len(all))
	}
	return all
}

// TestPrefix has each request of a conversation begin with the bytes of the one before,
// from step to step and from turn to turn, as caches go by those.
func TestPrefix(t *testing.T) {
	t.Parallel()

	for name, cache := range map[string]openai.PromptCache{
		"None": openai.CacheNone, "Key": openai.CacheKey, "Marks": openai.CacheMarks,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			all := conversation(t, cache)
			for i, a := range all {
				if (a.Key != "") != (cache == openai.CacheKey) || a.Key != all[0].Key {
					t.Errorf("request %d has the key %q", i, a.Key)
				}
				if !bytes.Equal(a.Tools, all[0].Tools) {
					t.Errorf("request %d has the tools %s", i, a.Tools)
				}
				if i == 0 {
					continue
				}
				before := all[i-1].Messages
				if len(a.Messages) <= len(before) {
					t.Fatalf("request %d has %d messages after one of %d", i, len(a.Messages), len(before))
				}
				for n := range before {
					if got, want := unmarked(a.Messages[n]), unmarked(before[n]); got != want {
						t.Errorf("message %d of request %d is %s\nand was %s", n, i, got, want)
					}
				}
			}
		})
	}
}

// unmarked returns a message as it is without marks, which move.
func unmarked(message json.RawMessage) string {
	text := strings.ReplaceAll(string(message), `"cache_control":{"type":"ephemeral"},`, "")
	const before, after = `"content":[{"text":`, `,"type":"text"}]`
	if at := strings.Index(text, before); at >= 0 {
		text = text[:at] + `"content":` + strings.Replace(text[at+len(before):], after, "", 1)
	}
	return text
}

func TestCacheMarks(t *testing.T) {
	t.Parallel()

	marked := func(a asked) (at []int) {
		for i, m := range a.Messages {
			if strings.Contains(string(m), `"cache_control":{"type":"ephemeral"}`) {
				at = append(at, i)
			}
		}
		return at
	}
	// The instructions, the newest message that is not the agent's before the turn, and the last.
	want := []string{"[0 1]", "[0 4]", "[0 7]", "[0 7 9]", "[0 7 12]", "[0 7 15]"}
	for i, a := range conversation(t, openai.CacheMarks) {
		if got := fmt.Sprint(marked(a)); got != want[i] {
			t.Errorf("request %d has marks at %s of %d, want %s", i, got, len(a.Messages), want[i])
		}
	}
	for _, a := range conversation(t, openai.CacheKey) {
		if got := marked(a); got != nil {
			t.Errorf("there are marks at %v", got)
		}
	}
}

func TestKnownCache(t *testing.T) {
	t.Parallel()

	request := spool.ModelRequest{
		Instructions: "i", Messages: []spool.Message{{Role: spool.RoleUser, Content: spool.TextContent("hi")}},
		CacheKey: "key-1", CacheMarks: []int{-1, 0, 1, 7},
	}
	for _, c := range []struct{ host, model, want string }{
		{"https://api.openai.com/v1", "gpt-5-mini", "key"},
		{"https://openrouter.ai/api/v1", "anthropic/claude-sonnet-4.5", "marks"},
		{"https://openrouter.ai/api/v1", "google/gemini-2.5-pro", "marks"},
		{"https://openrouter.ai/api/v1", "openai/gpt-5-mini", "none"},
		{"http://127.0.0.1:11434/v1", "qwen3", "none"},
	} {
		var sent string
		m, err := openai.New(openai.Config{
			Model: c.model, BaseURL: c.host,
			Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				var b bytes.Buffer
				_, _ = b.ReadFrom(r.Body)
				sent = b.String()
				return nil, context.Canceled
			}),
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range m.Stream(t.Context(), request) {
			if err == nil {
				t.Error("there was an answer")
			}
		}
		got := "none"
		switch {
		case strings.Contains(sent, `"prompt_cache_key":"key-1"`):
			got = "key"
		case strings.Count(sent, `"cache_control":{"type":"ephemeral"}`) == 2:
			got = "marks"
		}
		if got != c.want || sent == "" {
			t.Errorf("%s of %s: %s, want %s: %s", c.model, c.host, got, c.want, sent)
		}
	}
	if _, err := openai.New(openai.Config{Model: "m", PromptCache: "all"}); spool.CodeOf(err) != spool.Invalid {
		t.Errorf("got %v", err)
	}
}

type roundTrip func(r *http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
