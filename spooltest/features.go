package spooltest

import (
	"testing"

	"github.com/spoolhq/spool"
)

// Features says what a backend can do. Tests that need more are skipped.
type Features struct {
	// Durable is true when data outlives the backend: what Close has closed can be opened
	// again.
	Durable bool
	// CrossProcess is true when several processes can share the data. For a test it is
	// enough that it can be opened twice at the same time.
	CrossProcess bool
}

// Open opens a backend that reads all times from clock, and closes it by t's Cleanup. It
// is called once per subtest and must return an empty backend. Only tests of what the
// [Features] promise call it again with the same t, and must then get the same data.
type Open func(t *testing.T, clock spool.Clock) spool.Backend
