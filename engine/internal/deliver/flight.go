package deliver

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/random"
)

const (
	// perEndpoint is how many events an endpoint gets at once from this process.
	perEndpoint = 4
	// firstGuess is how long an attempt is thought to take before the endpoint has answered one.
	firstGuess = 50 * time.Millisecond
	// maxPlaceWait is how long an event waits in this process for a place, at the most. An endpoint that is too slow for
	// that gets its events released, so that they take no slots from others.
	maxPlaceWait = time.Second
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
	// waiting are the events that wait in this process, the first one first. Its channel is closed when it has a place.
	waiting []chan struct{}
}

// enter begins an attempt, which leave ends. If the endpoint has its share, the event waits for a place while that is
// soon. Otherwise leave is nil and the event comes back after a time: such events come back one after the other, about
// as fast as the endpoint takes them.
func (f *flights) enter(ctx context.Context, to target, from random.Source) (leave func(), wait time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	one := f.of[to]
	if one == nil {
		one = &flight{took: firstGuess}
		f.of[to] = one
	}
	switch {
	case one.n < perEndpoint:
		one.n++
		return f.leaves(to), 0
	case f.await(ctx, one):
		return f.leaves(to), 0
	case ctx.Err() != nil:
		return nil, 0
	}
	now := time.Now()
	if first := now.Add(one.wait(len(one.waiting))); one.next.Before(first) {
		one.next = first
	}
	one.next = one.next.Add(max(one.wait(1), minFullWait))
	if most := now.Add(maxFullWait); one.next.After(most) {
		one.next = most
		return nil, maxFullWait/2 + from.UpTo(maxFullWait/2)
	}
	return nil, one.next.Sub(now)
}

// wait returns how long some events take.
func (o *flight) wait(events int) time.Duration { return o.took / perEndpoint * time.Duration(events) }

// await waits for a place, and reports whether there is one. It waits only if the place is expected within
// maxPlaceWait, and no longer. Its caller holds the lock, which others have meanwhile.
func (f *flights) await(ctx context.Context, one *flight) bool {
	if one.wait(len(one.waiting)+1) > maxPlaceWait {
		return false
	}
	place := make(chan struct{})
	one.waiting = append(one.waiting, place)
	f.mu.Unlock()
	most := time.NewTimer(maxPlaceWait)
	defer most.Stop()
	late := false
	select {
	case <-place:
	case <-ctx.Done():
	case <-most.C:
		late = true
	}
	f.mu.Lock()
	at := slices.Index(one.waiting, place)
	if at < 0 { // leave has given it the place
		return true
	}
	one.waiting = slices.Delete(one.waiting, at, at+1)
	if late {
		one.took = max(one.took, maxPlaceWait) // the attempts under way take longer than those before
	}
	return false
}

// leaves returns what ends an attempt that begins now.
func (f *flights) leaves(to target) func() {
	began := time.Now()
	return func() { f.leave(to, began) }
}

func (f *flights) leave(to target, began time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	one, now := f.of[to], time.Now()
	one.took = (3*one.took + now.Sub(began)) / 4 //nolint:mnd // the last ones count most
	if len(one.waiting) > 0 {
		close(one.waiting[0])
		one.waiting = slices.Delete(one.waiting, 0, 1)
		return
	}
	one.n--
	if one.n == 0 && !one.next.After(now) {
		delete(f.of, to)
	}
}
