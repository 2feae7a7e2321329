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

// take counts n requests at the time now if the rate allows all of them.
func (w *window) take(now time.Duration, rate Rate, n int) State {
	w.expire(now - rate.Window)
	if w.used+n > rate.Limit {
		return State{RetryAfter: w.wait(now, rate, n), Reset: w.idleAt(rate) - now}
	}
	w.add(now, grain(rate), n)
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

func (w *window) add(now, grain time.Duration, n int) {
	w.used += n
	if last := len(w.entries) - 1; last >= 0 && (now == w.entries[last].last || now-w.entries[last].first < grain) {
		w.entries[last].last = now
		w.entries[last].count += n
		return
	}
	w.entries = append(w.entries, entry{first: now, last: now, count: n})
}

// wait returns the time until n more requests are allowed.
func (w *window) wait(now time.Duration, rate Rate, n int) time.Duration {
	left := w.used
	for _, e := range w.entries {
		left -= e.count
		if left+n <= rate.Limit {
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
