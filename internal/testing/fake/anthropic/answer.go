package anthropic

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"
)

// Answer is what the server says to one request.
type Answer struct {
	// Blocks are the content.
	Blocks []Block
	// Stop is the stop reason. Empty: "tool_use" if there is a call, else "end_turn". "-": the answer ends
	// without one.
	Stop string
	// Model is the name that the answer has. Empty: that of the request.
	Model string
	// Start and End are the usages of the first and of the last event. Nil: counts that are made up. A
	// map without entries: no usage at all.
	Start, End map[string]any

	// Error is sent instead of the answer.
	Error *Error
	// Fault breaks the answer.
	Fault Fault
	// After is how many events are sent before the fault. -1: not even headers.
	After int
	// Late is sent as an event by [FaultError].
	Late Error
	// Garbage is what [FaultGarbage] and [FaultFlood] send.
	Garbage string
	// Pause is how long the server waits between events.
	Pause time.Duration
	// Piece is how many bytes of a text come in one event. Zero: 8.
	Piece int
}

// Fault is how an answer breaks.
type Fault string

// The faults.
const (
	// FaultCut breaks the connection.
	FaultCut Fault = "cut"
	// FaultEnd ends the stream cleanly.
	FaultEnd Fault = "end"
	// FaultStall sends nothing more until the caller goes away.
	FaultStall Fault = "stall"
	// FaultError sends an error as an event.
	FaultError Fault = "error"
	// FaultGarbage sends bytes of any kind, and goes on with the answer.
	FaultGarbage Fault = "garbage"
	// FaultFlood sends bytes of any kind again and again until the caller goes away, 256 MiB at most.
	FaultFlood Fault = "flood"
)

// Block is a block of an answer.
type Block struct {
	Type string
	// Text of a text or of thinking. The data of redacted thinking is made up.
	Text string
	// Signature replaces the signature that the server makes: that of thinking, the data of redacted thinking,
	// the index of a text's citation.
	Signature string
	// Caller is that of a call. Nil: none.
	Caller map[string]any
	// ID of a call. Empty: it is made up.
	ID string
	// Name and Args of a call, of the service's own tools too. Args is JSON.
	Name, Args string
	// Pieces are the pieces of Args. Nil: they are cut from Args.
	Pieces []string
	// Raw is a block that is sent as it is.
	Raw json.RawMessage
	// Cited adds a citation to a text.
	Cited bool
	// Loose is thinking whose signature does not depend on the next call of its message.
	Loose bool
	// NoEnd leaves out the event that ends the block.
	NoEnd bool
}

// Text returns a text.
func Text(text string) Block { return Block{Type: "text", Text: text} }

// Thinking returns a block of thinking that the server signs.
func Thinking(text string) Block { return Block{Type: "thinking", Text: text} }

// Redacted returns a block of thinking that nobody can read.
func Redacted(seed string) Block { return Block{Type: "redacted_thinking", Text: seed} }

// Call returns a call of a tool.
func Call(name, args string) Block { return Block{Type: "tool_use", Name: name, Args: args} }

// Search returns a search of the service itself, and its result.
func Search(query string) []Block {
	return []Block{
		{Type: "server_tool_use", Name: "web_search", Args: string(encode(map[string]any{"query": query}))},
		{Type: "web_search_tool_result", Text: query},
	}
}

// event is one event of a stream.
type event struct {
	name string
	data []byte
}

// place says where the answer stands in the conversation: it may go on from blocks that the caller sent.
type place struct {
	model   string
	display string
	// first is the number of blocks that the message already has.
	first int
	// thought is how many of them are thinking.
	thought int
}

// serve sends an answer.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, request Request) {
	a := s.config.Answer(request)
	if a.Error != nil {
		refuse(w, a.Error)
		return
	}
	if a.Fault == FaultStall && a.After < 0 {
		s.stall(r)
		return
	}
	blocks := s.sign(a.Blocks, request.place())
	if !request.Stream {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(encode(a.message(request, blocks, a.stop(), a.usage())))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	out := http.NewResponseController(w)
	for n, e := range a.events(request, blocks) {
		if a.Fault != "" && n == a.After {
			if a.Fault != FaultGarbage {
				break
			}
			_, _ = io.WriteString(w, a.Garbage)
		}
		if _, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e.name, e.data); err != nil {
			return
		}
		if a.Pause > 0 || n == 0 {
			_ = out.Flush()
		}
		pause(r, a.Pause)
	}
	_ = out.Flush()
	switch a.Fault {
	case FaultCut:
		panic(http.ErrAbortHandler)
	case FaultStall:
		s.stall(r)
	case FaultError:
		_, _ = fmt.Fprintf(w, "event: error\ndata: %s\n\n", a.Late.event())
	case FaultFlood:
		s.flood(w, r, a.Garbage)
	case FaultEnd, FaultGarbage:
	}
}

