package throttle

import "time"

// maxEntries limits the log of a caller: it has at most one entry more. The Redis counter has
// the same limit, so that both counters decide alike.
const maxEntries = 64

// window is the sliding log of one key. Times are on the counter's own clock.
type window struct {
	entries []entry
	used    int
}

// entry is one or more requests that count until the last of them is one window old.
type entry struct {
	first, last time.Duration
	count       int
}

// take counts a request at the time now if the rate allows it.
func (w *window) take(now time.Duration, rate Rate) State {
	w.expire(now - rate.Window)
	if w.used >= rate.Limit {
		return State{RetryAfter: w.wait(now, rate), Reset: w.idleAt(rate) - now}
	}
	w.add(now, grain(rate))
	return State{Allowed: true, Remaining: rate.Limit - w.used, Reset: w.idleAt(rate) - now}
}

// expire removes the entries whose last request is at or before until.
func (w *window) expire(until time.Duration) {
	gone := 0
	for gone < len(w.entries) && w.entries[gone].last <= until {
		w.used -= w.entries[gone].count
		gone++
	}
	if gone > 0 {
		w.entries = w.entries[:copy(w.entries, w.entries[gone:])]
	}
}

func (w *window) add(now, grain time.Duration) {
	w.used++
	if n := len(w.entries); n > 0 && (now == w.entries[n-1].last || now-w.entries[n-1].first < grain) {
		w.entries[n-1].last = now
		w.entries[n-1].count++
		return
	}
	w.entries = append(w.entries, entry{first: now, last: now, count: 1})
}

// wait returns the time until one more request is allowed.
func (w *window) wait(now time.Duration, rate Rate) time.Duration {
	left := w.used
	for _, e := range w.entries {
		left -= e.count
		if left < rate.Limit {
			return e.last + rate.Window - now
		}
	}
	return 0
}

// idleAt returns the time at which the whole limit is available again.
func (w *window) idleAt(rate Rate) time.Duration {
	if len(w.entries) == 0 {
		return 0
	}
	return w.entries[len(w.entries)-1].last + rate.Window
}

// grain returns how close together requests must be to share an entry.
func grain(rate Rate) time.Duration {
	if rate.Limit <= maxEntries {
		return 0
	}
	return rate.Window / maxEntries
}
