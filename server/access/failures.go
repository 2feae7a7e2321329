package access

import (
	"container/list"
	"net/netip"
	"sync"
	"time"
)

const (
	// maxFailing is how many addresses are remembered. The one that failed longest ago is
	// forgotten for one more.
	maxFailing = 4096
	// failingFor is how long an address is remembered behind its last failure.
	failingFor = 15 * time.Minute
	// failureDelay is how long the first answer is held back that is. It doubles with each
	// failure, up to failureDelayMax.
	failureDelay, failureDelayMax = 100 * time.Millisecond, 5 * time.Second
	// maxHeld is how many answers are held back at once, so that holding them back is no way
	// to use the server up, and maxHeldEach how many of one address. One more is refused
	// at once with 429.
	maxHeld, maxHeldEach = 512, 8
	// auditFailures is how often the failures of one address are in the audit log, and
	// maxFailureEntries how many entries there are of all addresses in that time.
	auditFailures, maxFailureEntries = time.Minute, 100
)

// Failures remembers from which addresses wrong credentials came. Its memory is bounded.
type Failures struct {
	mu   sync.Mutex
	by   map[netip.Prefix]*list.Element // of *failing
	last list.List                      // the one that failed last is at the front
	held int

	// since and entries count the entries of the audit log, and others the failures that they
	// leave out.
	since   time.Time
	entries int
	others  int64
}

// failing is an address whose credentials were wrong.
type failing struct {
	group    netip.Prefix
	failures int
	at       time.Time
	held     int
	// audited is when the address was in the audit log last, and unaudited how often it has failed
	// since.
	audited   time.Time
	unaudited int64
}

// Setback says what a failure comes to.
type Setback struct {
	// Delay is how long the answer is held back. Release has to be called after it.
	Delay time.Duration
	// Refused says that too many answers are held back already.
	Refused bool
	// Audited is how many failures belong into the audit log, and Others how many of
	// addresses that it has no entry of. Zero: there is no entry now.
	Audited, Others int64
}

// Fail counts a failure of an address, whose first failures up to free are not slowed.
func (f *Failures) Fail(group netip.Prefix, free int, now time.Time) (v Setback) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a := f.of(group, now)
	a.failures, a.at = a.failures+1, now
	a.unaudited++
	f.audit(a, now, &v)
	if free <= 0 || a.failures <= free {
		return v
	}
	v.Delay = min(failureDelay<<min(a.failures-free-1, 10), failureDelayMax)
	if a.held >= maxHeldEach || f.held >= maxHeld {
		v.Refused = true
		return v
	}
	a.held++
	f.held++
	return v
}

// Release lets go of an answer that was held back.
func (f *Failures) Release(group netip.Prefix) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held--
	if e := f.by[group]; e != nil {
		e.Value.(*failing).held-- //nolint:errcheck,forcetypeassert // nothing else is in the list
	}
}

// of returns what is known of an address, and forgets those of long ago.
func (f *Failures) of(group netip.Prefix, now time.Time) *failing {
	if f.by == nil {
		f.by = make(map[netip.Prefix]*list.Element)
	}
	if e := f.by[group]; e != nil {
		f.last.MoveToFront(e)
		a := e.Value.(*failing) //nolint:errcheck,forcetypeassert // nothing else is in the list
		if now.Sub(a.at) > failingFor {
			a.failures = 0
		}
		return a
	}
	for e := f.last.Back(); e != nil; e = f.last.Back() {
		old := e.Value.(*failing) //nolint:errcheck,forcetypeassert // nothing else is in the list
		if len(f.by) < maxFailing && now.Sub(old.at) <= failingFor {
			break
		}
		f.others += old.unaudited
		f.last.Remove(e)
		delete(f.by, old.group)
	}
	a := &failing{group: group}
	f.by[group] = f.last.PushFront(a)
	return a
}

// audit decides whether the failures of an address belong into the audit log.
func (f *Failures) audit(a *failing, now time.Time, v *Setback) {
	if now.Sub(f.since) >= auditFailures {
		f.since, f.entries = now, 0
	}
	if now.Sub(a.audited) < auditFailures || f.entries >= maxFailureEntries {
		return
	}
	f.entries++
	v.Audited, v.Others = a.unaudited, f.others
	a.audited, a.unaudited, f.others = now, 0, 0
}
