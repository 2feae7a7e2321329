// Package chanlock has a mutex that is a channel. Other than one of sync, it can be held over a
// transaction in a bubble of testing/synctest: a goroutine that waits for it lets the time of
// the bubble go on.
package chanlock

// Lock is a mutex. [New] makes one.
type Lock chan struct{}

// New returns a lock that is free.
func New() Lock { return make(Lock, 1) }

// Lock implements [sync.Locker].
func (l Lock) Lock() { l <- struct{}{} }

// Unlock implements [sync.Locker].
func (l Lock) Unlock() { <-l }
