package live

import (
	"testing"

	"github.com/spoolhq/spool/engine/internal/walk"
)

// TestPlaceOwesTheState has clients read the state before the ring has a place, as the one before was
// lost. The next place takes a later state for known, so each of them has to look again.
func TestPlaceOwesTheState(t *testing.T) {
	t.Parallel()

	r := ring{changed: make(chan struct{})}
	r.place(walk.Position{})
	r.reset()
	seen := r.noticeCount() // with the state of a client that comes now
	r.place(walk.Position{Seq: 6})
	if _, notices, found, _ := r.find(walk.Position{Seq: 6}, false); !found || notices <= seen {
		t.Errorf("a client that saw %d notices finds its place: %t, behind %d notices", seen, found, notices)
	}
}
