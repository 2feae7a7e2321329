package gemini

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// End is the way in which the stream of an answer ends.
type End int

// The ends.
const (
	// EndClean ends the stream after the finish reason.
	EndClean End = iota
	// EndNoReason ends the stream cleanly, without a finish reason.
	EndNoReason
	// EndCut breaks the connection before the finish reason.
	EndCut
	// EndStall sends nothing more, until the caller goes away.
	EndStall
	// EndError sends Answer.Error in the stream.
	EndError
)

// Answer is a scripted answer.
type Answer struct {
	// Parts are what the model says. The server signs them as [Config.Signing] says.
	Parts []Part
	// Finish is the finish reason. Empty: "STOP". FinishMessage is the comment on it.
	Finish, FinishMessage string
	// Block is the reason for which the prompt is blocked. Then there are no parts. Empty: it is not.
	Block string
	// Usage is the usage of the answer, sent with the last chunk, and with the others without the counts of the
	// answer. Nil: none.
	Usage *Usage
	// Continuation is the token of the finish reason "CONTINUATION".
	Continuation string
	// Error is the answer instead of a stream, or what ends the stream for [EndError].
	Error *Error
	// End says how the stream ends.
	End End
	// Raw are chunks that are sent before the finish reason as they are.
	Raw []string
	// Delay is the time before each chunk.
	Delay time.Duration
	// Whole sends each text in one piece.
	Whole bool
	// Gone is called when the caller goes away from an answer with [EndStall].
	Gone func()
	// Handler answers in the place of the server.
	Handler http.HandlerFunc
}

// Usage are counts of tokens. Zeros are not sent.
type Usage struct {
	Prompt     int `json:"promptTokenCount,omitempty"`
	Cached     int `json:"cachedContentTokenCount,omitempty"`
	Candidates int `json:"candidatesTokenCount,omitempty"`
	Thoughts   int `json:"thoughtsTokenCount,omitempty"`
	ToolUse    int `json:"toolUsePromptTokenCount,omitempty"`
	Total      int `json:"totalTokenCount,omitempty"`
}

func (s *Server) write(w http.ResponseWriter, r *http.Request, q *Request, a Answer) {
	after(r, a.Delay)
	switch {
	case a.Handler != nil:
		a.Handler(w, r)
		return
	case a.Error != nil && a.End != EndError:
		a.Error.write(w)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for i, p := range s.prepare(q, a) {
		if i > 0 {
			after(r, a.Delay)
		}
		send(w, chunk(q.Model, a, &p, ""))
	}
	for _, raw := range a.Raw {
		send(w, []byte(raw))
	}
	switch a.End {
	case EndClean:
		reason := a.Finish
		if reason == "" {
			reason = "STOP"
		}
		send(w, chunk(q.Model, a, nil, reason))
	case EndNoReason:
	case EndCut:
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case EndStall:
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		if a.Gone != nil {
			a.Gone()
		}
	case EndError:
		send(w, a.Error.body())
	}
}

func send(w io.Writer, data []byte) {
	_, _ = fmt.Fprintf(w, "data: %s\r\n\r\n", data)
	if rw, ok := w.(http.ResponseWriter); ok {
		_ = http.NewResponseController(rw).Flush()
	}
}

// chunk returns one chunk of an answer: with a part, or the last one.
func chunk(model string, a Answer, p *Part, reason string) []byte {
	out := map[string]any{"modelVersion": model + "-001", "responseId": "r1"}
	candidate := map[string]any{"index": 0}
	if p != nil {
		candidate["content"] = map[string]any{"role": "model", "parts": []Part{*p}}
	}
	if reason != "" {
		candidate["finishReason"] = reason
	}
	if reason != "" && a.FinishMessage != "" {
		candidate["finishMessage"] = a.FinishMessage
	}
	if reason != "" && a.Continuation != "" {
		candidate["continuationToken"] = a.Continuation
	}
	if a.Block != "" {
		out["promptFeedback"] = map[string]any{"blockReason": a.Block}
	} else {
		out["candidates"] = []any{candidate}
	}
	if a.Usage != nil {
		usage := *a.Usage
		if reason == "" {
			usage.Candidates, usage.Thoughts = 0, 0
		}
		usage.Total = usage.Prompt + usage.Candidates + usage.Thoughts + usage.ToolUse
		out["usageMetadata"] = usage
	}
	body, err := json.Marshal(out)
	if err != nil {
		panic(err)
	}
	return body
}

// prepare returns the parts of an answer as they are sent: texts in pieces, calls with ids, and signatures.
func (s *Server) prepare(q *Request, a Answer) []Part {
	sum := sha256.Sum256(q.Body)
	nonce := string(sum[:nonceLen])
	toSign := s.toSign(a.Parts)
	var out []Part
	calls := 0
	for i, p := range a.Parts {
		switch {
		case p.Call != nil:
			called := *p.Call
			if called.ID == "" && !s.config.NoIDs {
				called.ID = makeID(q.Model, nonce, calls, toSign[i])
			}
			p.Call = &called
			calls++
		case p.Text != nil && !a.Whole && len(*p.Text) > 1:
			pieces := split(*p.Text, int(sum[8])%3+1)
			for _, piece := range pieces[:len(pieces)-1] {
				out = append(out, Part{Text: &piece, Thought: p.Thought})
			}
			p.Text = &pieces[len(pieces)-1]
			if toSign[i] && p.Signature == "" && !p.Thought && sum[9]%2 == 0 {
				// The signature comes with an empty text.
				out = append(out, Part{Text: p.Text})
				empty := ""
				p.Text = &empty
			}
		}
		if p.Signature != "" {
			s.fix(q.Model, p)
		} else if toSign[i] {
			p.Signature = sign(q.Model, nonce, out, p)
		}
		out = append(out, p)
	}
	return out
}

// toSign says which parts get a signature.
func (s *Server) toSign(parts []Part) []bool {
	out := make([]bool, len(parts))
	if s.config.Signing == SignNone {
		return out
	}
	call, text := -1, -1
	for i, p := range parts {
		switch {
		case p.Call != nil && call < 0:
			call = i
		case p.Text != nil && !p.Thought:
			text = i
		}
		out[i] = s.config.Signing == SignAll && p.Call == nil
	}
	switch {
	case call >= 0:
		out[call] = true
	case text >= 0:
		out[text] = true
	}
	return out
}

// split cuts a text into at most n+1 pieces of whole characters.
func split(text string, n int) []string {
	runes := []rune(text)
	size := len(runes)/(n+1) + 1
	var out []string
	for len(runes) > size {
		out = append(out, string(runes[:size]))
		runes = runes[size:]
	}
	return append(out, string(runes))
}
