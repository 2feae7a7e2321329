package modelhttp

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// RetryAfter returns how long a response asks to wait, at most a day, or zero if it does not ask. It reads
// Retry-After-Ms first, then Retry-After in seconds or as a date.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return wait(ms * float64(time.Millisecond))
	}
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		return wait(seconds * float64(time.Second))
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// wait returns the duration, at least zero and at most a day.
func wait(ns float64) time.Duration {
	const most = float64(24 * time.Hour)
	if !(ns > 0) { // also if it is not a number
		return 0
	}
	return time.Duration(min(ns, most))
}
