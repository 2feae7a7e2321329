package openai

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode/utf16"
)

// Dialect is how one server speaks the interface: what it sends, and what it refuses.
type Dialect struct {
	// Profile is the name of the server's profile, and Model one of its models.
	Profile, Model string
	// Fact is what was recorded of the server, for which the dialect stands.
	Fact string

	// Thinks is where reasoning comes: the name of a field, "list" for a list in the field reasoning, "content" for a
	// list in the content, "tags" for <think> in the content.
	Thinks string
	// Needs says which messages of the model must have reasoning_content: "calls" or "always". An empty one counts as
	// none.
	Needs string
	// TakesThinking says that a message of the model may have a thinking part in its content.
	TakesThinking bool
	// Refuses are the fields of a request that the server refuses.
	Refuses []string
	// Older says that only older versions refuse them, so that the profile does not spare the refusal.
	Older bool
	// Behind are the roles that the server takes directly behind each role. Nil: any.
	Behind map[string][]string
	// IDLength is the length of the only ids that the server takes. Zero: any.
	IDLength int
	// Named is the form of the name of a call, with %s for the tool. Empty: the name.
	Named string
	// Words are the server's own finish words, by what they mean: stop, tool-calls, length, content-filter or broken.
	Words map[string]string
	// NoFinish leaves the finish word out.
	NoFinish bool
	// Grows counts the index of the choice up with each chunk, and Twice sends a message beside each delta.
	Grows, Twice bool
	// Halves divides an emoji between two chunks.
	Halves bool
	// RestCount leaves the reasoning out of completion_tokens, and Loose counts in floats and texts.
	RestCount, Loose bool
	// Groq reports the usage in x_groq.
	Groq bool
	// Type is the Content-Type of a stream. Empty: text/event-stream.
	Type string
}

// What a dialect's server says. The emoji is what Halves divides.
const (
	DialectThought = "Thinking 😀 hard."
	DialectText    = "It said 😀."
	DialectArgs    = `{"text":"😀"}`
)

// The counts of a dialect's server.
const (
	DialectPrompt    = 100
	DialectAnswer    = 7
	DialectReasoning = 40
)

// behindMistral is what the validator of Mistral's requests takes. It is in vLLM, too.
var behindMistral = map[string][]string{
	"system": {"user", "assistant", "system"}, "user": {"assistant", "system", "user"},
	"assistant": {"assistant", "user", "tool"}, "tool": {"assistant", "tool"},
}

// Dialects has a row for each server whose answers were recorded, or whose users reported what it does.
func Dialects() []Dialect {
	return []Dialect{
		{
			Profile: "deepseek", Model: "deepseek-reasoner", Thinks: "reasoning_content", Needs: "always",
			Words: map[string]string{"insufficient_system_resource": "broken"},
			Fact:  "400 for an answer without reasoning_content, also for an empty one; 30 recorded requests",
		},
		{
			Profile: "kimi", Model: "kimi-k2.5", Thinks: "reasoning_content", Needs: "calls",
			Fact: "400 for calls without reasoning_content; reports of 11 projects",
		},
		{
			Profile: "glm", Model: "glm-4.7", Thinks: "reasoning_content",
			Words: map[string]string{
				"sensitive": "content-filter", "network_error": "broken", "model_context_window_exceeded": "length",
			},
			Fact: "reasoning_content beside content, and words of its own; recorded",
		},
		{
			Profile: "xai", Model: "grok-4", Thinks: "reasoning_content", RestCount: true,
			Fact: "completion_tokens without the reasoning in 42 of 42 recorded answers",
		},
		{
			Profile: "mistral", Model: "magistral-medium", Thinks: "content", TakesThinking: true,
			Refuses: []string{"stream_options", "max_completion_tokens"}, IDLength: 9, Behind: behindMistral,
			Words: map[string]string{"model_length": "length", "error": "broken"},
			Fact:  "a list as the content, with thinking; 5 recorded answers. 422 for stream_options and for other ids; 400 for a user behind a tool, 11 reports",
		},
		{
			Profile: "groq", Model: "qwen3-32b", Thinks: "tags", Refuses: []string{"stream_options"}, Groq: true,
			Fact: "<think> in the content with the raw format, recorded; 400 for stream_options, reported",
		},
		{
			Profile: "azure", Model: "gpt-5-mini", Refuses: []string{"max_tokens"},
			Fact: "400 for max_tokens with gpt-5 and the o-series; recorded, and reports of 10 projects",
		},
		{
			Profile: "openrouter", Model: "openai/gpt-oss-120b", Thinks: "reasoning",
			Words: map[string]string{"error": "broken"}, Named: "%s<|channel|>commentary",
			Fact: "the field reasoning, the word error, and names with parts of gpt-oss's template; recorded",
		},
		{
			Profile: "snowflake", Model: "claude-sonnet", NoFinish: true,
			Fact: "[DONE] and the usage without a finish word; 9 recorded answers",
		},
		{
			Profile: "databricks", Model: "databricks-claude", Thinks: "list", Refuses: []string{"stream_options"},
			Fact: "400 for stream_options, reported; reasoning as a list",
		},
		{
			Profile: "huggingface", Model: "deepseek-r1", Thinks: "tags",
			Words: map[string]string{"eos_token": "stop", "stop_sequence": "stop"},
			Fact:  "<think> at the beginning of the content; 10 recorded answers",
		},
		{
			Profile: "foundry-local", Model: "phi-4-mini", Grows: true, Twice: true,
			Fact: "an index that grows, and the text twice in each chunk; 2 reports",
		},
		{
			Profile: "lmstudio", Model: "qwen3-8b", Thinks: "tags", Words: map[string]string{"eos": "stop"},
			Fact: "<think> at the beginning of the content; reported",
		},
		{
			Profile: "llamacpp", Model: "any", Thinks: "reasoning_content", Type: "application/json", Named: "functions.%s",
			Fact: "names with functions., and a stream that is called JSON by proxies before it; reported and tried",
		},
		{
			Profile: "vllm", Model: "openai/gpt-oss-20b", Thinks: "reasoning", Named: "%s<|channel|>json",
			Refuses: []string{"stream_options"}, Older: true, Loose: true, Words: map[string]string{"abort": "broken"},
			Fact: "gpt-oss's template in names, 5 reports; older versions refuse stream_options",
		},
		{
			Profile: "sglang", Model: "qwen3", Thinks: "reasoning_content", Halves: true,
			Words: map[string]string{"abort": "broken"},
			Fact:  "the halves of an emoji in two chunks, as gateways in JavaScript divide it; 2 reports, tried",
		},
		{Profile: "ollama", Model: "qwen3", Thinks: "reasoning", Fact: "the field reasoning; recorded"},
	}
}

