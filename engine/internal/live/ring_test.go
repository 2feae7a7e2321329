package live

import (
	"testing"

	"github.com/spoolhq/spool/engine/internal/walk"
)

// TestPlaceOwesTheState has clients that read the state while the ring has lost its position. The
// ring's next position assumes a later state as known, so each client has to read the state again.
func TestPlaceOwesTheState(t *testing.T) {
	t.Parallel()

	r := ring{changed: make(chan struct{})}
	r.moveTo(walk.Position{})
	r.reset()
	seen := r.noticeCount() // with the state of a client that comes now
	r.moveTo(walk.Position{Seq: 6})
	if _, notices, found, _ := r.find(walk.Position{Seq: 6}, false); !found || notices <= seen {
		t.Errorf("a client that saw %d notices finds its place: %t, after %d notices", seen, found, notices)
	}
}
