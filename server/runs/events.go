package runs

import (
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/rest/throttle"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/server/internal/call"
)

// Events limits the durable events of each principal, which stay in the record. It is safe for concurrent use.
type Events struct {
	perMinute int
	counter   *throttle.MemoryCounter
}

// NewEvents returns an Events that allows each principal perMinute durable events a minute, zero for any number.
func NewEvents(perMinute int) *Events { return &Events{perMinute, throttle.Memory(0)} }

// eventUnit is the number of bytes of a payload that count as one event.
const eventUnit = 8 << 10

// Take counts a durable event of the principal, once for each 8 KiB of its payload, or refuses it. A refused event does
// not count.
func (e *Events) Take(p access.Principal, payload []byte) error {
	if e.perMinute == 0 {
		return nil
	}
	units := max(1, (len(payload)+eventUnit-1)/eventUnit)
	state := e.counter.TakeMany(p.ID(), throttle.Rate{Limit: e.perMinute, Window: time.Minute}, units)
	if state.Allowed {
		return nil
	}
	return &call.LaterError{
		Err: spool.Errorf(spool.Limit,
			"too many durable events: %d a minute are allowed, and each 8 KiB of a payload counts as one", e.perMinute),
		After: state.RetryAfter,
	}
}
