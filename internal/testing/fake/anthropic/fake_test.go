package anthropic_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/spoolhq/spool/internal/testing/fake/anthropic"
)

const model = "claude-test-4"

// ask sends a body and returns the status and the body of the answer.
func ask(t *testing.T, handler http.Handler, body string) (int, string) {
	t.Helper()

	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/messages", strings.NewReader(body))
	r.Header.Set("Anthropic-Version", "2023-06-01")
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// body returns a request whose messages are the given ones, with further fields.
func body(messages, more string) string {
	return `{"model":"` + model + `","max_tokens":4000,"messages":` + messages + more + `}`
}

const hello = `{"role":"user","content":"Hello?"}`

// The fake refuses what the service refuses, and says why in the same way.
func TestRefuses(t *testing.T) {
	t.Parallel()

	const (
		tool     = `,"tools":[{"name":"coin","input_schema":{"type":"object"}}]`
		call     = `{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"coin","input":{}}]}`
		result   = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1"}]}`
		budget   = `,"thinking":{"type":"enabled","budget_tokens":2000}`
		marked   = `{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}`
		madeUp   = `{"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":"bWFkZSB1cA=="},{"type":"text","text":"x"}]}`
		assisted = `{"role":"assistant","content":"x"}`
	)
	server := anthropic.New(anthropic.Config{Answer: anthropic.Echo})
	if status, text := ask(t, server, body("["+hello+","+call+","+result+"]", tool)); status != http.StatusOK {
		t.Fatalf("a good request is refused: %s", text)
	}
	for name, c := range map[string]struct{ body, want string }{
		"no JSON":         {`{`, "not valid JSON"},
		"no model":        {`{"max_tokens":1,"messages":[` + hello + `]}`, "model: Field required"},
		"no bound":        {`{"model":"m","messages":[` + hello + `]}`, "max_tokens: Field required"},
		"no message":      {body("[]", ""), "at least one message"},
		"assistant first": {body("["+assisted+"]", ""), "first message"},
		"same roles":      {body("["+hello+","+hello+"]", ""), "roles must alternate"},
		"role":            {body(`[{"role":"system","content":"x"}]`, ""), "Input should be"},
		"empty text":      {body(`[{"role":"user","content":[{"type":"text","text":""}]}]`, ""), "must be non-empty"},
		"blank text":      {body(`[{"role":"user","content":" "}]`, ""), "non-whitespace"},
		"empty message":   {body(`[{"role":"user","content":[]}]`, ""), "non-empty content"},
		"blank end":       {body("["+hello+`,{"role":"assistant","content":"x "}]`, ""), "trailing whitespace"},
		"foreign block": {
			body("["+hello+`,{"role":"assistant","content":[{"type":"reasoning","text":"x"}]},`+hello+"]", ""),
			"does not match any",
		},
		"foreign signature": {body("["+hello+","+madeUp+","+hello+"]", ""), "Invalid `signature`"},
		"no signature": {
			body("["+hello+`,{"role":"assistant","content":[{"type":"thinking","thinking":"x"}]},`+hello+"]", ""),
			"signature: Field required",
		},
		"no result": {body("["+hello+","+call+","+hello+"]", tool), "without `tool_result`"},
		"late result": {
			body(
				"["+hello+","+call+
					`,{"role":"user","content":[{"type":"text","text":"x"},{"type":"tool_result","tool_use_id":"c1"}]}]`,
				tool,
			),
			"without `tool_result`",
		},
		"last call": {body("["+hello+","+call+"]", tool), "without `tool_result`"},
		"no call":   {body("["+hello+","+assisted+","+result+"]", tool), "unexpected `tool_use_id`"},
		"two results": {
			body(
				"["+hello+","+call+
					`,{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1"},{"type":"tool_result","tool_use_id":"c1"}]}]`,
				tool,
			),
			"single result",
		},
		"same ids":  {body("["+hello+","+call+","+result+","+call+","+result+"]", tool), "must be unique"},
		"id":        {body("["+hello+","+strings.Replace(call, "c1", "c 1", 1)+"]", tool), "should match pattern"},
		"arguments": {body("["+hello+","+strings.Replace(call, "{}", `"x"`, 1)+"]", tool), "valid dictionary"},
		"marks": {
			body(`[{"role":"user","content":[`+strings.Repeat(marked+",", 4)+marked+"]}]", ""), "maximum of 4",
		},
		"small budget": {
			body("["+hello+"]", `,"thinking":{"type":"enabled","budget_tokens":1000}`), "greater than or equal to 1024",
		},
		"large budget": {
			body("["+hello+"]", `,"thinking":{"type":"enabled","budget_tokens":4000}`), "must be greater than",
		},
		"forced thinking":   {body("["+hello+"]", tool+budget+`,"tool_choice":{"type":"any"}`), "forces tool use"},
		"warm thinking":     {body("["+hello+"]", budget+`,"temperature":0.5`), "may only be set to 1"},
		"no thinking":       {body("["+hello+","+call+","+result+"]", tool+budget), "Expected `thinking`"},
		"choice":            {body("["+hello+"]", tool+`,"tool_choice":{"type":"tool","name":"die"}`), "not found"},
		"choice of nothing": {body("["+hello+"]", `,"tool_choice":{"type":"any"}`), "while providing tools"},
		"tool's name": {
			body("["+hello+"]", `,"tools":[{"name":"a b","input_schema":{"type":"object"}}]`), "should match pattern",
		},
		"tool's schema": {body("["+hello+"]", `,"tools":[{"name":"a","input_schema":{}}]`), "should be 'object'"},
		"same tools": {
			body("["+hello+"]",
				`,"tools":[{"name":"a","input_schema":{"type":"object"}},{"name":"a","input_schema":{"type":"object"}}]`),
			"must be unique",
		},
		"open schema": {
			body("["+hello+"]", `,"output_config":{"format":{"type":"json_schema","schema":{"type":"object","properties":{}}}}`),
			"additionalProperties",
		},
	} {
		status, text := ask(t, server, c.body)
		if !strings.Contains(text, strings.ReplaceAll(c.want, `"`, `\"`)) ||
			!strings.Contains(text, "invalid_request_error") {
			t.Errorf("%s: %d %s", name, status, text)
		}
		if status != http.StatusBadRequest {
			t.Errorf("%s: status %d", name, status)
		}
	}
	if passed, refused := server.Counts(); passed != 1 || refused != 34 || len(server.Problems()) != 34 {
		t.Errorf("%d passed, %d refused", passed, refused)
	}
}

// A block that was signed is taken back as it was, and in no other way.
func TestSignatures(t *testing.T) {
	t.Parallel()

	answer := anthropic.Answer{Blocks: append([]anthropic.Block{
		anthropic.Thinking("One."), anthropic.Redacted("x"), anthropic.Thinking("Two."),
		{Type: "text", Text: "Look:", Cited: true},
		anthropic.Call("coin", "{}"),
	}, anthropic.Search("cats")...)}
	server := anthropic.New(anthropic.Config{Answer: func(r anthropic.Request) anthropic.Answer {
		if len(r.Messages) == 1 {
			return answer
		}
		return anthropic.Answer{Blocks: []anthropic.Block{anthropic.Text("Fine.")}}
	}})
	const tools = `,"tools":[{"name":"coin","input_schema":{"type":"object"}}],"thinking":{"type":"adaptive"}`
	status, text := ask(t, server, body("["+hello+"]", tools))
	var first struct {
		Content []map[string]any
	}
	if status != http.StatusOK || json.Unmarshal([]byte(text), &first) != nil || len(first.Content) != 7 {
		t.Fatalf("%d %s", status, text)
	}
	back := func(model string, change func(content []map[string]any) []map[string]any) (int, string) {
		var content []map[string]any
		raw, err := json.Marshal(first.Content)
		if err != nil || json.Unmarshal(raw, &content) != nil {
			t.Fatal(err)
		}
		result := map[string]any{
			"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": content[4]["id"]}},
		}
		messages, err := json.Marshal([]any{
			json.RawMessage(hello), map[string]any{"role": "assistant", "content": change(content)}, result,
		})
		if err != nil {
			t.Fatal(err)
		}
		return ask(t, server, strings.Replace(body(string(messages), tools), "claude-test-4", model, 1))
	}
	same := func(c []map[string]any) []map[string]any { return c }
	if status, text := back(model, same); status != http.StatusOK {
		t.Fatalf("the same blocks: %d %s", status, text)
	}
	set := func(i int, field string, value any) func(c []map[string]any) []map[string]any {
		return func(c []map[string]any) []map[string]any {
			c[i][field] = value
			return c
		}
	}
	for name, change := range map[string]func(c []map[string]any) []map[string]any{
		"altered text":      set(0, "thinking", "Won."),
		"altered signature": set(0, "signature", first.Content[2]["signature"]),
		"altered data":      set(1, "data", "eA=="),
		"altered citation":  set(3, "text", "Loop:"),
		"altered result":    set(6, "tool_use_id", "srvtoolu_x"),
		"stripped":          func(c []map[string]any) []map[string]any { return c[1:] },
		"all stripped":      func(c []map[string]any) []map[string]any { return c[3:] },
		"last stripped":     func(c []map[string]any) []map[string]any { return append(c[:2:2], c[3:]...) },
		"moved": func(c []map[string]any) []map[string]any {
			c[0], c[2] = c[2], c[0]
			return c
		},
	} {
		if status, text := back(model, change); status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
	if status, _ := back("claude-other-5", same); status != http.StatusBadRequest {
		t.Error("another model takes the blocks")
	}
}

