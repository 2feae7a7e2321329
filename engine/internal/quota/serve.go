package quota

import (
	"cmp"
	"slices"
	"time"
)

const (
	// firstPause and longestPause bound how long a group is closed if the provider refuses a request
	// and does not say for how long. The pause doubles with each refusal.
	firstPause, longestPause = int64(time.Second / time.Millisecond), int64(30 * time.Second / time.Millisecond)
	// longestRefusal bounds how long a group is closed in any case.
	longestRefusal = int64(15 * time.Minute / time.Millisecond)
)

// request is what an engine reports and asks for.
type request struct {
	me    string
	lease int64 // milliseconds
	report

	// keep are the grants that the engine keeps, and slots the slots.
	keep  []count
	slots int64
	// calls wait, in this order.
	calls []want
	// spare is how many more starts the engine would use soon, each with spareTokens.
	spare, spareTokens int64
}

// report is what has happened since the last report.
type report struct {
	number int64
	used   []count
	// settled corrects the tokens of starts at a time: more or less than they had reserved.
	settled []count
	// refused says that the provider refused a request, and refusedFor for how long (zero: it did not
	// say). answered says that it answered one.
	refused, answered bool
	refusedFor        int64
}

func (r *report) empty() bool {
	return len(r.used) == 0 && len(r.settled) == 0 && !r.refused && !r.answered
}

// merge adds a later report.
func (r *report) merge(later report) {
	r.used, r.settled = append(r.used, later.used...), append(r.settled, later.settled...)
	r.refused, r.answered = r.refused || later.refused, later.answered && !later.refused || r.answered && !later.refused
	r.refusedFor = max(r.refusedFor, later.refusedFor)
}

// want is what a waiting call still needs.
type want struct {
	since       int64
	tokens      int64
	grant, slot bool
}

// served is what an engine gets.
type served struct {
	// grants are in the order of the calls that want one, and then the spare ones. Each has one start.
	grants []count
	slots  int64
	// next is when the first call without a grant may get one.
	next int64
	// why is what the first unserved call waits for. Empty: all calls are served.
	why Reason
	// rival is when the call of another engine began to wait that has waited longest. Zero: none waits.
	rival       int64
	closedUntil int64
	refusals    int
	// changed is false if the row need not be written.
	changed bool
}

// serve applies a request. Calls of all engines are served in the order in which they began to wait: an engine
// leaves to every other engine whose oldest call is older what this call needs.
func (s *state) serve(now int64, l Limit, r request) served {
	s.expire(now)
	before, known := s.Holders[r.me]
	s.apply(now, r.report)
	mine := holder{Until: now + r.lease, Report: r.number, Grants: merged(r.keep), Slots: r.slots}
	s.Holders[r.me] = mine
	out := s.allot(now, l, r)
	mine.Slots += out.slots
	mine.Grants = merged(append(slices.Clone(r.keep), out.grants...))
	for _, c := range unserved(r.calls, out) {
		mine.Since, mine.Tokens, mine.Slotted = c.since, c.tokens, !c.slot
		break
	}
	s.Holders[r.me] = mine
	idle := len(mine.Grants) == 0 && mine.Slots == 0 && mine.Since == 0
	if idle {
		delete(s.Holders, r.me)
	}
	renew := !idle && before.Until < now+r.lease*3/4
	out.changed = !r.empty() || known == idle || !idle && !mine.equal(before) || renew
	out.closedUntil, out.refusals = s.ClosedUntil, s.Refusals
	return out
}

// merged returns grants with the starts of one time counted together.
func merged(grants []count) (all []count) {
	grants = slices.Clone(grants)
	slices.SortStableFunc(grants, func(a, b count) int { return cmp.Compare(a.At, b.At) })
	for _, g := range grants {
		if n := len(all); n > 0 && all[n-1].At == g.At {
			all[n-1].Starts += g.Starts
			all[n-1].Tokens += g.Tokens
		} else {
			all = append(all, g)
		}
	}
	return all
}

