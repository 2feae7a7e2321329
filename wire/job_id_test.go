package wire_test

import (
	"testing"

	"github.com/spoolhq/spool/wire"
)

// The ids of a process rise, by more or less at a time, whatever the clock says.
func TestNewJobID(t *testing.T) {
	t.Parallel()

	gaps := make(map[int64]bool)
	last := wire.NewJobID()
	for range 1000 {
		id := wire.NewJobID()
		if id <= last || id >= 1<<53 {
			t.Fatalf("%d follows %d", id, last)
		}
		gaps[id-last] = true
		last = id
	}
	if len(gaps) < 3 {
		t.Errorf("the ids look counted: all gaps are among %v", gaps)
	}
}
