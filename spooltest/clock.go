package spooltest

import (
	"sync"
	"time"

	"github.com/spoolhq/spool/store"
)

// Clock is a clock that only the test moves. It is safe for concurrent use.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

var _ store.Clock = (*Clock)(nil)

// NewClock returns a clock with an arbitrary time.
func NewClock() *Clock {
	return &Clock{now: time.Date(2030, time.January, 2, 3, 4, 5, 6000, time.UTC)}
}

// Now returns the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock, backwards if d is negative, and returns its new time.
func (c *Clock) Advance(d time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	return c.now
}
