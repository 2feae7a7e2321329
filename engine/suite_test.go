package engine_test

import (
	"testing"

	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/internal/testing/enginetest"
	"github.com/spoolhq/spool/store"
)

// TestEngine runs the behaviour suites over the backend in memory. No other test runs them over it.
func TestEngine(t *testing.T) {
	t.Parallel()

	enginetest.Test(t, enginetest.Options{Open: func(_ *testing.T, clock store.Clock) store.Backend {
		return memory.New(&memory.Options{Clock: clock})
	}})
}
