package quota

import "time"

// clock converts between the time of this process and that of the store. The process counts from base, with
// its monotonic clock.
type clock struct {
	base time.Time
	// The store's time is between low and high after the process's.
	low, high time.Duration
	read      time.Duration // when they were measured
	known     bool
}

// clockAge is how long a measurement is better than a less precise one. The clocks drift apart.
const clockAge = 30 * time.Second

func (c *clock) now() time.Duration { return time.Since(c.base) }

// learn takes the store's time, which was read between two times of the process.
func (c *clock) learn(from, to time.Duration, store time.Time) {
	at := time.Duration(store.UnixNano())
	low, high := at-to, at-from
	if !c.known || high-low <= c.high-c.low || to-c.read > clockAge {
		c.low, c.high, c.read, c.known = low, high, to, true
	}
}

// latest returns the latest time that the store may have at a time of the process.
func (c *clock) latest(at time.Duration) int64 {
	return int64((at + c.high + time.Millisecond - 1) / time.Millisecond)
}

// reached returns when the store certainly has reached a time.
func (c *clock) reached(ms int64) time.Duration { return time.Duration(ms)*time.Millisecond - c.low }

// before returns until when the store certainly has not reached a time.
func (c *clock) before(ms int64) time.Duration { return time.Duration(ms)*time.Millisecond - c.high }
