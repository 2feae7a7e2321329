package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/rest"
)

// The codes that only HTTP has.
const (
	codeMethod    spool.Code = "method_not_allowed"
	codeTooLarge  spool.Code = "too_large"
	codeMediaType spool.Code = "unsupported_media_type"
)

// statusClientGone is what a request is logged with whose client did not wait for the
// answer. Nobody receives it.
const statusClientGone = 499

// statusOf is the one place where codes become statuses.
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
	case codeMethod:
		return http.StatusMethodNotAllowed
	case spool.Conflict, spool.Fenced:
		return http.StatusConflict
	case spool.Gone:
		return http.StatusGone
	case codeTooLarge:
		return http.StatusRequestEntityTooLarge
	case codeMediaType:
		return http.StatusUnsupportedMediaType
	case spool.Limit:
		return http.StatusTooManyRequests
	case spool.Canceled:
		return statusClientGone
	case spool.StorageFull:
		return http.StatusInsufficientStorage
	case spool.Unavailable:
		return http.StatusServiceUnavailable
	default:
		return http.StatusInternalServerError
	}
}

// callError adds to an error what it was about, for the log.
type callError struct {
	error

	thread spool.ThreadKey
	run    spool.RunID
}

// Unwrap returns the error itself.
func (e *callError) Unwrap() error { return e.error }

// about says which thread and run an error is about. It returns nil for nil.
func about(ctx context.Context, err error, thread spool.ThreadKey, run spool.RunID) error {
	if err == nil {
		return nil
	}
	return &callError{settled(ctx, err), thread, run}
}

// settled tells two ends apart: of a client that did not wait, and of us, who gave up.
func settled(ctx context.Context, err error) error {
	if spool.CodeOf(err) == spool.Canceled && ctx.Err() == nil {
		return &spool.Error{Code: spool.Unavailable, Message: spool.MessageOf(err), Err: err}
	}
	return err
}

// mapError is how an error is answered, whatever it is.
func mapError(err error) *rest.Error {
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		err = spool.Errorf(codeTooLarge, "the body is larger than %d bytes", large.Limit)
	}
	code := spool.CodeOf(err)
	e := &rest.Error{Status: statusOf(code), Code: string(code), Detail: spool.MessageOf(err), Err: err}
	later, ok := errors.AsType[*laterError](err)
	switch {
	case ok:
		e.Header = make(http.Header)
		setRetryAfter(e.Header, later.after)
	case e.Status == http.StatusServiceUnavailable:
		e.Header = http.Header{"Retry-After": {"1"}}
	}
	return e
}

// failureAttrs returns what an error was about.
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

// restLog is the log of the controllers: beside an error of theirs stands which request it
// was of and what it was about.
func (s *Server) restLog() *slog.Logger { return slog.New(aboutHandler{s.log.Handler()}) }

type aboutHandler struct{ slog.Handler }

// Handle adds which request the record is of, and what its error was about.
func (h aboutHandler) Handle(ctx context.Context, r slog.Record) error {
	var more []slog.Attr
	if known := requestOf(ctx); known != nil {
		more = append(more, slog.String("request", known.id))
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
