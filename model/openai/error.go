package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spoolhq/spool"
)

const (
	// maxError bounds how many bytes of an error's body are read.
	maxError = 64 << 10
	// maxMessage bounds the message of an error.
	maxMessage = 1000
)

// transportError returns the error for a request without a response.
func (m *Model) transportError(watch *watch, err error) error {
	if ended := watch.ended(); ended != nil {
		return ended
	}
	if watch.silent() {
		return &spool.ModelError{
			Message: fmt.Sprintf("%s did not answer within %s", m.host, watch.limit),
			Err:     context.DeadlineExceeded,
		}
	}
	// The error must not contain the URL, because its query may have a key.
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err
	}
	return &spool.ModelError{Message: m.clean("reach " + m.host + ": " + err.Error()), Err: err}
}

// readError returns the error for an answer that was cut off.
func (m *Model) readError(watch *watch, err error) error {
	if ended := watch.ended(); ended != nil {
		return ended
	}
	if watch.silent() {
		return &spool.ModelError{
			Message: fmt.Sprintf("%s was silent for %s", m.host, watch.limit),
			Err:     context.DeadlineExceeded,
		}
	}
	return &spool.ModelError{Message: m.clean("the answer was cut off: " + err.Error()), Err: err}
}

// statusError returns the error for a response with a status other than 200.
func (m *Model) statusError(watch *watch, response *http.Response) error {
	watch.start(m.config.IdleTimeout)
	defer watch.pause()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxError))
	if err != nil && watch.ended() != nil {
		return watch.ended()
	}

	out := &spool.ModelError{Status: response.StatusCode, After: retryAfter(response.Header, time.Now())}
	var c chunk
	if json.Unmarshal(body, &c) == nil {
		c.describe(out)
	}
	if out.Message == "" {
		out.Message = string(body)
	}
	if to := response.Header.Get("Location"); to != "" && response.StatusCode < http.StatusBadRequest {
		out.Message = "redirected to " + to + ", which is not followed; set BaseURL"
	}
	out.Message = m.clean(out.Message)
	if out.Message == "" {
		out.Message = http.StatusText(response.StatusCode)
	}
	out.Type = m.clean(out.Type)
	return classify(out)
}

// chunkError returns the error in an answer whose status was 200, or nil.
func (m *Model) chunkError(c *chunk) error {
	if (len(c.Error) == 0 || string(c.Error) == "null") && c.Object != "error" {
		return nil
	}
	out := new(spool.ModelError)
	c.describe(out)
	if out.Message == "" {
		out.Message = string(c.Error)
	}
	out.Message, out.Type = m.clean(out.Message), m.clean(out.Type)
	if out.Message == "" {
		out.Message = "the provider reported an error in its answer"
	}
	return classify(out)
}

// describe copies the error in a body to e. The body is {"error":{"message","type","code"}},
// {"error":"..."} or {"message","type","code"}.
func (c *chunk) describe(e *spool.ModelError) {
	var inner struct {
		Message string          `json:"message"`
		Type    string          `json:"type"`
		Code    json.RawMessage `json:"code"`
	}
	inner.Message, inner.Type, inner.Code = c.Message, c.Type, c.Code
	var text string
	switch {
	case len(c.Error) == 0 || string(c.Error) == "null":
	case json.Unmarshal(c.Error, &text) == nil:
		inner.Message = text
	default:
		if json.Unmarshal(c.Error, &inner) != nil {
			return
		}
	}
	e.Message, e.Type = inner.Message, inner.Type
	code := rawText(inner.Code)
	status, err := strconv.Atoi(code)
	switch {
	case err != nil && code != "":
		e.Type = code
	case e.Status == 0 && status >= http.StatusBadRequest && status < 600:
		// The router reports the status of the provider.
		e.Status = status
	}
}

// retryAfter returns how long a response asks to wait, or zero if it does not ask.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return wait(ms * float64(time.Millisecond))
	}
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		return wait(seconds * float64(time.Second))
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// wait returns the duration, at least zero and at most a day.
func wait(ns float64) time.Duration {
	const most = float64(24 * time.Hour)
	if !(ns > 0) { // also if it is not a number
		return 0
	}
	return time.Duration(min(ns, most))
}
