package httptool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/spoolhq/spool"
)

// Body is the form of a request's body.
type Body string

// The forms of bodies.
const (
	// BodyArguments has the arguments of the call, unchanged.
	BodyArguments Body = "arguments"
	// BodyEnvelope is an object with the fields "arguments", "call" and "answer".
	BodyEnvelope Body = "envelope"
)

// The headers that name the run of a call. A value has only printable ASCII: every other byte, and a percent
// sign, becomes "%" and two hex digits. Empty headers are left out.
const (
	HeaderTenant  = "Spool-Tenant"
	HeaderSubject = "Spool-Subject"
	HeaderThread  = "Spool-Thread"
	HeaderRun     = "Spool-Run"
	// HeaderPayload has the payload of the answer to the call, as JSON on one line in ASCII. It is left out
	// if there is no payload.
	HeaderPayload = "Spool-Answer-Payload"
)

// maxPayloadHeader bounds HeaderPayload: common servers take 8 KiB of headers in all.
const maxPayloadHeader = 4 << 10

// envelope is the body with all facts about a call.
type envelope struct {
	Arguments json.RawMessage `json:"arguments"`
	Call      envelopeCall    `json:"call"`
	// Answer is the answer to the call. Nil: nobody was asked.
	Answer *envelopeAnswer `json:"answer,omitempty"`
}

type envelopeCall struct {
	Tenant         spool.Tenant     `json:"tenant"`
	Subject        string           `json:"subject,omitempty"`
	ThreadID       spool.ThreadID   `json:"threadId"`
	RunID          spool.RunID      `json:"runId"`
	Step           int              `json:"step"`
	ToolCallID     spool.ToolCallID `json:"toolCallId"`
	ToolName       string           `json:"toolName"`
	IdempotencyKey string           `json:"idempotencyKey"`
}

type envelopeAnswer struct {
	Approved bool            `json:"approved"`
	Payload  json.RawMessage `json:"payload,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	By       string          `json:"by,omitempty"`
}

// request returns the request of a call.
func (e *endpoint) request(ctx context.Context, c spool.ToolCall) (*http.Request, error) {
	payload, err := e.payload(c)
	if err != nil {
		return nil, err
	}
	body, err := e.body(c)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.config.URL, bytes.NewReader(body))
	if err != nil {
		return nil, spool.Errorf(spool.Internal, "make request to %s", e.host)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	for name, value := range e.config.Headers {
		request.Header.Set(name, value)
	}
	for name, value := range map[string]string{
		"Idempotency-Key": c.IdempotencyKey(),
		HeaderTenant:      escape(string(c.Thread.Tenant)),
		HeaderSubject:     escape(c.Subject),
		HeaderThread:      escape(string(c.Thread.ID)),
		HeaderRun:         escape(string(c.RunID)),
		HeaderPayload:     payload,
	} {
		request.Header.Del(name)
		if value != "" {
			request.Header.Set(name, value)
		}
	}
	return request, nil
}

// body returns the bytes that are posted for a call.
func (e *endpoint) body(c spool.ToolCall) ([]byte, error) {
	args := c.Args
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	if e.config.Body == BodyArguments {
		return args, nil
	}
	sent := envelope{Arguments: args, Call: envelopeCall{
		Tenant: c.Thread.Tenant, Subject: c.Subject, ThreadID: c.Thread.ID, RunID: c.RunID, Step: c.Step, ToolCallID: c.ID,
		ToolName: c.Name, IdempotencyKey: c.IdempotencyKey(),
	}}
	if a := c.Answer; a != nil {
		sent.Answer = &envelopeAnswer{Approved: a.Approved, Payload: a.Payload, Reason: a.Reason, By: a.By}
	}
	body, err := json.Marshal(sent)
	return body, spool.Wrap(spool.Invalid, "the arguments of the call are no JSON", err)
}

// payload returns the value of HeaderPayload. A payload that is too long for a header is an error: without
// it, the call would not be the one that was answered.
func (e *endpoint) payload(c spool.ToolCall) (string, error) {
	if c.Answer == nil || len(c.Answer.Payload) == 0 || e.config.Body == BodyEnvelope {
		return "", nil
	}
	var line bytes.Buffer
	if err := json.Compact(&line, c.Answer.Payload); err != nil {
		return "", spool.Errorf(spool.Invalid, "the payload of the answer is no JSON")
	}
	text := ascii(line.String())
	if len(text) > maxPayloadHeader {
		return "", spool.Errorf(spool.Limit,
			"the call was not made: the payload of its answer takes %d bytes of a header, and may take %d unless the tool is configured with the body %q",
			len(text), maxPayloadHeader, BodyEnvelope)
	}
	return text, nil
}

// ascii returns JSON with every character outside of ASCII as its escape.
func ascii(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r < 0x7f:
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// escape returns text as the value of a header.
func escape(text string) string {
	var b strings.Builder
	for i := range len(text) {
		if c := text[i]; c == '%' || c < ' ' || c > '~' {
			b.WriteString("%" + strings.ToUpper(strconv.FormatUint(uint64(c)|0x100, 16)[1:]))
			continue
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
