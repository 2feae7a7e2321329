package gemini

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/modelhttp"
)

const (
	// maxError bounds how many bytes of an error's body are read.
	maxError = 64 << 10
	// maxWait bounds how long an error can ask to wait.
	maxWait = 24 * time.Hour
)

// status is an error in the form of Google's services.
type status struct {
	Code    int      `json:"code"`
	Message string   `json:"message"`
	Status  string   `json:"status"`
	Details []detail `json:"details"`
}

// detail has the fields of three kinds of details: RetryInfo, ErrorInfo and QuotaFailure.
type detail struct {
	RetryDelay string `json:"retryDelay"`
	Reason     string `json:"reason"`
	Violations []struct {
		QuotaID string `json:"quotaId"`
	} `json:"violations"`
}

// transportError returns the error for a request without a response.
func (m *Model) transportError(watch *modelhttp.Watch, err error) error {
	if ended := watch.Ended(); ended != nil {
		return ended
	}
	if watch.Silent() {
		return &spool.ModelError{
			Message: fmt.Sprintf("%s did not answer within %s", m.host, watch.Limit()),
			Err:     context.DeadlineExceeded,
		}
	}
	// The error must not contain the URL, because a gateway's path may have a key.
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err
	}
	return &spool.ModelError{Message: m.secrets.Clean("reach " + m.host + ": " + err.Error()), Err: err}
}

// readError returns the error for an answer that was cut off.
func (m *Model) readError(watch *modelhttp.Watch, err error) error {
	if ended := watch.Ended(); ended != nil {
		return ended
	}
	if watch.Silent() {
		return &spool.ModelError{
			Message: fmt.Sprintf("%s was silent for %s", m.host, watch.Limit()),
			Err:     context.DeadlineExceeded,
		}
	}
	return &spool.ModelError{Message: m.secrets.Clean("the answer was cut off: " + err.Error()), Err: err}
}

// statusError returns the error for a response with a status other than 200.
func (m *Model) statusError(watch *modelhttp.Watch, response *http.Response) error {
	watch.Start(m.config.IdleTimeout)
	defer watch.Pause()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxError))
	if err != nil && watch.Ended() != nil {
		return watch.Ended()
	}
	out := &spool.ModelError{Status: response.StatusCode}
	describe(body, out)
	if after := modelhttp.RetryAfter(response.Header, time.Now()); after > 0 {
		out.After = after
	}
	if out.Message == "" {
		out.Message = string(body)
	}
	if to := response.Header.Get("Location"); to != "" && response.StatusCode < http.StatusBadRequest {
		out.Message = "redirected to " + to + ", which is not followed; set BaseURL"
	}
	out.Message, out.Type = m.secrets.Clean(out.Message), m.secrets.Clean(out.Type)
	if out.Message == "" {
		out.Message = http.StatusText(response.StatusCode)
	}
	out.Message = m.secrets.Asked(out.Message, response)
	out.ContextOverflow = overflows(out)
	return out
}

// chunkError returns the error of a chunk that has one.
func (m *Model) chunkError(data []byte) error {
	out := new(spool.ModelError)
	describe(data, out)
	if out.Message == "" {
		out.Message = string(data)
	}
	out.Message, out.Type = m.secrets.Clean(out.Message), m.secrets.Clean(out.Type)
	out.ContextOverflow = overflows(out)
	return out
}

// describe copies the error in a body to e. The body is {"error":{...}}, {"error":"..."} or a list with one of these.
func describe(body []byte, e *spool.ModelError) {
	var list []json.RawMessage
	if body = bytes.TrimSpace(body); len(body) > 0 && body[0] == '[' &&
		json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var outer struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &outer) != nil || len(outer.Error) == 0 {
		return
	}
	var s status
	if json.Unmarshal(outer.Error, &s) != nil {
		// A gateway has a form of its own.
		_ = json.Unmarshal(outer.Error, &s.Message)
	}
	e.Message, e.Type = s.Message, s.Status
	if e.Status == 0 && s.Code >= http.StatusBadRequest && s.Code < 600 {
		e.Status = s.Code
	}
	for _, d := range s.Details {
		if d.Reason != "" {
			e.Type = d.Reason
		}
		if after, err := time.ParseDuration(d.RetryDelay); err == nil {
			e.After = min(max(after, 0), maxWait)
		}
		for _, v := range d.Violations {
			// The quota comes back tomorrow, and no run waits for that.
			e.NoRetry = e.NoRetry || strings.Contains(v.QuotaID, "PerDay")
		}
	}
}

// overflowTexts are the messages about a prompt that is too long for the model or for the API, in lower case. A
// message matches an entry if it contains all texts of the entry.
var overflowTexts = [][]string{
	{"exceeds the maximum number of tokens"},
	{"input token count", "exceeds the maximum"},
	{"request payload size exceeds the limit"},
}

// overflows reports whether an error says that the prompt is too long.
func overflows(e *spool.ModelError) bool {
	if e.Status != http.StatusBadRequest && e.Status != http.StatusRequestEntityTooLarge {
		return false
	}
	text := strings.ToLower(e.Message)
	for _, words := range overflowTexts {
		matches := true
		for _, w := range words {
			matches = matches && strings.Contains(text, w)
		}
		if matches {
			return true
		}
	}
	return false
}