// Servers keep no state, so that another one with the same secret takes the blocks.
func TestConcurrent(t *testing.T) {
	t.Parallel()

	one, other := anthropic.New(anthropic.Config{Answer: anthropic.Echo}),
		anthropic.New(anthropic.Config{Answer: anthropic.Echo})
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			thinks := `,"thinking":{"type":"adaptive"}`
			_, text := ask(t, one, body("["+hello+"]", thinks))
			var m struct{ Content json.RawMessage }
			if err := json.Unmarshal([]byte(text), &m); err != nil {
				t.Error(err)
				return
			}
			if status, text := ask(
				t, other, body("["+hello+`,{"role":"assistant","content":`+string(m.Content)+"},"+hello+"]", thinks),
			); status != http.StatusOK {
				t.Errorf("%d %s", status, text)
			}
		})
	}
	all.Wait()
}

func TestAdmission(t *testing.T) {
	t.Parallel()

	web := httptest.NewServer(anthropic.New(anthropic.Config{Answer: anthropic.Echo, Key: "right"}))
	t.Cleanup(web.Close)
	for name, c := range map[string]struct {
		path, key, version string
		want               int
	}{
		"right":   {"/v1/messages", "right", "2023-06-01", http.StatusOK},
		"key":     {"/v1/messages", "wrong", "2023-06-01", http.StatusUnauthorized},
		"path":    {"/messages", "right", "2023-06-01", http.StatusNotFound},
		"version": {"/v1/messages", "right", "", http.StatusBadRequest},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, web.URL+c.path,
			strings.NewReader(body("["+hello+"]", "")))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Api-Key", c.key)
		if c.version != "" {
			r.Header.Set("Anthropic-Version", c.version)
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		if response.StatusCode != c.want {
			t.Errorf("%s: %d", name, response.StatusCode)
		}
	}
}
