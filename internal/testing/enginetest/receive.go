package enginetest

import (
	"testing"
	"time"
)

const (
	// bubbleWait bounds a wait in a bubble, where waiting costs nothing.
	bubbleWait = time.Hour
)

// receive returns the next value of a channel, or ends the test if none comes in time. For a closed
// channel it returns the zero value. The limit is necessary in a bubble: timers of workers and
// followers would let the time go on for ever.
func receive[T any](t testing.TB, ch <-chan T, within time.Duration, what string) (got T) {
	t.Helper()
	limit := time.NewTimer(within)
	defer limit.Stop()
	select {
	case got = <-ch:
	case <-limit.C:
		t.Fatalf("waited %s for %s", within, what)
	}
	return got
}
