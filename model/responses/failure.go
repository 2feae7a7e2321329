package responses

import (
	"errors"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/openaiwire"
)

// statuses are the HTTP statuses that OpenAI would use for an error that it reports in a response.
var statuses = map[string]int{
	"server_error":          http.StatusInternalServerError,
	"rate_limit_exceeded":   http.StatusTooManyRequests,
	"insufficient_quota":    http.StatusTooManyRequests,
	"vector_store_timeout":  http.StatusGatewayTimeout,
	"slow_down":             http.StatusServiceUnavailable,
	"overloaded":            http.StatusServiceUnavailable,
	"server_is_overloaded":  http.StatusServiceUnavailable,
	"invalid_request_error": http.StatusBadRequest,
	"invalid_api_key":       http.StatusUnauthorized,
}

// refusedPrefixes begin the codes of errors in the request: a prompt or an image that the provider does not
// accept.
var refusedPrefixes = []string{
	"invalid_", "unsupported_", "image_", "empty_image", "failed_to_download_image", "context_length_",
}

var againExpr = regexp.MustCompile(`try again in ([0-9]+(?:\.[0-9]+)?(?:ms|s|m))\b`)

// failure returns the error that the provider reports in a stream.
func (a *answer) failure(f openaiwire.Failure) error {
	e := f.Err(a.conn)
	if e.Status == 0 {
		e.Status = statuses[e.Type]
	}
	for _, prefix := range refusedPrefixes {
		if e.Status == 0 && strings.HasPrefix(e.Type, prefix) {
			e.Status = http.StatusBadRequest
		}
	}
	if m := againExpr.FindStringSubmatch(e.Message); m != nil && e.Status == http.StatusTooManyRequests && e.After == 0 {
		if d, err := time.ParseDuration(m[1]); err == nil {
			e.After = d
		}
	}
	return openaiwire.Classify(e)
}

// failed returns the error of a response that has failed. A background response stays failed, so only
// another request can succeed.
func (a *answer) failed(r *response) error {
	f := r.Failure
	if !f.Described() {
		f.Error = encode(object{"message": "the response was " + r.Status, "code": r.Status})
	}
	err := a.failure(f)
	if e, ok := errors.AsType[*spool.ModelError](err); ok && a.background {
		e.Gone = !e.Permanent()
	}
	return err
}
