package call

import (
	"encoding/json"
	"net/http"
	"time"
)

// Refuse answers a request for a stream with why there is none: 409, or 503 with Retry-After if the same request may
// be accepted later. A retryAfter of zero says that it will not.
func Refuse(w http.ResponseWriter, refusal any, retryAfter time.Duration) error {
	text, err := json.Marshal(refusal)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	status := http.StatusConflict
	if retryAfter > 0 {
		SetRetryAfter(w.Header(), retryAfter)
		status = http.StatusServiceUnavailable
	}
	w.WriteHeader(status)
	_, err = w.Write(text)
	return err
}
