package spooltest

import (
	"testing"

	"github.com/spoolhq/spool/store"
)

// Features says what a backend can do. Tests that need a missing feature are skipped.
type Features struct {
	// Durable is true if data outlives the backend: it is still there when a closed backend is opened
	// again.
	Durable bool
	// CrossProcess is true if several processes can share the data. For a test it is enough that the
	// backend can be opened twice at the same time.
	CrossProcess bool
}

// Open opens a backend that takes all times from clock, and closes it by t's Cleanup. It is called once
// per subtest and must return an empty backend. Only tests of a feature in [Features] call it again
// with the same t. Then it must open the same data.
type Open func(t *testing.T, clock store.Clock) store.Backend
