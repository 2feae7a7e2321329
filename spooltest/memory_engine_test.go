package spooltest_test

import (
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
)

func TestMemoryEngine(t *testing.T) {
	t.Parallel()

	spooltest.TestEngine(t, func(_ *testing.T, clock spool.Clock) spool.Backend {
		return spooltest.NewMemory(clock)
	}, spooltest.Features{})
}
