package openai_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/model/openai"
)

// fullRequest has each field of the table that a server may refuse.
func fullRequest() spool.ModelRequest {
	return spool.ModelRequest{
		MaxOutputTokens: 9, CacheKey: "k", Extra: map[string]any{"parallel_tool_calls": true},
		Output: &spool.OutputSchema{
			Name: "o", Schema: json.RawMessage(`{"type":"object","properties":{},"required":[],"additionalProperties":false}`),
		},
		Messages: []spool.Message{
			userSays("Hi."),
			{
				Role:    spool.RoleAssistant,
				Content: spool.Content{{Type: spool.PartReasoning, Text: "Hm."}, {Type: spool.PartText, Text: "Hi."}},
			},
			userSays("And?"),
			{
				Role:    spool.RoleAssistant,
				Content: spool.Content{{Type: spool.PartToolCall, ToolCallID: "c1", ToolName: "echo", Args: json.RawMessage(`{}`)}},
			},
			resultOf(spool.Part{ToolCallID: "c1", ToolName: "echo"}),
			userSays("Now?"),
		},
	}
}

// A server that refuses a field by its name gets the request in another form, and later requests in that form.
func TestRefusedFields(t *testing.T) {
	t.Parallel()

	config := openai.Config{PromptCache: openai.CacheKey, ReasoningField: "reasoning"}
	for name, c := range map[string]struct {
		config  openai.Config
		status  int
		refusal string
		// has is in the requests that the server refuses, and lacks in those that it takes.
		has, lacks, line string
	}{
		"max_tokens": {
			config, 400,
			`{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."}}`,
			`"max_tokens":9`, `"max_completion_tokens":9`, "max_tokens_field: max_completion_tokens",
		},
		"max_completion_tokens": {
			openai.Config{MaxTokensField: "max_completion_tokens"},
			400, `{"error":{"message":"Unrecognized request argument supplied: max_completion_tokens"}}`,
			`"max_completion_tokens":9`, `"max_tokens":9`, "max_tokens_field: max_tokens",
		},
		"stream_options": {
			config, 422,
			`{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","stream_options","include_usage"],"msg":"Extra inputs are not permitted"}]}}`,
			`"stream_options"`, `"stream":true`, "stream_usage: false",
		},
		"reasoning": {
			config, 400, `{"error":{"message":"property 'reasoning' is unsupported"}}`, `"reasoning":"Hm."`, `"stream"`,
			"reasoning_field: none",
		},
		"reasoning_content": {
			openai.Config{ReasoningField: "reasoning_content"},
			400, `{"error":{"message":"messages.1.reasoning_content is not allowed and must be removed"}}`,
			`"reasoning_content":"Hm."`, `"stream"`, "reasoning_field: none",
		},
		"no reasoning": {
			openai.Config{},
			400, `{"error":{"message":"The reasoning_content in the thinking mode must be passed back to the API."}}`,
			`"content":"Hi.","role":"assistant"`, `"reasoning_content":"Hm."`,
			"reasoning_field: reasoning_content\nreasoning_needed: always",
		},
		"parallel_tool_calls": {
			config, 400, `{"error":"Unknown parameter: parallel_tool_calls"}`, `"parallel_tool_calls"`, `"stream"`,
			"parallel_tool_calls: false",
		},
		"strict": {
			config, 400, `{"error":{"message":"response_format.json_schema.strict is not supported"}}`, `"strict":true`,
			`"json_schema"`, "strict_schemas: false",
		},
		"user after tool": {
			config, 400,
			`{"object":"error","message":"Unexpected role 'user' after role 'tool'","type":"invalid_request_message_order","code":"3230"}`,
			`"tool_call_id":"c1"},{"content":"Now?"`,
			`"tool_call_id":"c1"},{"content":"Understood.","role":"assistant"},{"content":"Now?"`, "answer_after_results: true",
		},
		"prompt_cache_key": {
			config, 400, `{"error":{"message":"Unrecognized request argument supplied: prompt_cache_key"}}`,
			`"prompt_cache_key"`, `"stream"`, "prompt_cache: none",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPeer(t, func(w http.ResponseWriter, _ *http.Request, body string) {
				if strings.Contains(body, c.has) {
					w.WriteHeader(c.status)
					_, _ = io.WriteString(w, c.refusal)
					return
				}
				send(w, textChunk("Fine."), finishChunk("stop"), "[DONE]")
			})
			var log bytes.Buffer
			c.config.Log = slog.New(slog.NewTextHandler(&log, nil))
			m := p.model(t, c.config)
			for range 2 {
				events, err := stream(t, m, fullRequest())
				if got := heard(events); err != nil || got != "Fine. stop" {
					t.Fatalf("got %q, %v", got, err)
				}
			}
			requests := p.requests()
			if len(requests) != 3 || !strings.Contains(requests[0], c.has) {
				t.Fatalf("the server got %q", requests)
			}
			for _, body := range requests[1:] {
				if !strings.Contains(body, c.lacks) {
					t.Errorf("%s is not in %s", c.lacks, body)
				}
			}
			lines := strings.Split(c.line, "\n")
			if strings.Count(log.String(), "\n") != len(lines) {
				t.Errorf("the log has %q, want %q", log.String(), lines)
			}
			for _, line := range lines {
				if !strings.Contains(log.String(), `line="`+line+`"`) {
					t.Errorf("the log has %q, want %q", log.String(), line)
				}
			}
			// Another model of the same server has learned nothing.
			if _, err := stream(t, p.model(t, c.config), fullRequest()); err != nil || len(p.requests()) != 5 {
				t.Errorf("the server got %d requests, %v", len(p.requests()), err)
			}
		})
	}
}

