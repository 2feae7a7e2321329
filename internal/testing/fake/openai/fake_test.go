package openai_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/spoolhq/spool/internal/testing/fake/openai"
)

// ask sends messages and returns the status and the body of the answer.
func ask(t *testing.T, server http.Handler, model, messages string) (int, string) {
	t.Helper()

	body := `{"model":"` + model + `","stream":true,"messages":[` + messages + `]}`
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/chat/completions", strings.NewReader(body))
	w := httptest.NewRecorder()
	server.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

const hello = `{"role":"user","content":"Hello?"}`

// answered returns an answer of the fake as the next request repeats it, and the results of its calls.
func answered(t *testing.T, stream string) (answer map[string]any, results string) {
	t.Helper()

	var details, calls []any
	var said strings.Builder
	for line := range strings.SplitSeq(stream, "\n") {
		data, ok := strings.CutPrefix(line, "data: {")
		if !ok {
			continue
		}
		var chunk struct {
			Choices []struct {
				Delta struct {
					Details []map[string]any `json:"reasoning_details"` //nolint:tagliatelle // the provider's word
					Calls   []map[string]any `json:"tool_calls"`        //nolint:tagliatelle // the provider's word
				} `json:"delta"`
			} `json:"choices"`
		}
		if err := json.Unmarshal([]byte("{"+data), &chunk); err != nil {
			t.Fatal(err)
		}
		for _, c := range chunk.Choices {
			for _, d := range c.Delta.Details {
				if d["signature"] != nil {
					d["text"] = "I think."
				}
				if d["signature"] != nil || d["data"] != nil {
					details = append(details, d)
				}
			}
			for _, call := range c.Delta.Calls {
				if id, ok := call["id"].(string); ok {
					call["function"] = map[string]any{"name": "coin", "arguments": "{}"}
					calls = append(calls, call)
					said.WriteString(`,{"role":"tool","tool_call_id":"` + id + `","content":"1"}`)
				}
			}
		}
	}
	return map[string]any{"role": "assistant", "content": nil, "reasoning_details": details, "tool_calls": calls},
		said.String()
}

// The fake accepts its own answer, and refuses one that was tampered with.
func TestSigned(t *testing.T) {
	t.Parallel()

	server := openai.New(func(*openai.Request) openai.Answer {
		return openai.Answer{
			Reasoning: []string{"I think."}, Sealed: true, Signed: true,
			Calls: []openai.Call{{Name: "coin", Args: "{}"}, {Name: "coin", Args: "{}"}},
		}
	})
	list := func(m map[string]any, field string) []any {
		all, ok := m[field].([]any)
		if !ok {
			t.Fatalf("no %s: %v", field, m)
		}
		return all
	}
	unsign := func(calls []any) {
		for _, call := range calls {
			if c, ok := call.(map[string]any); ok {
				delete(c, "extra_content")
			}
		}
	}
	for name, c := range map[string]struct {
		tamper func(m map[string]any)
		model  string
		want   int
	}{
		"whole":    {func(map[string]any) {}, "m", http.StatusOK},
		"stripped": {func(m map[string]any) { delete(m, "reasoning_details") }, "m", http.StatusBadRequest},
		"half stripped": {
			func(m map[string]any) { m["reasoning_details"] = list(m, "reasoning_details")[:1] }, "m", http.StatusBadRequest,
		},
		"foreign": {func(map[string]any) {}, "other", http.StatusBadRequest},
		"dropped for another": {func(m map[string]any) {
			delete(m, "reasoning_details")
			unsign(list(m, "tool_calls"))
		}, "other", http.StatusOK},
		"unsigned call": {func(m map[string]any) {
			unsign(list(m, "tool_calls"))
		}, "m", http.StatusBadRequest},
		"moved": {func(m map[string]any) {
			d := list(m, "reasoning_details")
			d[0], d[1] = d[1], d[0]
		}, "m", http.StatusBadRequest},
	} {
		status, stream := ask(t, server, "m", hello)
		if status != http.StatusOK {
			t.Fatal(stream)
		}
		m, results := answered(t, stream)
		c.tamper(m)
		raw, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if status, text := ask(t, server, c.model, hello+","+string(raw)+results); status != c.want {
			t.Errorf("%s: status %d, want %d: %s", name, status, c.want, text)
		}
	}
	call := `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"coin","arguments":"{}"}}]}`
	for name, messages := range map[string]string{
		"no result":    hello + "," + call + "," + hello,
		"last call":    hello + "," + call,
		"no call":      hello + `,{"role":"tool","tool_call_id":"c1","content":"1"}`,
		"empty answer": hello + `,{"role":"assistant","content":null},` + hello,
		"unknown role": `{"role":"nobody","content":"x"}`,
		"no content":   `{"role":"user"}`,
		"no tools":     hello + `],"tool_choice":"none","stop":[`,
		"odd arguments": hello + "," + strings.Replace(call, `"{}"`, `"["`, 1) +
			`,{"role":"tool","tool_call_id":"c1","content":"1"}`,
	} {
		if status, text := ask(t, server, "m", messages); status != http.StatusBadRequest {
			t.Errorf("%s: status %d: %s", name, status, text)
		}
	}
	if len(server.Problems()) == 0 || server.Count() == 0 {
		t.Error("the server does not count")
	}
}
