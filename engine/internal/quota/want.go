package quota

import (
	"slices"
	"time"
)

// maxWants bounds how many calls a request has.
const maxWants = 256

// unmet is what a waiting call still needs.
type unmet struct {
	want

	waiter *waiter
}

// unmetNeeds returns what the waiting calls need beyond the engine's grants and slots. The caller must hold mu.
func (g *group) unmetNeeds(now time.Duration) (all []unmet) {
	free := g.slots - g.slotsInUse()
	grants := slices.Clone(g.grants)
	for _, w := range g.waiters {
		c := unmet{want{since: w.since, tokens: w.Tokens}, w}
		if g.limit.Concurrent > 0 {
			if free--; free < 0 {
				c.slot = true
			}
		}
		if g.limit.rated() {
			i := slices.IndexFunc(grants, func(x *grant) bool { return now < x.until && x.tokens >= w.Tokens })
			if c.grant = i < 0; !c.grant {
				grants = slices.Delete(grants, i, i+1)
			}
		}
		if c.grant || c.slot {
			if all = append(all, c); len(all) == maxWants {
				break
			}
		}
	}
	return all
}

// spares returns how many more starts the engine would use soon, going by its last ones. The caller must hold
// mu.
func (g *group) spares(now time.Duration) int64 {
	g.recent = slices.DeleteFunc(g.recent,
		func(at time.Duration) bool { return at+time.Duration(horizon)*time.Millisecond < now })
	most := int64(100)
	if g.limit.Requests > 0 {
		most = max(1, g.limit.Requests*horizon/60_000)
	}
	return max(0, min(int64(len(g.recent)), most)-int64(len(g.grants)))
}

// request returns what to ask for, and gives back what the engine does not need: from now on it does not use
// that. The caller must hold mu.
func (g *group) request() (r request) {
	now := g.clock.now()
	if !g.pending.empty() {
		g.pending.number = g.report.number + 1
		g.report, g.pending = g.pending, report{}
	}
	for _, w := range g.waiters {
		if w.since == 0 {
			w.since = g.clock.latest(w.began)
		}
	}
	r = request{me: g.me, lease: g.lease.Milliseconds(), report: g.report}
	g.returnSlots(now)
	g.grants = slices.DeleteFunc(g.grants, func(x *grant) bool { return now >= x.until })
	for _, c := range g.unmetNeeds(now) {
		r.calls = append(r.calls, c.want)
	}
	if len(g.waiters) == 0 && (g.rival != 0 || g.closing) {
		g.grants = nil
	}
	if g.limit.rated() && now >= g.closed && !g.closing {
		r.spare, r.spareTokens = g.spares(now), g.tokens
	}
	for _, x := range g.grants {
		r.keep = append(r.keep, count{At: x.at, Starts: 1, Tokens: x.tokens})
	}
	for p := range g.permits {
		if x := p.grant; x != nil && now < x.until {
			r.keep = append(r.keep, count{At: x.at, Starts: 1, Tokens: x.tokens})
		}
	}
	r.slots = g.slots
	return r
}

// returnSlots returns slots that no call of this engine needs. The caller must hold mu.
func (g *group) returnSlots(now time.Duration) {
	idle := g.slots - g.slotsInUse() - int64(len(g.waiters))
	if idle > 0 && (g.rival != 0 || g.closing || now >= g.idleSince+idleSlot) {
		g.slots -= idle
	}
}
