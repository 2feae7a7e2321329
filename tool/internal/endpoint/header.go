package endpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/spoolhq/spool"
)

// HeaderKey has the idempotency key of the call: see [store.RunRow.CallKey].
const HeaderKey = "Idempotency-Key"

// The headers that say whose call it is. A value has only printable ASCII: every other byte, and a percent
// sign, becomes "%" and two hex digits. Empty headers are left out.
const (
	HeaderTenant  = "Spool-Tenant"
	HeaderSubject = "Spool-Subject"
	HeaderThread  = "Spool-Thread"
	HeaderRun     = "Spool-Run"
	HeaderAgent   = "Spool-Agent"
	HeaderStep    = "Spool-Step"
	// HeaderFence has the number of the worker that calls: see [spool.ToolCall.Fence].
	HeaderFence = "Spool-Fence"
	// HeaderAnsweredBy has the subject that answered the call, if it waited for an answer.
	HeaderAnsweredBy = "Spool-Answer-By"
	// HeaderPayload has the payload of the answer to the call, as JSON on one line in ASCII. It is left out
	// if there is no payload.
	HeaderPayload = "Spool-Answer-Payload"
)

// maxPayloadHeader bounds HeaderPayload: common servers take 8 KiB of headers in all.
const maxPayloadHeader = 4 << 10

// header returns the headers of a call. Those of the configuration replace those of the request, and the
// endpoint's own replace both.
func (e *Endpoint) header(c spool.ToolCall, r Request) (http.Header, error) {
	h := r.Header.Clone()
	if h == nil {
		h = make(http.Header)
	}
	if h.Get("Accept") == "" {
		h.Set("Accept", "application/json")
	}
	for name, value := range e.config.Headers {
		h.Set(name, value)
	}
	own := map[string]string{
		HeaderKey: c.IdempotencyKey(), HeaderTenant: "", HeaderSubject: "", HeaderThread: "", HeaderRun: "", HeaderAgent: "",
		HeaderStep: "", HeaderFence: "", HeaderAnsweredBy: "", HeaderPayload: "",
	}
	if r.ShortKey {
		own[HeaderKey] = WebhookID(c)
	}
	if r.Caller {
		if err := setCallHeaders(own, c, r.Enveloped); err != nil {
			return nil, err
		}
	}
	for name, value := range own {
		h.Del(name)
		if value != "" {
			h.Set(name, value)
		}
	}
	return h, nil
}

// setCallHeaders sets the headers that say whose call it is.
func setCallHeaders(h map[string]string, c spool.ToolCall, enveloped bool) error {
	h[HeaderTenant], h[HeaderSubject] = escape(string(c.Thread.Tenant)), escape(c.Subject)
	h[HeaderThread], h[HeaderRun], h[HeaderAgent] = escape(string(c.Thread.ID)), escape(string(c.RunID)), escape(c.Agent)
	if c.Step > 0 {
		h[HeaderStep] = strconv.Itoa(c.Step)
	}
	if c.Fence > 0 {
		h[HeaderFence] = strconv.FormatInt(c.Fence, 10)
	}
	if c.Answer == nil {
		return nil
	}
	h[HeaderAnsweredBy] = escape(c.Answer.By)
	if enveloped {
		return nil
	}
	var err error
	h[HeaderPayload], err = payload(c.Answer.Payload)
	return err
}

// payload returns the value of HeaderPayload. A payload that is too long for a header is an error: without
// it, the call would not be the one that was answered.
func payload(text json.RawMessage) (string, error) {
	if len(text) == 0 {
		return "", nil
	}
	var line bytes.Buffer
	if err := json.Compact(&line, text); err != nil {
		return "", spool.Errorf(spool.Invalid, "the payload of the answer is no JSON")
	}
	value := ascii(line.String())
	if len(value) > maxPayloadHeader {
		return "", spool.Errorf(spool.Limit,
			"the call was not made: the payload of its answer takes %d bytes of a header, and may take %d unless the tool is configured with the body \"envelope\"",
			len(value), maxPayloadHeader)
	}
	return value, nil
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
