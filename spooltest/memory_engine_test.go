package spooltest_test

import (
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/spooltest"
)

func TestMemoryEngine(t *testing.T) {
	t.Parallel()

	spooltest.TestEngine(t, func(_ *testing.T, clock spool.Clock) spool.Backend {
		return memory.New(&memory.Options{Clock: clock})
	}, spooltest.Features{})
}
