package call

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/rest"
)

// The codes that only HTTP has.
const (
	CodeMethod    spool.Code = "method_not_allowed"
	CodeTooLarge  spool.Code = "too_large"
	CodeMediaType spool.Code = "unsupported_media_type"
)

// StatusClientGone is the status in the log for a request whose client has gone before the answer. It
// is never sent: a client that is there after all, behind half of a connection, sees the connection end.
const StatusClientGone = 499

// statusOf returns the status of a code. No other place maps them.
func statusOf(code spool.Code) int {
	switch code {
	case spool.Invalid:
		return http.StatusBadRequest
	case spool.Unauthorized:
		return http.StatusUnauthorized
	case spool.Forbidden:
		return http.StatusForbidden
	case spool.NotFound:
		return http.StatusNotFound
	case CodeMethod:
		return http.StatusMethodNotAllowed
	case spool.Conflict, spool.Fenced:
		return http.StatusConflict
	case spool.Gone:
		return http.StatusGone
	case CodeTooLarge:
		return http.StatusRequestEntityTooLarge
	case CodeMediaType:
		return http.StatusUnsupportedMediaType
	case spool.Limit:
		return http.StatusTooManyRequests
	case spool.Canceled:
		return StatusClientGone
	case spool.StorageFull:
		return http.StatusInsufficientStorage
	case spool.Unavailable:
		return http.StatusServiceUnavailable
	default:
		return http.StatusInternalServerError
	}
}

// callError adds to an error the thread and the run, for the log.
type callError struct {
	error

	thread spool.ThreadKey
	run    spool.RunID
}

// Unwrap returns the error itself.
func (e *callError) Unwrap() error { return e.error }

// About adds the thread and the run to an error. It returns nil for nil.
func About(ctx context.Context, err error, thread spool.ThreadKey, run spool.RunID) error {
	if err == nil {
		return nil
	}
	return &callError{Settled(ctx, err), thread, run}
}

// Result returns the result of an operation. A refused operation gets a 409 with the result.
func Result[T any](
	ctx context.Context, result T, accepted bool, err error, thread spool.ThreadKey, run spool.RunID,
) (T, error) {
	if err == nil && !accepted {
		rest.ResponseOf(ctx).SetStatus(http.StatusConflict)
	}
	return result, About(ctx, err, thread, run)
}

// Settled distinguishes the two causes of a canceled context: the client disconnected, or the server gave up.
func Settled(ctx context.Context, err error) error {
	if spool.CodeOf(err) == spool.Canceled && ctx.Err() == nil {
		return &spool.Error{Code: spool.Unavailable, Message: spool.MessageOf(err), Err: err}
	}
	return err
}

// MapError maps every error to an answer.
func MapError(err error) *rest.Error {
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		err = spool.Errorf(CodeTooLarge, "the body is larger than %d bytes", large.Limit)
	}
	code := spool.CodeOf(err)
	e := &rest.Error{Status: statusOf(code), Code: string(code), Detail: spool.MessageOf(err), Err: err}
	later, ok := errors.AsType[*LaterError](err)
	switch {
	case ok:
		e.Header = make(http.Header)
		SetRetryAfter(e.Header, later.After)
	case e.Status == http.StatusServiceUnavailable:
		e.Header = http.Header{"Retry-After": {"1"}}
	}
	return e
}

// failureAttrs returns the thread and run of an error as log attributes.
func failureAttrs(err error) []slog.Attr {
	var call *callError
	if !errors.As(err, &call) {
		return nil
	}
	attrs := []slog.Attr{slog.Any("tenant", call.thread.Tenant), slog.Any("thread", call.thread.ID)}
	if call.run != "" {
		attrs = append(attrs, slog.Any("run", call.run))
	}
	return attrs
}

// Log returns the log of the controllers. It adds the request to each record, and the thread and run to
// each error.
func Log(to *slog.Logger) *slog.Logger { return slog.New(aboutHandler{to.Handler()}) }

type aboutHandler struct{ slog.Handler }

// Handle adds the request and the target of its error to the record.
func (h aboutHandler) Handle(ctx context.Context, r slog.Record) error {
	var more []slog.Attr
	if known := Of(ctx); known != nil {
		more = append(more, slog.String("request", known.ID))
	}
	for a := range r.Attrs {
		if err, ok := a.Value.Any().(error); ok {
			more = append(more, failureAttrs(err)...)
		}
	}
	r.AddAttrs(more...)
	return h.Handler.Handle(ctx, r)
}

// WithAttrs keeps the handler when a logger is made of another.
func (h aboutHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return aboutHandler{h.Handler.WithAttrs(attrs)}
}

// WithGroup keeps the handler when a logger is made of another.
func (h aboutHandler) WithGroup(name string) slog.Handler {
	return aboutHandler{h.Handler.WithGroup(name)}
}

// LaterError is an error with the time after which the same request may succeed.
type LaterError struct {
	Err error

	After time.Duration
}

// Unwrap returns the error itself.
func (e *LaterError) Unwrap() error { return e.Err }

// Error implements [error].
func (e *LaterError) Error() string { return e.Err.Error() }

// SetRetryAfter sets Retry-After in whole seconds, at least one.
func SetRetryAfter(h http.Header, after time.Duration) {
	h.Set("Retry-After", strconv.Itoa(max(1, int(math.Ceil(after.Seconds())))))
}
