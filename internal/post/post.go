// Package post has what posts of signed bodies share: what to say of a receiver that cannot be reached, and what its
// answer says. It puts nothing into a text that the receiver or the URL could have chosen.
package post

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spoolhq/spool"
)

// MaxAnswerBytes is how much of an answer is read, so that its connection can be reused.
const MaxAnswerBytes = 64 << 10

// Drain reads the rest of an answer of which so many bytes have been read, up to MaxAnswerBytes in all.
func Drain(body io.Reader, read int64) { _, _ = io.CopyN(io.Discard, body, MaxAnswerBytes-read) }

// Unreached returns the error of a post without an answer. Its message names the receiver as who, and has no URL in
// it, which may contain a key.
func Unreached(who string, err error) error {
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err
	}
	message := who + " cannot be reached"
	if t, ok := errors.AsType[timeout](err); ok && t.Timeout() {
		message = who + " did not answer in time"
	}
	return &spool.Error{Code: spool.Unavailable, Message: message, Err: err}
}

// timeout is an error that may be one of time.
type timeout interface {
	error
	Timeout() bool
}

// StatusText returns the standard text of a status, because the receiver's text may be anything.
func StatusText(status int) string {
	return strings.TrimSpace(strconv.Itoa(status) + " " + http.StatusText(status))
}

// RetryAfter returns how long the receiver asks to wait, in seconds or until a time, and whether it asks. The wait is
// within the bounds.
func RetryAfter(h http.Header, now time.Time, least, most time.Duration) (time.Duration, bool) {
	within := func(d time.Duration) time.Duration { return min(max(d, least), most) }
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return within(time.Duration(seconds) * time.Second), true
	}
	at, err := http.ParseTime(value)
	return within(at.Sub(now)), err == nil
}
