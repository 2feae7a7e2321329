package openaiwire

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/modelhttp"
)

// Failure is the error in a body: {"error":{"message","type","code"}}, {"error":"..."} or
// {"message","type","code"}.
type Failure struct {
	Error json.RawMessage `json:"error"`

	// vLLM sends the fields of an error at the top level.
	Message Text            `json:"message"`
	Type    Text            `json:"type"`
	Code    json.RawMessage `json:"code"`
}

// Described reports whether the field error has a value. Gateways send empty ones beside an answer.
func (f Failure) Described() bool {
	switch string(f.Error) {
	case "", "null", `""`, "{}", "[]", "false":
		return false
	default:
		return true
	}
}

// Fill copies the error to e. A code that is a number is the provider's status, which a router reports.
func (f Failure) Fill(e *spool.ModelError) {
	inner := struct {
		Message Text            `json:"message"`
		Type    Text            `json:"type"`
		Code    json.RawMessage `json:"code"`
	}{f.Message, f.Type, f.Code}
	var text string
	switch {
	case !f.Described():
	case json.Unmarshal(f.Error, &text) == nil:
		inner.Message = Text(text)
	default:
		if json.Unmarshal(f.Error, &inner) != nil {
			return
		}
	}
	e.Message, e.Type = string(inner.Message), string(inner.Type)
	code := RawText(inner.Code)
	status, err := strconv.Atoi(code)
	switch {
	case err != nil && code != "":
		e.Type = code
	case e.Status == 0 && status >= http.StatusBadRequest && status < 600:
		e.Status = status
	}
}

// Err returns the error in an answer whose status was 200.
func (f Failure) Err(c *Conn) *spool.ModelError {
	out := new(spool.ModelError)
	f.Fill(out)
	if out.Message == "" {
		out.Message = string(f.Error)
	}
	out.Message, out.Type = c.Clean(out.Message), c.Clean(out.Type)
	if out.Message == "" {
		out.Message = "the provider reported an error in its answer"
	}
	return Classify(out)
}

// statusError returns the error for a response with a status other than 200.
func (c *Conn) statusError(watch *modelhttp.Watch, response *http.Response) error {
	watch.Start(c.IdleTimeout)
	defer watch.Pause()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxError))
	if err != nil && watch.Ended() != nil {
		return watch.Ended()
	}

	out := &spool.ModelError{Status: response.StatusCode, After: modelhttp.RetryAfter(response.Header, time.Now())}
	var f Failure
	if json.Unmarshal(body, &f) == nil {
		f.Fill(out)
	}
	if out.Message == "" {
		out.Message = string(body)
	}
	if to := response.Header.Get("Location"); to != "" && response.StatusCode < http.StatusBadRequest {
		out.Message = "redirected to " + to + ", which is not followed; set BaseURL"
	}
	out.Message = c.Clean(out.Message)
	if out.Message == "" {
		out.Message = http.StatusText(response.StatusCode)
	}
	out.Message = c.Secrets.Asked(out.Message, response)
	out.Type = c.Clean(out.Type)
	return Classify(out)
}
