package anthropic

import (
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

// maxError bounds how many bytes of an error's body are read.
const maxError = 64 << 10

// requestError returns the error for a request without a whole response.
func (m *Model) requestError(watch *modelhttp.Watch, err error) error {
	if ended := watch.Ended(); ended != nil {
		return ended
	}
	if watch.Silent() {
		return &spool.ModelError{
			Message: fmt.Sprintf("%s did not answer within %s", m.host, watch.Limit()),
			Err:     context.DeadlineExceeded,
		}
	}
	// The error must not contain the URL, because its query may have a key.
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err
	}
	return &spool.ModelError{Message: m.secrets.Clean("reach " + m.host + ": " + err.Error()), Err: m.hidden(err)}
}

// hidden returns an error that stays comparable with [errors.Is], unless its text has a secret.
func (m *Model) hidden(err error) error {
	if text := err.Error(); len(text) < 1000 && m.secrets.Clean(text) != strings.TrimSpace(text) {
		return nil
	}
	return err
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

// wireError is an error in a body or in a stream.
type wireError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// statusError returns the error for a response with a status other than 200.
func (m *Model) statusError(watch *modelhttp.Watch, response *http.Response) error {
	in := &modelhttp.Body{ReadCloser: response.Body, Watch: watch, First: m.config.IdleTimeout, Next: m.config.IdleTimeout}
	body, err := io.ReadAll(io.LimitReader(in, maxError))
	if err != nil {
		return m.requestError(watch, err)
	}
	status, header := response.StatusCode, response.Header
	out := &spool.ModelError{Status: status, After: modelhttp.RetryAfter(header, time.Now())}
	var envelope struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
	}
	if json.Unmarshal(body, &envelope) == nil {
		out.Type, out.Message = describe(envelope.Error)
		if out.Message == "" {
			out.Message = envelope.Message // a cloud's own error
		}
	}
	if out.Message == "" {
		out.Message = string(body)
	}
	if to := header.Get("Location"); to != "" && status < http.StatusBadRequest {
		out.Message = "redirected to " + to + ", which is not followed; set BaseURL"
	}
	out.Message, out.Type = m.secrets.Clean(out.Message), m.secrets.Clean(out.Type)
	if out.Message == "" {
		out.Message = http.StatusText(status)
	}
	if out.Message == "" {
		out.Message = fmt.Sprintf("status %d", status)
	}
	out.Message = m.secrets.Asked(out.Message, response)
	// A rate limit that waiting does not lift, such as a spent allowance of the account.
	out.NoRetry = status == http.StatusTooManyRequests && header.Get("X-Should-Retry") == "false"
	out.ContextOverflow = overflows(out)
	return out
}

// eventError returns the error in an answer whose status was 200, or nil.
func (m *Model) eventError(e *event) error {
	if e.Type != "error" && (len(e.Error) == 0 || string(e.Error) == "null") {
		return nil
	}
	out := new(spool.ModelError)
	out.Type, out.Message = describe(e.Error)
	if out.Message == "" {
		out.Message = string(e.Error)
	}
	out.Status = statuses[out.Type]
	out.Message, out.Type = m.secrets.Clean(out.Message), m.secrets.Clean(out.Type)
	if out.Message == "" {
		out.Message = "the provider reported an error in its answer"
	}
	out.ContextOverflow = overflows(out)
	return out
}

// describe returns the type and the message of an error, which may be a text.
func describe(raw json.RawMessage) (kind, message string) {
	var inner wireError
	switch {
	case json.Unmarshal(raw, &inner) == nil:
		return inner.Type, inner.Message
	case json.Unmarshal(raw, &message) == nil:
		return "", message
	default:
		return "", ""
	}
}

// statuses are the statuses of errors inside a stream. An error without one is not permanent.
var statuses = map[string]int{
	"invalid_request_error": 400,
	"authentication_error":  401,
	"billing_error":         402,
	"permission_error":      403,
	"not_found_error":       404,
	"request_too_large":     413,
	"rate_limit_error":      429,
	"api_error":             500,
	"timeout_error":         504,
	"overloaded_error":      529,

	// Amazon Bedrock's.
	"validationException":         400,
	"throttlingException":         429,
	"internalServerException":     500,
	"modelStreamErrorException":   500,
	"serviceUnavailableException": 503,
	"modelTimeoutException":       504,
}

// overflowTexts are messages about a context overflow, in lower case. A message matches an entry if it contains
// all texts of the entry.
var overflowTexts = [][]string{
	{"prompt is too long"},
	{"input length and", "exceed context limit"},
	{"input is too long for requested model"}, // Amazon Bedrock
	{"exceeds the context window"},
}

// overflows reports whether the prompt does not fit into the model's window.
func overflows(e *spool.ModelError) bool {
	if e.Status != http.StatusBadRequest && e.Status != http.StatusRequestEntityTooLarge {
		return false
	}
	if e.Type == "request_too_large" {
		return true
	}
	text := strings.ToLower(e.Message)
	for _, words := range overflowTexts {
		all := true
		for _, w := range words {
			all = all && strings.Contains(text, w)
		}
		if all {
			return true
		}
	}
	return false
}
