// Package chanlock has a mutex that is a channel. Unlike a mutex of package sync, it can be held during
// a transaction in a bubble of testing/synctest: while a goroutine waits for it, the time of the bubble
// can advance.
package chanlock

// Lock is a mutex. Use [New] to make one.
type Lock chan struct{}

// New returns an unlocked mutex.
func New() Lock { return make(Lock, 1) }

// Lock implements [sync.Locker].
func (l Lock) Lock() { l <- struct{}{} }

// Unlock implements [sync.Locker].
func (l Lock) Unlock() { <-l }
