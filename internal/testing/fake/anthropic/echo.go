package anthropic

import "fmt"

// Echo is a [Config.Answer] that thinks, if it may, and repeats the prompt. A request for a value gets an empty
// object.
func Echo(r Request) Answer {
	said := r.Said()
	if results := r.Results(); len(results) > 0 {
		said = string(results[len(results)-1].Content)
	}
	text := Text("You said: " + said)
	if r.Schema != nil {
		text = Text("{}")
	}
	a := Answer{Blocks: []Block{text}, Piece: 16}
	if r.Thinking == "adaptive" || r.Thinking == "enabled" {
		a.Blocks = []Block{Thinking(fmt.Sprintf("The conversation has %d messages.", len(r.Messages))), text}
	}
	cached := 100 * (len(r.Messages) - 1)
	a.Start = map[string]any{
		"input_tokens": 20, "cache_read_input_tokens": cached, "cache_creation_input_tokens": 100, "output_tokens": 1,
	}
	a.End = map[string]any{"output_tokens": 25, "output_tokens_details": map[string]any{"thinking_tokens": 10}}
	return a
}