// ServeHTTP answers a request. The last message says what: a user's text is answered with a call of the first tool, the
// result of a call with a text, and "end as WORD" with a text that ends with the word.
func (d Dialect) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	request, problem := Read(raw)
	if problem == "" {
		problem = d.check(raw)
	}
	if problem != "" {
		refuse(w, http.StatusBadRequest, "invalid_request_error", problem)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if d.Type != "" {
		w.Header().Set("Content-Type", d.Type)
	}
	last := request.Messages[len(request.Messages)-1]
	word, asked := strings.CutPrefix(last.Text, "end as ")
	s := &dialectStream{Dialect: d, w: w}
	switch {
	case asked:
		s.text()
	case last.Role == "tool" || len(request.Tools) == 0 || request.NoCalls:
		s.think()
		s.text()
		word = "stop"
	default:
		s.think()
		s.call(request.Tools[0])
		word = "tool_calls"
	}
	s.end(word)
}

// check returns why the server refuses a request, or "".
func (d Dialect) check(raw []byte) string {
	var body map[string]any
	if json.Unmarshal(raw, &body) != nil {
		return "the body is not valid JSON"
	}
	for _, field := range d.Refuses {
		if _, ok := body[field]; ok {
			return "Unsupported parameter: '" + field + "' is not supported with this model."
		}
	}
	messages, _ := body["messages"].([]any)
	before := ""
	for i, m := range messages {
		message, _ := m.(map[string]any)
		role, _ := message["role"].(string)
		if may, ok := d.Behind[before]; ok && !slices.Contains(may, role) {
			return fmt.Sprintf("Unexpected role '%s' after role '%s'", role, before)
		}
		before = role
		if role != "assistant" {
			continue
		}
		calls, _ := message["tool_calls"].([]any)
		text, _ := message["reasoning_content"].(string)
		if text == "" && (d.Needs == "always" || d.Needs == "calls" && len(calls) > 0) {
			return fmt.Sprintf("The `reasoning_content` in the thinking mode must be passed back to the API (message %d).", i)
		}
		if parts, ok := message["content"].([]any); ok && !d.TakesThinking {
			return fmt.Sprintf("messages[%d].content must be a text, and is a list of %d", i, len(parts))
		}
		for _, c := range calls {
			call, _ := c.(map[string]any)
			if id, _ := call["id"].(string); d.IDLength > 0 && (len(id) != d.IDLength || strings.ContainsAny(id, "_-")) {
				return fmt.Sprintf("Tool call id was %s but must be a-z, A-Z, 0-9, with a length of %d.", id, d.IDLength)
			}
		}
	}
	return ""
}

// dialectStream writes one answer.
type dialectStream struct {
	Dialect

	w      io.Writer
	chunks int
}

