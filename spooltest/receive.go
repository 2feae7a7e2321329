package spooltest

import (
	"testing"
	"time"
)

// realWait bounds a wait, also on a busy machine.
const realWait = time.Minute

// receive returns the next value of a channel, or ends the test if none comes in time. If the channel
// is closed, it returns the zero value.
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
