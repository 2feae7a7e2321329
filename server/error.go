package server

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/spoolhq/spool"
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
	case spool.Unavailable:
		return http.StatusServiceUnavailable
	default:
		return http.StatusInternalServerError
	}
}

// errorBody is the body of every error.
type errorBody struct {
	Error string     `json:"error"`
	Code  spool.Code `json:"code"`
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
func about(err error, thread spool.ThreadKey, run spool.RunID) error {
	if err == nil {
		return nil
	}
	return &callError{err, thread, run}
}

// fail answers err. What is not the caller's fault is logged here, and only here.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	code := spool.CodeOf(err)
	status := statusOf(code)
	if code == spool.Canceled && r.Context().Err() == nil {
		code, status = spool.Unavailable, http.StatusServiceUnavailable // it was us who gave up
	}
	if status >= http.StatusInternalServerError {
		s.logFailure(r, status, err)
	}
	message := spool.MessageOf(err)
	if status == http.StatusInternalServerError {
		code, message = spool.Internal, "Internal error"
	}
	s.writeError(w, r, status, code, message)
}

func (s *Server) logFailure(r *http.Request, status int, err error) {
	s.log.ErrorContext(r.Context(), "request failed", append(failureAttrs(err),
		"method", r.Method, "path", r.URL.Path, "status", status)...)
}

// failureAttrs returns the error and what it was about.
func failureAttrs(err error) []any {
	attrs := []any{"error", err}
	if call, ok := asCallError(err); ok {
		attrs = append(attrs, "tenant", call.thread.Tenant, "thread", call.thread.ID)
		if call.run != "" {
			attrs = append(attrs, "run", call.run)
		}
	}
	return attrs
}

func (s *Server) writeError(w http.ResponseWriter, r *http.Request, status int, code spool.Code, message string) {
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	s.writeJSON(w, r, status, errorBody{message, code})
}

// writeJSON answers with body. It is encoded before anything is sent, so that a value
// which cannot be is an error like any other.
func (s *Server) writeJSON(w http.ResponseWriter, r *http.Request, status int, body any) {
	b, err := json.Marshal(body)
	if err != nil {
		s.logFailure(r, http.StatusInternalServerError, err)
		status, b = http.StatusInternalServerError, []byte(`{"error":"Internal error","code":"internal"}`)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(b)+1))
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	// A recorder has no deadlines, and a client that is gone needs no answer.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.config.WriteTimeout))
	w.WriteHeader(status)
	_, _ = w.Write(append(b, '\n'))
}
