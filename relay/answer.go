package relay

import (
	"net/http"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/post"
	"github.com/spoolhq/spool/wire"
)

// minWait and maxWait limit the wait that a receiver may ask for, so that there is neither a loop without a
// pause nor a job that never comes back.
const (
	minWait = time.Second
	maxWait = time.Hour
)

// outcome returns the meaning of the receiver's answer for the job.
func outcome(r *http.Response, now time.Time) (wire.JobResult, error) {
	code := spool.Unavailable
	switch status := r.StatusCode; {
	case status >= 200 && status <= 299:
		return wire.JobResult{Accepted: true}, nil
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable:
		if after, ok := post.RetryAfter(r.Header, now, minWait, maxWait); ok {
			return wire.JobResult{Reason: "the receiver answered " + post.StatusText(status), RetryAfter: after}, nil
		}
	case status == http.StatusBadRequest, status == http.StatusGone,
		status == http.StatusRequestEntityTooLarge, status == http.StatusUnprocessableEntity:
		code = spool.Invalid
	}
	return wire.JobResult{}, spool.Errorf(code, "%s answered %s", receiver, post.StatusText(r.StatusCode))
}
