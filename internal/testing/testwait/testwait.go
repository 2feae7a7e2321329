// Package testwait bounds how long a test outside the bubbles of testing/synctest waits. So a test of
// something broken says what it was waiting for, instead of hanging until the process is killed.
package testwait

import (
	"context"
	"testing"
	"time"
)

// Limit bounds each wait. It is generous, because tests run on busy machines and under the race
// detector.
const Limit = 2 * time.Minute

// For returns the next value of a channel. It ends the test if none comes within Limit. For a closed
// channel it returns the zero value.
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

// Context returns the test's context with a timeout of Limit. The cause of the timeout says what the
// test was waiting for.
func Context(tb testing.TB, what string) context.Context {
	tb.Helper()
	ctx, cancel := context.WithTimeoutCause(tb.Context(), Limit, &late{what})
	tb.Cleanup(cancel)
	return ctx
}

// late is the error of a wait that has taken too long.
type late struct{ what string }

// Unwrap returns the kind of the error.
func (l *late) Unwrap() error { return context.DeadlineExceeded }

// Error says what the test was waiting for.
func (l *late) Error() string { return "waited " + Limit.String() + " for " + l.what }
