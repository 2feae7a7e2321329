// Package testwait bounds how long a test outside of the bubbles of testing/synctest waits, so
// that a test whose subject is broken says what it waited for, in place of hanging until the
// process is ended.
package testwait

import (
	"context"
	"testing"
	"time"
)

// Limit bounds each wait. It is generous, as tests run on busy machines, under the race detector.
const Limit = 2 * time.Minute

// For returns what comes over a channel, and ends the test if nothing has come within Limit. A
// closed channel is something.
func For[T any](tb testing.TB, ch <-chan T, what string) (got T) {
	tb.Helper()
	limit := time.NewTimer(Limit)
	defer limit.Stop()
	select {
	case got = <-ch:
	case <-limit.C:
		tb.Fatalf("waited %s for %s", Limit, what)
	}
	return got
}

// Context returns the test's context, which ends after Limit. What is told is the cause then.
func Context(tb testing.TB, what string) context.Context {
	tb.Helper()
	ctx, cancel := context.WithTimeoutCause(tb.Context(), Limit, &late{what})
	tb.Cleanup(cancel)
	return ctx
}

// late is the error of a wait that has taken too long.
type late struct{ what string }

// Unwrap says what kind of an error it is.
func (l *late) Unwrap() error { return context.DeadlineExceeded }

// Error says what was waited for.
func (l *late) Error() string { return "waited " + Limit.String() + " for " + l.what }
