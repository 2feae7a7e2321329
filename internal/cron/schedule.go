// Package cron says when a schedule comes due. It reads no clock and keeps no state: each answer follows from the
// schedule and the times that the caller names.
//
// A [Schedule] is one of three rules:
//
//   - [Parse]: a cron pattern of five fields, in a time zone;
//   - [Every]: a duration, counted in real time from a first due time;
//   - [At]: one time.
//
// The hard part is the days on which a zone's clock changes. A local time that the clock jumps over comes due right
// behind the gap. Of local times that come twice, a pattern that names its times counts the first. See clock.go, and
// docs/design/0041 for the reasons.
//
// Each due time is in UTC, a whole second, and in the years 2000 to 9999. [Jitter] spreads schedules that come due
// together.
package cron

import (
	"iter"
	"time"
)

// The seconds since 1970 between which due times lie: the years 2000 to 9999. The bounds end each search. Since 2000,
// each zone has been whole minutes away from UTC.
const (
	earliest int64 = 946_684_800
	latest   int64 = 253_402_300_799
)

// Schedule says when something comes due. [Parse], [Every] and [At] make one; the zero Schedule is of no use.
type Schedule struct{ rule rule }

// rule finds due times, as seconds since 1970. Both bounds of a search are included.
type rule interface {
	first(from, to int64) (int64, bool)
	last(from, to int64) (int64, bool)
	String() string
}

// Next returns the first due time after a time, and false if no due time follows.
func (s Schedule) Next(after time.Time) (time.Time, bool) {
	return due(s.rule.first(second(after)+1, latest))
}

// Last returns the last due time that is after one time and not after another, and false if there is none. It does not
// walk over the due times between them.
func (s Schedule) Last(after, until time.Time) (time.Time, bool) {
	return due(s.rule.last(second(after)+1, second(until)))
}

// Between returns the due times that are after one time and not after another, in order. It computes each one when it
// is asked for, so a caller that stops early has only paid for what it took.
func (s Schedule) Between(after, until time.Time) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		for {
			next, ok := s.Next(after)
			if !ok || next.After(until) || !yield(next) {
				return
			}
			after = next
		}
	}
}

// String returns the schedule in its canonical form. For a cron pattern, it is the pattern without its zone, and
// [Parse] takes it.
func (s Schedule) String() string { return s.rule.String() }

// second returns the second in which t lies. A time beyond the bounds counts as one right outside of them.
func second(t time.Time) int64 { return min(max(t.Unix(), earliest-1), latest) }

func due(at int64, ok bool) (time.Time, bool) {
	if !ok {
		return time.Time{}, false
	}
	return time.Unix(at, 0).UTC(), true
}
