package segment

import "sync/atomic"

// isolationSlot is the process's one slot for an isolated run.
type isolationSlot struct{ inUse atomic.Bool }

// isolationClaim is a claim's right to the slot. A nil isolationClaim has none.
type isolationClaim struct {
	slot *isolationSlot
	has  atomic.Bool
}

// acquire takes the slot and reports whether the claim has it.
func (a *isolationClaim) acquire() bool {
	if a.has.Load() {
		return true
	}
	if !a.slot.inUse.CompareAndSwap(false, true) {
		return false
	}
	a.has.Store(true)
	return true
}

func (a *isolationClaim) release() {
	if a != nil && a.has.CompareAndSwap(true, false) {
		a.slot.inUse.Store(false)
	}
}