func (a *Answer) stop() string {
	if a.Stop != "" {
		return a.Stop
	}
	for _, b := range a.Blocks {
		if b.Type == "tool_use" {
			return "tool_use"
		}
	}
	return "end_turn"
}

func (a *Answer) usage() map[string]any {
	if a.Start != nil {
		return a.Start
	}
	return map[string]any{
		"input_tokens": 10, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 1,
	}
}

func (a *Answer) message(request Request, blocks []map[string]any, stop any, usage map[string]any) map[string]any {
	model := a.Model
	if model == "" {
		model = request.Model
	}
	m := map[string]any{
		"id": "msg_fake", "type": "message", "role": "assistant", "model": model,
		"content": blocks, "stop_reason": stop, "stop_sequence": nil,
	}
	if len(usage) > 0 {
		m["usage"] = usage
	}
	return m
}

// events returns the events of an answer.
func (a *Answer) events(request Request, blocks []map[string]any) []event {
	events := []event{
		{
			"message_start",
			encode(map[string]any{"type": "message_start", "message": a.message(request, []map[string]any{}, nil, a.usage())}),
		},
		{"ping", []byte(`{"type":"ping"}`)},
	}
	for i, b := range blocks {
		events = append(events, a.blockEvents(i, b)...)
	}
	if a.Stop == "-" {
		return events
	}
	last := map[string]any{"type": "message_delta", "delta": map[string]any{"stop_reason": a.stop(), "stop_sequence": nil}}
	switch {
	case a.End == nil:
		last["usage"] = map[string]any{"output_tokens": 5}
	case len(a.End) > 0:
		last["usage"] = a.End
	}
	return append(events, event{"message_delta", encode(last)}, event{"message_stop", []byte(`{"type":"message_stop"}`)})
}

// blockEvents returns the events of a block, which is the whole block.
func (a *Answer) blockEvents(i int, whole map[string]any) []event {
	started := maps.Clone(whole)
	var deltas []map[string]any
	kind := whole["type"]
	if a.Blocks[i].Raw != nil {
		kind = "" // it comes at once
	}
	switch kind {
	case "text":
		started["text"] = ""
		delete(started, "citations")
		deltas = a.pieces("text_delta", "text", whole["text"])
		if cited, ok := whole["citations"].([]any); ok {
			for _, c := range cited {
				deltas = append(deltas, map[string]any{"type": "citations_delta", "citation": c})
			}
		}
	case "thinking":
		started["thinking"], started["signature"] = "", ""
		deltas = a.pieces("thinking_delta", "thinking", whole["thinking"])
		deltas = append(deltas, map[string]any{"type": "signature_delta", "signature": whole["signature"]})
	case "tool_use", "server_tool_use":
		started["input"] = map[string]any{}
		deltas = []map[string]any{{"type": "input_json_delta", "partial_json": ""}}
		if pieces := a.Blocks[i].Pieces; pieces != nil {
			for _, p := range pieces {
				deltas = append(deltas, map[string]any{"type": "input_json_delta", "partial_json": p})
			}
			break
		}
		deltas = append(deltas, a.pieces("input_json_delta", "partial_json", a.Blocks[i].Args)...)
	}
	events := []event{
		{"content_block_start", encode(map[string]any{"type": "content_block_start", "index": i, "content_block": started})},
	}
	for _, d := range deltas {
		events = append(events, event{
			"content_block_delta", encode(map[string]any{"type": "content_block_delta", "index": i, "delta": d}),
		})
	}
	if a.Blocks[i].NoEnd {
		return events
	}
	return append(events, event{"content_block_stop", encode(map[string]any{"type": "content_block_stop", "index": i})})
}

// pieces cuts a text into deltas.
func (a *Answer) pieces(kind, field string, value any) []map[string]any {
	text, ok := value.(string)
	if !ok {
		return nil
	}
	size := a.Piece
	if size <= 0 {
		size = 8
	}
	var out []map[string]any
	for text != "" {
		n := min(size, len(text))
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		out = append(out, map[string]any{"type": kind, field: strings.Clone(text[:n])})
		text = text[n:]
	}
	return out
}
