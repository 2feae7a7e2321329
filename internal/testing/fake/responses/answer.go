package responses

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// Answer is what the script answers to a request. The zero value is an empty answer that is complete.
type Answer struct {
	Items []Item
	// Usage is reported at the end. Nil: none is.
	Usage *Usage
	// Incomplete is the reason why the answer is incomplete, such as "max_output_tokens". Empty: it is complete.
	Incomplete string
	// Failed ends the answer as a failed response, after its items. Code and Message are used.
	Failed *Failure
	// Error ends the stream with an error event, after its items. Code and Message are used.
	Error *Failure

	// HTTP refuses the request with a status.
	HTTP *Failure
	// HangAtOnce sends no headers until the client leaves.
	HangAtOnce bool
	// CutAfter breaks the connection after so many events, HangAfter sends no more until the client leaves, and
	// EndAfter ends the stream cleanly. Zero: not. A text begins with the fifth event.
	CutAfter, HangAfter, EndAfter int
	// Gone is called when the server sees that the client left a request that hangs.
	Gone func()
	// Do is called after so many events of an answer that is not in the background, and may write to the stream.
	// It reports whether the stream ends with it. Nil: nothing is called.
	Do      func(w http.ResponseWriter, r *http.Request) bool
	DoAfter int

	// Hold is called before each event of a background answer is made, with the event's number, and may block.
	// Nil: all are made at once.
	Hold func(n int)
	// Cuts are CutAfter of the streams that come back to a background answer, in order.
	Cuts []int
	// FailGets is how many requests that come back to the answer get a 503.
	FailGets int
	// StreamOver refuses to stream the answer again.
	StreamOver bool
}

func (a Answer) gone() {
	if a.Gone != nil {
		a.Gone()
	}
}

// Failure is an error of the server.
type Failure struct {
	// Status is for HTTP only.
	Status              int
	Code, Type, Message string
	RetryAfter          string
}

// Usage is the usage of an answer, in tokens.
type Usage struct{ Input, Cached, CacheWrite, Output, Reasoning int }

// Item is an item of an answer.
type Item struct {
	kind   string
	pieces []string
	parts  [][]string
	callID string
	name   string
	phase  string
	raw    string
	sealed string
}

// Sealed returns reasoning whose encrypted content begins with a text.
func (i Item) Sealed(text string) Item {
	i.sealed = text
	return i
}

// Text is a message, streamed in pieces.
func Text(pieces ...string) Item { return Item{kind: "message", pieces: pieces} }

// Phase is a message of a phase, such as "commentary".
func Phase(phase string, pieces ...string) Item {
	return Item{kind: "message", phase: phase, pieces: pieces}
}

// Refusal is a message in which the model refuses to answer.
func Refusal(pieces ...string) Item { return Item{kind: "refusal", pieces: pieces} }

// Call is a function call, whose arguments are streamed in pieces. An empty id: the server makes one up.
func Call(id, name string, pieces ...string) Item {
	return Item{kind: "function_call", callID: id, name: name, pieces: pieces}
}

// Reason is reasoning, whose summary is streamed in pieces. No pieces: it has no summary.
func Reason(pieces ...string) Item {
	if len(pieces) == 0 {
		return Item{kind: "reasoning"}
	}
	return ReasonParts(pieces)
}

// ReasonParts is reasoning whose summary has several parts, each streamed in pieces.
func ReasonParts(parts ...[]string) Item { return Item{kind: "reasoning", parts: parts} }

// Own is an item that only the server understands, as JSON without an id.
func Own(raw string) Item { return Item{kind: "own", raw: raw} }

// made is an item with its wire form.
type made struct {
	Item

	id   string
	next string // the digest of the item that follows, for reasoning
	wire fields // complete
}

// make builds the items of an answer. It begins with the last one, because reasoning is bound to what follows.
func (s *Server) make(r *Request, items []Item) []*made {
	out := make([]*made, len(items))
	next := ""
	for i, item := range slices.Backward(items) {
		m := &made{Item: item, next: next}
		switch item.kind {
		case "message", "refusal":
			s.makeMessage(m)
		case "function_call":
			m.id = s.id("fc")
			if m.callID == "" {
				m.callID = s.id("call")
			}
			m.wire = fields{
				"id": m.id, "type": "function_call", "status": "completed", "call_id": m.callID, "name": m.name,
				"arguments": strings.Join(m.pieces, ""),
			}
		case "reasoning":
			s.makeReasoning(r, m)
		case "own":
			s.makeOwn(r, m)
		}
		raw := encode(m.wire)
		var in Input
		if err := json.Unmarshal(raw, &in); err != nil {
			panic(err)
		}
		in.Raw = raw
		next = sum(in.key())
		out[i] = m
	}
	return out
}

func (s *Server) makeMessage(m *made) {
	m.id = s.id("msg")
	text := strings.Join(m.pieces, "")
	part := fields{"type": "output_text", "text": text, "annotations": []any{}, "logprobs": []any{}}
	if m.kind == "refusal" {
		part = fields{"type": "refusal", "refusal": text}
	}
	m.wire = fields{"id": m.id, "type": "message", "status": "completed", "role": "assistant", "content": []any{part}}
	if m.phase != "" {
		m.wire["phase"] = m.phase
	}
}

func (s *Server) makeReasoning(r *Request, m *made) {
	m.id = s.id("rs")
	summary := make([]any, len(m.parts))
	for i, pieces := range m.parts {
		summary[i] = fields{"type": "summary_text", "text": strings.Join(pieces, "")}
	}
	m.wire = fields{"id": m.id, "type": "reasoning", "summary": summary}
	if wantsEncrypted(r) {
		m.wire["encrypted_content"] = m.sealed + s.seal(token{
			ID: m.id, Model: r.Model, Text: m.sealed, Summary: canonical(encode(summary)), Next: m.next,
		})
	}
}

func wantsEncrypted(r *Request) bool {
	include, ok := r.Body["include"].([]any)
	return ok && slices.Contains(include, any("reasoning.encrypted_content"))
}

func (s *Server) makeOwn(r *Request, m *made) {
	if err := json.Unmarshal([]byte(m.raw), &m.wire); err != nil {
		panic(err)
	}
	m.id = s.id("ws")
	m.wire["id"] = m.id
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sealed[digest(encode(m.wire))] = r.Model
}
