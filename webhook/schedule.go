package webhook

import (
	"time"
)

// waits are the times from an attempt to the next one, as Standard Webhooks proposes them.
var waits = [...]time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour,
	20 * time.Hour, 24 * time.Hour,
}

// MaxAttempts is how often an event is posted at the most.
const MaxAttempts = len(waits) + 1

const (
	// minRetryAfter and maxRetryAfter limit the wait that a receiver may ask for.
	minRetryAfter = time.Second
	maxRetryAfter = 24 * time.Hour
)

// Wait returns how long to wait after an attempt, the first being 1, and whether there is another one. That is the time
// that the receiver asked for, or that of the schedule and up to a tenth more, so that the attempts of an outage do not
// come back together. The random function returns a number in [0, 1), as [math/rand/v2.Float64] does.
func Wait(o Outcome, attempt int, random func() float64) (time.Duration, bool) {
	if o.Class == Delivered || o.Class == Gone || attempt >= MaxAttempts {
		return 0, false
	}
	if o.Class == Later {
		return o.RetryAfter, true
	}
	wait := waits[max(attempt, 1)-1]
	return wait + time.Duration(random()*float64(wait)/10), true
}