// What a server says switches nothing but the fields that the request has.
func TestOtherRefusals(t *testing.T) {
	t.Parallel()

	for _, refusal := range []string{
		"max_tokens is too large: 9. This model supports at most 8 completion tokens",
		"Unsupported parameter: 'max_completion_tokens'",
		"'messages' is not supported", "Unknown parameter: tools", "Unsupported value: 'temperature' is not supported",
		"the reasoning_content is unsupported", "cache_control: extra inputs are not permitted",
		"Unexpected role 'tool' after role 'user'", "stream is not supported", "a restricted model is not supported",
		"no such model",
	} {
		p := newPeer(t, func(w http.ResponseWriter, _ *http.Request, _ string) {
			w.WriteHeader(http.StatusBadRequest)
			_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": refusal}})
		})
		_, err := stream(t, p.model(t, openai.Config{}), fullRequest())
		if got := modelError(t, err); got.Message != refusal || len(p.requests()) != 1 {
			t.Errorf("%s: %d requests, %v", refusal, len(p.requests()), err)
		}
	}
	bare := newPeer(t, func(w http.ResponseWriter, _ *http.Request, _ string) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w,
			`{"error":"not supported: max_tokens strict parallel_tool_calls reasoning_content; prompt_cache_key is required; unexpected role 'user' after role 'tool'"}`)
	})
	if _, err := stream(t, bare.model(t, openai.Config{}), spool.ModelRequest{}); err == nil || len(bare.requests()) != 1 {
		t.Errorf("without the fields: %d requests, %v", len(bare.requests()), err)
	}
	for _, status := range []int{401, 404, 429, 500} {
		p := newPeer(t, func(w http.ResponseWriter, _ *http.Request, _ string) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, `{"error":"stream_options is not supported"}`)
		})
		if _, err := stream(t, p.model(t, openai.Config{}), fullRequest()); err == nil || len(p.requests()) != 1 {
			t.Errorf("%d: %d requests, %v", status, len(p.requests()), err)
		}
	}
}

// A server that refuses whatever it gets is asked once for each field, and nothing is learned of it.
func TestEverythingIsRefused(t *testing.T) {
	t.Parallel()

	var mu sync.Mutex
	takes := false
	p := newPeer(t, func(w http.ResponseWriter, _ *http.Request, _ string) {
		mu.Lock()
		defer mu.Unlock()
		if takes {
			send(w, textChunk("Fine."), finishChunk("stop"))
			return
		}
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w,
			`{"error":"not supported: max_tokens max_completion_tokens stream_options parallel_tool_calls strict"}`)
	})
	m := p.model(t, openai.Config{})
	if _, err := stream(t, m, fullRequest()); err == nil {
		t.Fatal("no error")
	}
	if n := len(p.requests()); n != 5 { // the request, and one for each of its four fields
		t.Errorf("the server got %d requests", n)
	}
	mu.Lock()
	takes = true
	mu.Unlock()
	if _, err := stream(t, m, fullRequest()); err != nil {
		t.Fatal(err)
	}
	requests := p.requests()
	if last := requests[len(requests)-1]; !strings.Contains(last, `"stream_options"`) ||
		!strings.Contains(last, `"max_tokens"`) {
		t.Errorf("the model has learned: %s", last)
	}
}

// Requests at the same time learn from one refusal each, and do not undo what others have learned.
func TestLearningAtTheSameTime(t *testing.T) {
	t.Parallel()

	p := newPeer(t, func(w http.ResponseWriter, _ *http.Request, body string) {
		for _, field := range []string{"stream_options", "parallel_tool_calls"} {
			if strings.Contains(body, `"`+field+`"`) {
				w.WriteHeader(http.StatusBadRequest)
				_, _ = io.WriteString(w, `{"error":"`+field+` is not supported"}`)
				return
			}
		}
		send(w, textChunk("Fine."), finishChunk("stop"))
	})
	m := p.model(t, openai.Config{})
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for _, err := range m.Stream(t.Context(), fullRequest()) {
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	before := len(p.requests())
	if _, err := stream(t, m, fullRequest()); err != nil || len(p.requests()) != before+1 {
		t.Errorf("%d further requests, %v", len(p.requests())-before, err)
	}
}