// unserved returns the calls that still need something.
func unserved(calls []want, out served) (left []want) {
	grants, slots := len(out.grants), out.slots
	for _, c := range calls {
		if c.grant && grants > 0 {
			c.grant = false
			grants--
		}
		if c.slot && slots > 0 {
			c.slot = false
			slots--
		}
		if c.grant || c.slot {
			left = append(left, c)
		}
	}
	return left
}

// apply counts what was reported.
func (s *state) apply(now int64, r report) {
	for _, c := range r.used {
		if c.At+period > now {
			s.add(c)
		}
	}
	for _, c := range r.settled {
		if c.Tokens < 0 {
			s.returnTokens(c.At, -c.Tokens)
		} else if c.Tokens > 0 {
			s.add(count{At: now, Tokens: c.Tokens})
		}
	}
	switch open := now >= s.ClosedUntil; {
	case r.refused && r.refusedFor > 0:
		s.ClosedUntil = max(s.ClosedUntil, now+min(r.refusedFor, longestRefusal))
	case r.refused && open: // otherwise it was under way when another one was refused
		s.ClosedUntil = now + min(firstPause<<min(s.Refusals, 10), longestPause)
		s.Refusals++
	case r.answered && open:
		s.Refusals = 0
	}
}

// claim is a waiting call of any engine. At is its index in the request, or -1 for another engine's.
type claim struct {
	want

	at int
	of string // the holder
}

// allot chooses the grants and slots of a request. A call gets all that it needs or nothing: an engine that holds
// starts and waits for a slot would keep them from one that has the slot.
func (s *state) allot(now int64, l Limit, r request) (out served) {
	claims := make([]claim, 0, len(r.calls))
	free := l.Concurrent
	for id, h := range s.Holders {
		free -= h.Slots
		if id == r.me || h.Since == 0 {
			continue
		}
		if out.rival == 0 || h.Since < out.rival {
			out.rival = h.Since
		}
		claims = append(claims, claim{want{since: h.Since, tokens: h.Tokens, grant: true, slot: !h.Slotted}, -1, id})
	}
	for i, c := range r.calls {
		claims = append(claims, claim{c, i, r.me})
	}
	slices.SortStableFunc(claims, func(a, b claim) int {
		return cmp.Or(cmp.Compare(a.since, b.since), cmp.Compare(a.of, b.of))
	})
	b := s.book(l, max(now, s.ClosedUntil))
	late := false // the next start is beyond the horizon
	for _, c := range claims {
		if c.slot && l.Concurrent > 0 && free <= 0 {
			out.wait(c, Concurrent, now < s.ClosedUntil)
			continue
		}
		if c.grant && l.rated() {
			if late {
				out.wait(c, Requests, now < s.ClosedUntil)
				continue
			}
			at, why := b.next(c.tokens)
			if late = at > now+horizon; late {
				out.next = at
				out.wait(c, why, now < s.ClosedUntil)
				continue
			}
			b.addStart(at, c.tokens)
			if c.at >= 0 {
				out.grants = append(out.grants, count{At: at, Starts: 1, Tokens: c.tokens})
			}
		}
		if c.slot && l.Concurrent > 0 {
			if free--; c.at >= 0 {
				out.slots++
			}
		}
	}
	if late || out.why != "" || len(claims) > len(r.calls) { // calls wait
		return out
	}
	for range r.spare {
		at, _ := b.next(r.spareTokens)
		if at > now {
			break
		}
		b.addStart(at, r.spareTokens)
		out.grants = append(out.grants, count{At: at, Starts: 1, Tokens: r.spareTokens})
	}
	return out
}

// wait notes why the request's first unserved call waits.
func (out *served) wait(c claim, why Reason, closed bool) {
	switch {
	case c.at < 0 || out.why != "":
	case closed:
		out.why = Refused
	default:
		out.why = cmp.Or(why, Requests)
	}
}
