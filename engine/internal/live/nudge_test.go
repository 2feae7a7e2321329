package live

import "testing"

// A follower that reads storage hears of each wake-up, also of one that is nothing new for the hub. Followers that
// are up to date do not.
func TestNudge(t *testing.T) {
	t.Parallel()
	h := &hub{}
	h.changed = make(chan struct{})
	f := &follower{hub: h}
	nudged := func() bool {
		before := h.changed
		h.nudge()
		select {
		case <-before:
			return true
		default:
			return false
		}
	}
	if nudged() {
		t.Error("a wake-up was passed on without a follower that reads storage")
	}
	f.stayBehind()
	f.stayBehind()
	if !nudged() {
		t.Error("a follower that reads storage does not hear of a wake-up")
	}
	f.keepUp()
	f.keepUp()
	if nudged() {
		t.Error("a wake-up was passed on to a follower that reads storage no more")
	}
}
