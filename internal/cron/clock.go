package cron

import "time"

// This file has the rule for the days on which a zone's clock changes. Between two changes, local time is linear, and
// the search is the pattern's own, on local time. At a change:
//
//   - forward: if the pattern fits a local time that the clock jumps over, the first minute behind the gap comes due.
//     It comes due once, for all such times and for itself.
//   - backward: a fixed pattern does not come due at local times that the clock shows again. Other patterns do.

// zoned is a pattern on the clock of a zone.
type zoned struct {
	*pattern

	zone *time.Location
}

// first searches period by period. periodAt returns a period that contains the given second, so each step advances.
func (z zoned) first(from, to int64) (int64, bool) {
	for from <= to {
		p := periodAt(z.zone, from)
		if due, ok := z.firstIn(p, from, min(to, p.end)); ok {
			return due, true
		}
		from = p.end + 1
	}
	return 0, false
}

func (z zoned) last(from, to int64) (int64, bool) {
	for from <= to {
		p := periodAt(z.zone, to)
		if due, ok := z.lastIn(p, max(from, p.start), to); ok {
			return due, true
		}
		to = p.start - 1
	}
	return 0, false
}

// firstIn searches within one period.
func (z zoned) firstIn(p period, from, to int64) (int64, bool) {
	if from == p.start && z.skipped(p) {
		return p.start, true
	}
	local, ok := z.pattern.first(max(from, z.counted(p))+p.offset, to+p.offset)
	return local - p.offset, ok
}

func (z zoned) lastIn(p period, from, to int64) (int64, bool) {
	if local, ok := z.pattern.last(max(from, z.counted(p))+p.offset, to+p.offset); ok {
		return local - p.offset, true
	}
	return p.start, from == p.start && z.skipped(p)
}

// skipped reports whether the pattern fits a local time that the clock jumped over when the period began.
func (z zoned) skipped(p period) bool {
	_, ok := z.pattern.first(p.start+p.before, p.start+p.offset-1)
	return ok
}

// counted returns the second of a period from which its local times count.
func (z zoned) counted(p period) int64 {
	if z.fixed() {
		return p.start + max(p.before-p.offset, 0)
	}
	return p.start
}
