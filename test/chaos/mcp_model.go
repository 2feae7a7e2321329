//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// mcpModel is the model of a campaign of the MCP client. It is an OpenAI-compatible server that answers what the plan
// in the last user turn says, and notes which tools each request offers.
type mcpModel struct {
	open *openRequests

	mu   sync.Mutex
	runs map[string][]sight
}

// sight is what a request says about the tools of its run.
type sight struct {
	at time.Time
	// tools are the names and descriptions, sorted.
	tools []string
	// generation is that of the tools' descriptions: see [toolList]. It is negative if they are not of the same one.
	generation int
}

type chatRequest struct {
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Function struct {
			Name        string `json:"name"`
			Description string `json:"description"`
		} `json:"function"`
	} `json:"tools"`
}

// turn returns the last prompt, and how many answers follow it.
func (q chatRequest) turn() (prompt string, step int) {
	for _, m := range q.Messages {
		switch m.Role {
		case "user":
			step = 0
			_ = json.Unmarshal(m.Content, &prompt)
		case "assistant":
			step++
		}
	}
	return prompt, step
}

var generationOf = regexp.MustCompile(`generation (\d+)`)

// sight returns what the request says about the tools.
func (q chatRequest) sight() sight {
	s := sight{at: time.Now(), generation: -1}
	for i, t := range q.Tools {
		s.tools = append(s.tools, t.Function.Name+": "+t.Function.Description)
		g := -1
		if found := generationOf.FindStringSubmatch(t.Function.Description); found != nil {
			g, _ = strconv.Atoi(found[1])
		}
		if i == 0 {
			s.generation = g
		} else if g != s.generation {
			s.generation = -2
		}
	}
	slices.Sort(s.tools)
	return s
}

// seen returns what the requests of a run said about its tools.
func (m *mcpModel) seen(run string) []sight {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.runs[run])
}

// ServeHTTP answers POST /v1/chat/completions.
func (m *mcpModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q chatRequest
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	prompt, step := q.turn()
	p, err := parsePlan(prompt)
	if err != nil || step >= len(p.Steps) {
		http.Error(w, fmt.Sprintf(`{"error":{"message":"the plan %q has no step %d"}}`, prompt, step), http.StatusBadRequest)
		return
	}
	m.mu.Lock()
	m.runs[p.ID] = append(m.runs[p.ID], q.sight())
	m.mu.Unlock()
	defer m.open.hold(r.Header.Get(processHeader), p.ID)()
	w.Header().Set("Content-Type", "text/event-stream")
	for _, word := range p.words(step) {
		if !sleep(r.Context(), pace) || writeChunk(w, chunkOf(map[string]any{"content": word}, nil)) != nil {
			return
		}
	}
	for i, name := range p.Steps[step].Calls {
		call := map[string]any{"index": i, "id": p.callID(step, i), "type": "function", "function": map[string]any{
			"name": name, "arguments": fmt.Sprintf(`{"n":%d}`, i),
		}}
		if writeChunk(w, chunkOf(map[string]any{"tool_calls": []any{call}}, nil)) != nil {
			return
		}
	}
	reason := "stop"
	if len(p.Steps[step].Calls) > 0 {
		reason = "tool_calls"
	}
	usage := map[string]any{
		"choices": []any{},
		"usage":   map[string]any{"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11},
	}
	if writeChunk(w, chunkOf(map[string]any{}, reason)) == nil && writeChunk(w, usage) == nil {
		_, _ = fmt.Fprint(w, endOfChunks)
	}
}

// chunkOf returns a piece of an answer. The reason says why the answer ends, nil for not yet.
func chunkOf(delta map[string]any, reason any) map[string]any {
	delta["role"] = "assistant"
	return map[string]any{"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": reason}}}
}

const endOfChunks = "data: [DONE]\n\n"

// writeChunk writes a piece of an answer of an OpenAI-compatible server.
func writeChunk(w http.ResponseWriter, chunk map[string]any) error {
	chunk["id"], chunk["object"], chunk["model"] = "c1", "chat.completion.chunk", "script"
	raw, err := json.Marshal(chunk)
	if err == nil {
		_, err = fmt.Fprintf(w, "data: %s\n\n", raw)
	}
	if err != nil {
		return err
	}
	return http.NewResponseController(w).Flush()
}

// bareNames returns the server's own names of the tools in a sight.
func (s sight) bareNames() (names []string) {
	for _, tool := range s.tools {
		name, _, _ := strings.Cut(tool, ":")
		names = append(names, strings.TrimPrefix(name, mcpPrefix))
	}
	return names
}
