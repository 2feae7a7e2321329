package spooltest_test

import (
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
)

func TestMemoryStreams(t *testing.T) {
	t.Parallel()

	spooltest.TestStreams(t, func(*testing.T) spool.Streams { return spooltest.NewMemory(nil).Streams })
}

func TestMemoryBus(t *testing.T) {
	t.Parallel()

	spooltest.TestBus(t, func(*testing.T) spool.Bus { return spooltest.NewMemory(nil).Bus })
}
