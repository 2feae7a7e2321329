package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"

	"github.com/spoolhq/spool"
)

// ResponseError is an answer of the server that is an error. The errors of a [Client] wrap it in a
// [spool.Error] that has the code and the message of the answer.
type ResponseError struct {
	// Status is the HTTP status.
	Status int
	// RequestID is the server's id of the request, for a question about it. Empty: the answer has none.
	RequestID string
	// RetryAfter is how long the server asks to wait before the same request. Zero: it does not say.
	RetryAfter time.Duration
	// native is true for a body in the form of a Spool server, and false for that of a proxy in front of it.
	native bool
}

// Error names the status and the request.
func (e *ResponseError) Error() string {
	text := "HTTP " + strconv.Itoa(e.Status)
	if e.RequestID != "" {
		text += " (request " + e.RequestID + ")"
	}
	return text
}

// StatusOf returns the HTTP status of the answer that err comes from, or 0 if there was no answer.
func StatusOf(err error) int {
	if e, ok := errors.AsType[*ResponseError](err); ok {
		return e.Status
	}
	return 0
}

// errorBytes bounds what is read of the body of an error.
const errorBytes = 64 << 10

// refusal is the body of an answer that is not a success: an error, or the result of a refused operation.
type refusal struct {
	Error string     `json:"error"`
	Code  spool.Code `json:"code"`

	Accepted  *bool `json:"accepted"`
	Compacted *bool `json:"compacted"`
	Delivered *bool `json:"delivered"`
	Redriven  *int  `json:"redriven"`

	raw []byte
}

// result reports whether the body is the result of an operation.
func (r refusal) result() bool {
	return r.Accepted != nil || r.Compacted != nil || r.Delivered != nil || r.Redriven != nil
}

// readRefusal reads the body of an answer. A body in another form than the server's reads as nothing.
func readRefusal(res *http.Response) refusal {
	var r refusal
	raw, err := io.ReadAll(io.LimitReader(res.Body, errorBytes))
	if err != nil || !contentIs(res, "application/json") || json.Unmarshal(raw, &r) != nil {
		return refusal{}
	}
	r.raw = raw
	return r
}

// failure returns the error of an answer.
func failure(res *http.Response, r refusal) error {
	e := &ResponseError{
		Status: res.StatusCode, RequestID: res.Header.Get("X-Request-ID"), RetryAfter: retryAfter(res.Header, time.Now()),
		native: r.Error != "" && (r.Code != "" || r.result()),
	}
	message := r.Error
	if !e.native {
		message = "the server answered " + cmp.Or(http.StatusText(e.Status), strconv.Itoa(e.Status))
	}
	return &spool.Error{Code: cmp.Or(r.Code, codeOf(e.Status)), Message: message, Err: e}
}

// codeOf returns the code of an answer that does not name one.
func codeOf(status int) spool.Code {
	switch status {
	case http.StatusUnauthorized:
		return spool.Unauthorized
	case http.StatusForbidden:
		return spool.Forbidden
	case http.StatusNotFound:
		return spool.NotFound
	case http.StatusConflict:
		return spool.Conflict
	case http.StatusGone:
		return spool.Gone
	case http.StatusTooManyRequests:
		return spool.Limit
	case http.StatusRequestTimeout, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return spool.Unavailable
	case http.StatusInsufficientStorage:
		return spool.StorageFull
	default:
		if status >= http.StatusBadRequest && status < http.StatusInternalServerError {
			return spool.Invalid
		}
		return spool.Internal
	}
}

// retryAfter returns the Retry-After of a header, in seconds or as a date. Zero: there is none.
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// contentIs reports whether an answer has a content type, apart from its parameters.
func contentIs(res *http.Response, want string) bool {
	got, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	return err == nil && got == want
}

// unreachable returns the error of a request that got no answer, or not all of it.
func unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return canceled(ctx)
	}
	return &spool.Error{Code: spool.Unavailable, Message: "the server cannot be reached", Err: err}
}

// canceled returns the error of a call whose context has ended.
func canceled(ctx context.Context) error {
	return &spool.Error{Code: spool.Canceled, Message: "Canceled", Err: ctx.Err()}
}

// passing reports whether the same request may succeed later: it got no answer, or one that says so.
func passing(err error) bool {
	e, answered := errors.AsType[*ResponseError](err)
	if !answered {
		return spool.CodeOf(err) == spool.Unavailable
	}
	switch e.Status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	default:
		return false
	}
}

// askedWait returns the Retry-After of the answer that err comes from.
func askedWait(err error) time.Duration {
	if e, ok := errors.AsType[*ResponseError](err); ok {
		return e.RetryAfter
	}
	return 0
}
