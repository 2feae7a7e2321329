package server

import (
	"container/list"
	"context"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/internal/call"
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

// The kinds of credentials that are counted.
const (
	failedBearer   = "bearer"
	failedStream   = "stream_token"
	failedDelivery = "delivery"
	failedMissing  = "missing"
)

// failedLogins remembers from which addresses wrong credentials came. Its memory is bounded.
type failedLogins struct {
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
	// told is when the address was in the audit log last, and untold how often it has failed
	// since.
	told   time.Time
	untold int64
}

// setback says what a failure comes to.
type setback struct {
	// delay is how long the answer is held back. Release has to be called after it.
	delay time.Duration
	// refused says that too many answers are held back already.
	refused bool
	// told is how many failures the audit log is to be told of, and others how many of
	// addresses that it was not told of. Zero: it is not.
	told, others int64
}

// fail counts a failure of an address, whose first failures up to free are not slowed.
func (f *failedLogins) fail(group netip.Prefix, free int, now time.Time) (v setback) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a := f.of(group, now)
	a.failures, a.at = a.failures+1, now
	a.untold++
	f.tell(a, now, &v)
	if free <= 0 || a.failures <= free {
		return v
	}
	v.delay = min(failureDelay<<min(a.failures-free-1, 10), failureDelayMax)
	if a.held >= maxHeldEach || f.held >= maxHeld {
		v.refused = true
		return v
	}
	a.held++
	f.held++
	return v
}

// release lets go of an answer that was held back.
func (f *failedLogins) release(group netip.Prefix) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held--
	if e := f.by[group]; e != nil {
		e.Value.(*failing).held-- //nolint:errcheck,forcetypeassert // nothing else is in the list
	}
}

// of returns what is known of an address, and forgets those of long ago.
func (f *failedLogins) of(group netip.Prefix, now time.Time) *failing {
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
		f.others += old.untold
		f.last.Remove(e)
		delete(f.by, old.group)
	}
	a := &failing{group: group}
	f.by[group] = f.last.PushFront(a)
	return a
}

// tell decides whether the audit log is told of the failures of an address.
func (f *failedLogins) tell(a *failing, now time.Time, v *setback) {
	if now.Sub(f.since) >= auditFailures {
		f.since, f.entries = now, 0
	}
	if now.Sub(a.told) < auditFailures || f.entries >= maxFailureEntries {
		return
	}
	f.entries++
	v.told, v.others = a.untold, f.others
	a.told, a.untold, f.others = now, 0, 0
}

// failed counts wrong credentials, tells the audit log, and holds the answer back. It returns
// the error to answer with, which is err unless too many answers are held back.
func (s *Server) failed(r *http.Request, kind string, err error) error {
	ctx := r.Context()
	s.engine.CountFailedLogin(ctx, kind)
	if kind == failedMissing { // nobody has guessed anything
		return err
	}
	at := clientAddress(r, s.config.TrustedProxies)
	group := addressGroup(at)
	v := s.logins.fail(group, s.config.Limits.FailedLogins, time.Now())
	s.auditFailure(ctx, at, kind, v)
	switch {
	case v.refused:
		return &call.Later{Err: spool.Errorf(spool.Limit, "too many attempts with wrong credentials"), After: v.delay}
	case v.delay > 0:
		defer s.logins.release(group)
		s.hold(ctx, v.delay)
	}
	return err
}

// hold waits, unless the request or the server ends.
func (s *Server) hold(ctx context.Context, d time.Duration) {
	wait := time.NewTimer(d)
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-ctx.Done():
	case <-s.jobs.Done():
	}
}

// auditFailure adds to the audit log of no tenant what it is to be told.
func (s *Server) auditFailure(ctx context.Context, at netip.Addr, kind string, v setback) {
	var entries []*spool.AuditEntry
	if v.told > 0 {
		address := ""
		if at.IsValid() {
			address = at.String()
		}
		entries = append(entries, &spool.AuditEntry{Action: spool.AuditLogin, Address: address, Count: v.told, Reason: kind})
	}
	if v.others > 0 {
		entries = append(entries, &spool.AuditEntry{Action: spool.AuditLogin, Count: v.others, Reason: "other addresses"})
	}
	if len(entries) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), auditTimeout)
	defer cancel()
	if err := s.engine.AppendAudit(ctx, "", entries...); err != nil {
		s.log.WarnContext(ctx, "failed authentication is not in the audit log", "error", err)
	}
}

// auditTimeout bounds how long the answer to wrong credentials waits for the store.
const auditTimeout = 5 * time.Second
