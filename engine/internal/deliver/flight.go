package deliver

import (
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/random"
)

const (
	// perEndpoint is how many events an endpoint gets at once from this process.
	perEndpoint = 4
	// firstGuess is how long an attempt is thought to take before the endpoint has answered one.
	firstGuess = 100 * time.Millisecond
	// minFullWait and maxFullWait bound the delay of an event whose endpoint has all that it gets at once.
	minFullWait = 10 * time.Millisecond
	maxFullWait = holdFor
)

// target is an endpoint.
type target struct {
	tenant  spool.Tenant
	subject string
}

// flights bounds the attempts that each endpoint has at once.
type flights struct {
	mu sync.Mutex
	of map[target]*flight
}

// flight is what an endpoint has under way.
type flight struct {
	n int
	// took is how long its attempts take, more or less.
	took time.Duration
	// next is when the last event that found no place comes back.
	next time.Time
}

// enter begins an attempt, which leave ends. If the endpoint has its share, leave is nil and the event comes back after
// a time: those that wait come back one after the other, about as fast as the endpoint takes them.
func (f *flights) enter(to target, from random.Source) (leave func(), wait time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	one := f.of[to]
	if one == nil {
		one = &flight{took: firstGuess}
		f.of[to] = one
	}
	if one.n < perEndpoint {
		one.n++
		return func() { f.leave(to, now) }, 0
	}
	if one.next.Before(now) {
		one.next = now
	}
	one.next = one.next.Add(max(one.took/perEndpoint, minFullWait))
	if most := now.Add(maxFullWait); one.next.After(most) {
		one.next = most
		return nil, maxFullWait/2 + from.UpTo(maxFullWait/2)
	}
	return nil, one.next.Sub(now)
}

func (f *flights) leave(to target, began time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	one, now := f.of[to], time.Now()
	one.n--
	one.took = (3*one.took + now.Sub(began)) / 4 //nolint:mnd // the last ones count most
	if one.n == 0 && !one.next.After(now) {
		delete(f.of, to)
	}
}
