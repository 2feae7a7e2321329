package server_test

import (
	"context"
	"testing"
	"time"

	"github.com/spoolhq/spool/internal/testing/testwait"
)

// patience bounds each wait of a test for a server, so that what never comes fails the test with
// what it waited for, and not the whole run by its time limit. Tests in a synctest bubble need no
// bound.
const patience = testwait.Limit

// patiently returns a context for a request and all that is read of its answer.
func patiently(t *testing.T) context.Context {
	t.Helper()

	return testwait.Context(t, "the rest of an answer")
}

// within calls f, and fails the test if f does not return in time.
func within(t *testing.T, what string, f func()) {
	t.Helper()

	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	receive(t, what, done)
}

// receive returns what comes from a channel. It fails the test if nothing does.
func receive[T any](t *testing.T, what string, from <-chan T) (got T) {
	t.Helper()

	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case got = <-from:
	case <-late.C:
		t.Errorf("waited %s for %s", patience, what)
	}
	return got
}

// until waits until a condition is true. It ends the test if that does not happen.
func until(t *testing.T, what string, condition func() bool) {
	t.Helper()

	late, tick := time.NewTimer(patience), time.NewTicker(10*time.Millisecond)
	defer late.Stop()
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-late.C:
			t.Fatalf("waited %s for %s", patience, what)
		}
	}
}
