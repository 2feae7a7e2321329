package spooltest

import (
	"testing"
	"time"
)

// realWait bounds a wait on a busy machine too.
const realWait = time.Minute

// receive returns what comes over a channel, or ends the test if nothing has come for so long.
// A closed channel is something.
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
