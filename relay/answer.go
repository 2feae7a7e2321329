package relay

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spoolhq/spool"
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
		if after, ok := retryAfter(r.Header, now); ok {
			return wire.JobResult{Reason: "the receiver answered " + statusText(status), RetryAfter: after}, nil
		}
	case status == http.StatusBadRequest, status == http.StatusGone,
		status == http.StatusRequestEntityTooLarge, status == http.StatusUnprocessableEntity:
		code = spool.Invalid
	}
	return wire.JobResult{}, spool.Errorf(code, "the receiver of pushed jobs answered %s", statusText(r.StatusCode))
}

// statusText returns the standard text of a status, because the receiver's text may be anything.
func statusText(status int) string {
	return strings.TrimSpace(strconv.Itoa(status) + " " + http.StatusText(status))
}

// retryAfter returns how long the receiver asks to wait, in seconds or until a time, and whether it asks.
func retryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return within(time.Duration(seconds) * time.Second), true
	}
	at, err := http.ParseTime(value)
	return within(at.Sub(now)), err == nil
}

func within(d time.Duration) time.Duration { return min(max(d, minWait), maxWait) }
