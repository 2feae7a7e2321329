package live

// sleeper is a follower for which no goroutine waits. It belongs to at most one ring.
type sleeper struct {
	wake func()
	// place is one more than the sleeper's index in the ring's list, or zero if it is not there.
	place int
}

// sleep makes the next change of the ring call s.wake once. It returns false, and does nothing, if the
// ring has changed since it returned the channel changed.
func (r *ring) sleep(s *sleeper, changed <-chan struct{}) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.changed != changed {
		return false
	}
	if s.place == 0 {
		r.sleepers = append(r.sleepers, s)
		s.place = len(r.sleepers)
	}
	return true
}

// forgetSleeper makes no change call s.wake any more.
func (r *ring) forgetSleeper(s *sleeper) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.place == 0 {
		return
	}
	last := len(r.sleepers) - 1
	r.sleepers[s.place-1] = r.sleepers[last]
	r.sleepers[s.place-1].place = s.place
	r.sleepers[last] = nil
	r.sleepers = r.sleepers[:last]
	s.place = 0
}

// wakeSleepers wakes all sleepers. The caller must hold mu.
func (r *ring) wakeSleepers() {
	for i, s := range r.sleepers {
		r.sleepers[i], s.place = nil, 0
		s.wake()
	}
	r.sleepers = r.sleepers[:0]
}

// wakeAll wakes the sleepers of all hubs.
func (h *Hubs) wakeAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, hub := range h.open {
		hub.mu.Lock()
		hub.wakeSleepers()
		hub.mu.Unlock()
	}
}

// sleep makes wake be called when the follower may have frames, or has ended for another reason than its
// context. It returns false, and does nothing, if that is so already or if the follower reads storage. It
// must follow a call of next that returned errIdle. Wake must not block.
func (f *follower) sleep(wake func()) bool {
	if !f.joined {
		return false
	}
	f.sleeper.wake = wake
	if !f.hub.sleep(&f.sleeper, f.waited) {
		return false
	}
	select {
	case <-f.hubs.closing: // Close has woken the sleepers, but perhaps not this one
		f.hub.forgetSleeper(&f.sleeper)
		return false
	default:
	}
	if f.timer != nil {
		f.timer.Stop()
		f.timer = nil
	}
	f.waited = nil
	return true
}