func (s *dialectStream) send(delta map[string]any, word any) {
	index := 0
	if s.Grows {
		index = s.chunks
	}
	s.chunks++
	choice := map[string]any{"index": index, "delta": delta, "finish_reason": word}
	if s.Twice && len(delta) > 0 {
		choice["message"] = delta
	}
	chunk := string(encode(map[string]any{
		"id": "c", "object": "chat.completion.chunk", "created": 1, "model": s.Model, "choices": []any{choice},
	}))
	if s.Loose {
		chunk = strings.Replace(chunk, `"created":1`, `"created":"now","service_tier":[1]`, 1)
	}
	s.write(chunk)
}

func (s *dialectStream) write(data string) { _, _ = fmt.Fprintf(s.w, "data: %s\n\n", s.halve(data)) }

// halve writes an emoji as two escapes, as JSON encoders do that write ASCII only. The pieces that the server sends are
// divided between the two: see pieces.
func (s *dialectStream) halve(data string) string {
	if !s.Halves {
		return data
	}
	high, low := utf16.EncodeRune('😀')
	return strings.NewReplacer(firstHalf, fmt.Sprintf(`\u%04x`, high), secondHalf,
		fmt.Sprintf(`\u%04x`, low)).Replace(data)
}

// firstHalf and secondHalf stand for the halves of the emoji until a chunk is written.
const firstHalf, secondHalf = "\u2460", "\u2461"

// pieces divides a text into three, in an inconvenient place.
func (s *dialectStream) pieces(text string) []string {
	before, after, _ := strings.Cut(text, "😀")
	if s.Halves {
		return []string{before + firstHalf, secondHalf + after}
	}
	return []string{before, "😀", after}
}

func (s *dialectStream) think() {
	for _, piece := range s.pieces(DialectThought) {
		switch s.Thinks {
		case "":
		case "list":
			s.send(map[string]any{"reasoning": []any{map[string]any{"type": "text", "text": piece}}}, nil)
		case "content":
			s.send(
				map[string]any{
					"content": []any{
						map[string]any{"type": "thinking", "thinking": []any{map[string]any{"type": "text", "text": piece}}},
					},
				},
				nil,
			)
		case "tags":
			continue
		default:
			s.send(map[string]any{s.Thinks: piece, "content": nil}, nil)
		}
	}
	if s.Thinks != "tags" {
		return
	}
	for text := "\n<think>" + DialectThought + "</think>\n\n"; text != ""; { // in pieces of three bytes or a little more
		n := min(3, len(text))
		for n < len(text) && text[n]&0xC0 == 0x80 {
			n++
		}
		s.send(map[string]any{"content": text[:n]}, nil)
		text = text[n:]
	}
}

func (s *dialectStream) text() {
	for _, piece := range s.pieces(DialectText) {
		s.send(map[string]any{"content": piece}, nil)
	}
}

func (s *dialectStream) call(tool string) {
	name := tool
	if s.Named != "" {
		name = fmt.Sprintf(s.Named, tool)
	}
	id := "call_0"
	if s.IDLength > 0 {
		id = strings.Repeat("a", s.IDLength)
	}
	call := func(id any, function map[string]any) {
		s.send(
			map[string]any{"tool_calls": []any{map[string]any{"index": 0, "id": id, "type": "function", "function": function}}},
			nil,
		)
	}
	call(id, map[string]any{"name": name, "arguments": ""})
	for _, piece := range s.pieces(DialectArgs) {
		call(nil, map[string]any{"arguments": piece})
	}
}

// end writes the finish word, the usage and [DONE].
func (s *dialectStream) end(word string) {
	if !s.NoFinish {
		s.send(map[string]any{}, word)
	}
	completion := DialectAnswer + DialectReasoning
	if s.RestCount {
		completion = DialectAnswer
	}
	var usage any = map[string]any{
		"prompt_tokens": DialectPrompt, "completion_tokens": completion,
		"total_tokens":              DialectPrompt + DialectAnswer + DialectReasoning,
		"completion_tokens_details": map[string]any{"reasoning_tokens": DialectReasoning},
	}
	if s.Loose {
		usage = map[string]any{
			"prompt_tokens": "100", "completion_tokens": 47.0, "prompt_tokens_details": []any{},
			"completion_tokens_details": map[string]any{"reasoning_tokens": "40"},
		}
	}
	name := "usage"
	if s.Groq {
		name, usage = "x_groq", map[string]any{"id": "r", "usage": usage}
	}
	s.write(string(encode(map[string]any{"model": s.Model, "choices": []any{}, name: usage})))
	s.write("[DONE]")
}

// FinishWords returns the finish words of the interface and of the server, by what they mean.
func (d Dialect) FinishWords() map[string]string {
	if d.NoFinish {
		return map[string]string{"": "stop"}
	}
	words := map[string]string{
		"stop": "stop", "length": "length", "content_filter": "content-filter", "odd_word": "odd_word",
	}
	maps.Copy(words, d.Words)
	return words
}
