package enginetest

import (
	"testing"
	"time"
)

const (
	// bubbleWait bounds a wait in a bubble, where it costs nothing.
	bubbleWait = time.Hour
)

// receive returns what comes over a channel, or ends the test if nothing has come for so long.
// A closed channel is something. In a bubble, timers of workers and followers would let the
// time go on for ever.
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
