package agent

import "sync/atomic"

// aloneSlot is the place of a process for the suspect that it carries alone.
type aloneSlot struct{ taken atomic.Bool }

// aloneClaim is a claim's hold on the slot. A nil one holds nothing.
type aloneClaim struct {
	slot *aloneSlot
	has  atomic.Bool
}

// take reports whether the claim has the slot from now on.
func (a *aloneClaim) take() bool {
	if a.has.Load() {
		return true
	}
	if !a.slot.taken.CompareAndSwap(false, true) {
		return false
	}
	a.has.Store(true)
	return true
}

func (a *aloneClaim) release() {
	if a != nil && a.has.CompareAndSwap(true, false) {
		a.slot.taken.Store(false)
	}
}
