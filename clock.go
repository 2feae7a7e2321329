package spool

import "time"

// Clock tells the time to a store. All times that decide something, such as leases and
// expiries, are read from the store's clock and from no other, so that workers whose
// clocks differ agree. Safe for concurrent use.
type Clock interface {
	Now() time.Time
}

// SystemClock is the clock of the machine.
type SystemClock struct{}

// Now returns the current time.
func (SystemClock) Now() time.Time { return time.Now() }
