package cron

import "time"

// This file finds the times that a pattern fits. It knows the calendar and no clock: a local time is the number of
// seconds that UTC would have with the same reading.

const (
	hourMinutes = 60
	dayMinutes  = 24 * hourMinutes
	daySeconds  = 60 * dayMinutes
)

// first returns the first minute of the pattern between two seconds of local time. It looks at each day between them
// at most, and a calendar has a day of each pattern within eight years.
func (p *pattern) first(from, to int64) (int64, bool) {
	low, high := (from+59)/60, to/60
	for at := low / dayMinutes; at <= high/dayMinutes; at++ {
		if !p.fits(at) {
			continue
		}
		midnight := at * dayMinutes
		if m, ok := p.firstTime(max(low-midnight, 0), min(high-midnight, dayMinutes-1)); ok {
			return (midnight + m) * 60, true
		}
	}
	return 0, false
}

// last is first, backwards.
func (p *pattern) last(from, to int64) (int64, bool) {
	low, high := (from+59)/60, to/60
	for at := high / dayMinutes; at >= low/dayMinutes; at-- {
		if !p.fits(at) {
			continue
		}
		midnight := at * dayMinutes
		if m, ok := p.lastTime(max(low-midnight, 0), min(high-midnight, dayMinutes-1)); ok {
			return (midnight + m) * 60, true
		}
	}
	return 0, false
}

// fits reports whether a day, counted since 1970, is one of the pattern.
func (p *pattern) fits(at int64) bool {
	date := time.Unix(at*daySeconds, 0).UTC()
	_, m, d := date.Date()
	onDay, onWeekday := p[day].has(d), p[weekday].has(int(date.Weekday()))
	if p[day].all || p[weekday].all {
		return p[month].has(int(m)) && onDay && onWeekday
	}
	return p[month].has(int(m)) && (onDay || onWeekday)
}

// firstTime returns the first time of day of the pattern, in minutes, between two others.
func (p *pattern) firstTime(from, to int64) (int64, bool) {
	for m := from; m <= to; m++ {
		if !p[hour].has(int(m / hourMinutes)) {
			m += hourMinutes - 1 - m%hourMinutes // to the hour's last minute
		} else if p[minute].has(int(m % hourMinutes)) {
			return m, true
		}
	}
	return 0, false
}

// lastTime is firstTime, backwards.
func (p *pattern) lastTime(from, to int64) (int64, bool) {
	for m := to; m >= from; m-- {
		if !p[hour].has(int(m / hourMinutes)) {
			m -= m % hourMinutes // to the hour's first minute
		} else if p[minute].has(int(m % hourMinutes)) {
			return m, true
		}
	}
	return 0, false
}
