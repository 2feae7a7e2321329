package store

import (
	"time"
)

// Clock tells the time to a store. All times with consequences, such as leases and expiries, come from the
// store's clock, so that workers with different clocks agree. It is safe for concurrent use.
type Clock interface {
	Now() time.Time
}

// SystemClock is the clock of the machine.
type SystemClock struct{}

// Now returns the current time.
func (SystemClock) Now() time.Time { return time.Now() }
