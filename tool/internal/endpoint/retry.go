package endpoint

import (
	"cmp"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spoolhq/spool"
)

const (
	maxAttempts    = 10
	defaultBackoff = 500 * time.Millisecond
	maxBackoff     = 30 * time.Second
	defaultWithin  = time.Minute
)

// Retry says how often a call is attempted. The zero value attempts it once.
//
// An attempt is repeated if no connection was made, so that nothing was sent; if the answer has the status
// 429 or 503 and a Retry-After; and, if the call is idempotent, also if there was no complete answer, or an
// answer with the status 429, 502, 503 or 504. Every other answer is final.
type Retry struct {
	// Attempts is the maximum number of attempts, up to 10.
	//
	// Defaults to 1.
	Attempts int

	// Backoff is the pause before the second attempt. It doubles with each attempt, up to 30 seconds, and a
	// random part of up to a half is taken off. A longer Retry-After replaces it.
	//
	// Defaults to 500 milliseconds.
	Backoff time.Duration

	// Within bounds all attempts and pauses together. An attempt for which no time would be left is not made.
	//
	// Defaults to 1 minute.
	Within time.Duration
}

// normal returns the policy with its defaults.
func (r Retry) normal(tool string) (Retry, error) {
	if r.Attempts < 0 || r.Attempts > maxAttempts || r.Backoff < 0 || r.Within < 0 {
		return r, spool.Errorf(spool.Invalid,
			"Retry of tool %s: Attempts must be from 1 to %d, and the durations must not be negative", tool, maxAttempts)
	}
	r.Attempts, r.Backoff, r.Within = max(r.Attempts, 1), cmp.Or(r.Backoff, defaultBackoff),
		cmp.Or(r.Within, defaultWithin)
	return r, nil
}

// kind is what an attempt says about the call.
type kind int

const (
	// final is a success, or an error that another attempt would repeat.
	final kind = iota
	// unsent: there was no connection, so the endpoint got nothing.
	unsent
	// busy: the endpoint refused the call for now.
	busy
	// unknown: the endpoint may have executed the call.
	unknown
)

// outcome is the end of an attempt.
type outcome struct {
	result []byte
	err    error
	kind   kind
	// after is how long the endpoint asks to wait. Zero: it does not ask.
	after time.Duration
}

// next returns the pause before the next attempt, and whether there is one.
func (r Retry) next(attempts int, spent time.Duration, idempotent bool, got outcome) (time.Duration, bool) {
	switch {
	case attempts >= r.Attempts:
		return 0, false
	case got.kind == final, got.kind == unknown && !idempotent:
		return 0, false
	}
	pause := min(r.Backoff<<(attempts-1), maxBackoff)
	if pause > 1 {
		pause -= rand.N(pause / 2) //nolint:gosec // it spreads attempts, and is no secret
	}
	pause = max(pause, got.after)
	return pause, spent+pause < r.Within
}

// busyAfter returns how long an answer with the status 429 or 503 asks to wait, in seconds or until a time.
// It reports false if the answer does not ask.
func busyAfter(r *http.Response, now time.Time) (time.Duration, bool) {
	if r.StatusCode != http.StatusTooManyRequests && r.StatusCode != http.StatusServiceUnavailable {
		return 0, false
	}
	value := strings.TrimSpace(r.Header.Get("Retry-After"))
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	at, err := http.ParseTime(value)
	return max(at.Sub(now), 0), err == nil
}
