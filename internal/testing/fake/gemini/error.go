package gemini

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// Error is an error of the server, in the form of Google's services.
type Error struct {
	// Status is the HTTP status, and Code Google's name for it, such as "RESOURCE_EXHAUSTED".
	Status int
	Code   string
	// Message is the text.
	Message string
	// Reason of an ErrorInfo among the details. Empty: there is none.
	Reason string
	// RetryDelay of a RetryInfo among the details. Zero: there is none.
	RetryDelay time.Duration
	// Quota is the id of the quota that was exceeded. Empty: there is none.
	Quota string
	// RetryAfter is the header of that name. Empty: there is none.
	RetryAfter string
}

func invalid(format string, args ...any) *Error {
	return &Error{Status: http.StatusBadRequest, Code: "INVALID_ARGUMENT", Message: fmt.Sprintf(format, args...)}
}

// body returns the JSON of the error.
func (e *Error) body() []byte {
	const types = "type.googleapis.com/google.rpc."
	details := []any{}
	if e.Reason != "" {
		details = append(details, map[string]any{
			"@type": types + "ErrorInfo", "reason": e.Reason, "domain": "googleapis.com",
		})
	}
	if e.Quota != "" {
		details = append(details, map[string]any{
			"@type": types + "QuotaFailure", "violations": []any{map[string]any{"quotaId": e.Quota}},
		})
	}
	if e.RetryDelay > 0 {
		details = append(details, map[string]any{
			"@type": types + "RetryInfo", "retryDelay": fmt.Sprintf("%gs", e.RetryDelay.Seconds()),
		})
	}
	inner := map[string]any{"code": e.Status, "message": e.Message, "status": e.Code}
	if len(details) > 0 {
		inner["details"] = details
	}
	body, err := json.Marshal(map[string]any{"error": inner})
	if err != nil {
		panic(err)
	}
	return body
}

func (e *Error) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	if e.RetryAfter != "" {
		w.Header().Set("Retry-After", e.RetryAfter)
	}
	w.WriteHeader(e.Status)
	_, _ = w.Write(e.body()) //nolint:gosec // a test server that answers with JSON
}
