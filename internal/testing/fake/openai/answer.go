package openai

import (
	"fmt"
	"net/http"
	"strconv"
)

// Answer is a scripted answer. The server signs it.
type Answer struct {
	// Reasoning are the texts of the reasoning_details.
	Reasoning []string
	// Sealed adds a detail that only the model can read.
	Sealed bool
	Text   string
	// Calls have ids that the server makes up.
	Calls []Call
	// Signed gives the first call a thought signature.
	Signed bool
	// Status refuses the request, if it is not zero.
	Status int
	// Cut breaks the connection before the finish reason.
	Cut bool
}

func (a Answer) write(w http.ResponseWriter, r *Request) {
	if a.Status != 0 {
		refuse(w, a.Status, "server_error", http.StatusText(a.Status))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(data []byte) { _, _ = fmt.Fprintf(w, "data: %s\n\n", data) }
	for _, d := range a.deltas(r) {
		send(encode(map[string]any{"model": r.Model, "choices": []any{map[string]any{"index": 0, "delta": d}}}))
	}
	if a.Cut {
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	reason := "stop"
	if len(a.Calls) > 0 {
		reason = "tool_calls"
	}
	send(encode(map[string]any{
		"model": r.Model, "choices": []any{map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": reason}},
	}))
	send(encode(map[string]any{
		"choices": []any{},
		"usage":   map[string]any{"prompt_tokens": 10 * len(r.Messages), "completion_tokens": 5},
	}))
	send([]byte("[DONE]"))
}

// deltas returns the pieces of an answer.
func (a Answer) deltas(r *Request) (out []map[string]any) {
	nonce := r.nonce
	detail := func(d map[string]any) { out = append(out, map[string]any{"reasoning_details": []any{d}}) }
	n := 0
	for _, text := range a.Reasoning {
		half := len(text) / 2
		detail(map[string]any{"type": "reasoning.text", "index": n, "text": text[:half]})
		detail(map[string]any{
			"type": "reasoning.text", "index": n, "text": text[half:], "signature": signDetail(r.Model, nonce, n, text),
		})
		n++
	}
	if a.Sealed {
		detail(map[string]any{"type": "reasoning.encrypted", "index": n, "data": signDetail(r.Model, nonce, n, "sealed")})
		n++
	}
	if a.Text != "" {
		half := len(a.Text) / 2
		out = append(out, map[string]any{"content": a.Text[:half]}, map[string]any{"content": a.Text[half:]})
	}
	for i, c := range a.Calls {
		signed := a.Signed && i == 0
		id := callID(r.Model, nonce, i, n, signed)
		call := map[string]any{
			"index": i, "id": id, "type": "function", "function": map[string]any{"name": c.Name, "arguments": ""},
		}
		if signed {
			call["extra_content"] = map[string]any{
				"google": map[string]any{"thought_signature": signCall(r.Model, nonce, id, c.Name, c.Args)},
			}
		}
		out = append(out, map[string]any{"tool_calls": []any{call}},
			map[string]any{"tool_calls": []any{map[string]any{"index": i, "function": map[string]any{"arguments": c.Args}}}})
	}
	return out
}

// Echo is a script that thinks and repeats the prompt.
func Echo(r *Request) Answer {
	last := r.Messages[len(r.Messages)-1]
	return Answer{
		Reasoning: []string{"The conversation has " + strconv.Itoa(len(r.Messages)) + " messages."},
		Text:      "You said: " + last.Text,
	}
}
