package access

import (
	"container/list"
	"net/netip"
	"sync"
	"time"
)

const (
	// maxFailing is how many addresses are remembered. A further one replaces the one that failed longest
	// ago.
	maxFailing = 4096
	// failingFor is how long an address is remembered after its last failure.
	failingFor = 15 * time.Minute
	// failureDelay is the delay of the first delayed answer. It doubles with each failure, up to
	// failureDelayMax.
	failureDelay, failureDelayMax = 100 * time.Millisecond, 5 * time.Second
	// maxHeld is how many answers are delayed at once, so that delays cannot use up the server. maxHeldEach
	// is the same for one address. Further answers are refused at once with 429.
	maxHeld, maxHeldEach = 512, 8
	// auditFailures is how often the failures of one address are in the audit log, and
	// maxFailureEntries how many entries there are of all addresses in that time.
	auditFailures, maxFailureEntries = time.Minute, 100
)

// Failures remembers the addresses that sent wrong credentials. Its memory is bounded.
type Failures struct {
	mu   sync.Mutex
	by   map[netip.Prefix]*list.Element // of *failing
	last list.List                      // the one that failed last is at the front
	held int

	// since and entries count the entries of the audit log. others counts the failures that they leave out.
	since   time.Time
	entries int
	others  int64
}

// failing is an address that sent wrong credentials.
type failing struct {
	group    netip.Prefix
	failures int
	at       time.Time
	held     int
	// audited is when the audit log last got an entry for the address. unaudited is how often it has failed
	// since.
	audited   time.Time
	unaudited int64
}

// Setback is the consequence of a failure.
type Setback struct {
	// Delay is how long to delay the answer. The caller must call Release afterwards.
	Delay time.Duration
	// Refused says that too many answers are delayed already.
	Refused bool
	// Audited is how many failures of the address to write to the audit log, and Others how many of addresses
	// without an entry. Zero: write no entry now.
	Audited, Others int64
}

// Fail counts a failure of an address. The first free failures are not delayed.
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

// Release ends the delay of an answer.
func (f *Failures) Release(group netip.Prefix) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held--
	if e := f.by[group]; e != nil {
		e.Value.(*failing).held-- //nolint:errcheck,forcetypeassert // nothing else is in the list
	}
}

// of returns the state of an address, and forgets old ones.
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

// audit decides whether the failures of an address get an entry in the audit log.
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
