package load

import (
	"errors"
	"sync"
	"time"
)

// measure collects what happens in a rung. It is safe for concurrent use.
type measure struct {
	began                     time.Time
	start, first, whole, stop *histogram

	mu  sync.Mutex
	sum Rung
	// ends are the times at which runs ended that were not stopped.
	ends      []time.Duration
	connected int
	failures  int
	// lastFrame is when the last frame came.
	lastFrame time.Time
}

func newMeasure() *measure {
	return &measure{
		began: time.Now(), start: newHistogram(), first: newHistogram(), whole: newHistogram(), stop: newHistogram(),
		sum: Rung{Errors: make(map[string]int)},
	}
}

const (
	// maxNames bounds the names of errors in a rung. Others count as otherErrors.
	maxNames    = 40
	otherErrors = "other errors"
)

// fail counts a failure.
func (m *measure) fail(name string) {
	m.change(func(r *Rung) {
		if _, known := r.Errors[name]; !known && len(r.Errors) >= maxNames {
			name = otherErrors
		}
		r.Errors[name]++
		m.failures++
	})
}

// change changes the sums.
func (m *measure) change(fn func(r *Rung)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	fn(&m.sum)
}

func (m *measure) arrived(n int) {
	m.change(func(r *Rung) { r.Arrivals, r.Seconds = n, time.Since(m.began).Seconds() })
}

// ended counts a run that ended as it should, by itself or by a stop.
func (m *measure) ended(at time.Time, stopped bool) {
	m.change(func(r *Rung) {
		r.Ended++
		if stopped {
			r.Stopped++
			return
		}
		m.ends = append(m.ends, at.Sub(m.began))
	})
}

// connect counts a watcher that has its first frame. The watcher calls the result when it leaves.
func (m *measure) connect() (leave func()) {
	m.change(func(r *Rung) {
		m.connected++
		r.Watchers.Most = max(r.Watchers.Most, m.connected)
	})
	return func() { m.change(func(*Rung) { m.connected-- }) }
}

// watched adds what a watcher saw.
func (m *measure) watched(w *watcher) {
	m.change(func(r *Rung) {
		r.Watchers.Frames += w.frames
		r.Watchers.Gaps += w.gaps
		r.Watchers.Repeats += w.repeats
		r.Watchers.Snapshots += w.snapshots
		if w.last.After(m.lastFrame) {
			m.lastFrame = w.last
		}
	})
}

// rung returns the result.
func (m *measure) rung(rate float64) (*Rung, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.sum
	var failed [4]error
	r.Start, failed[0] = m.start.latency()
	r.FirstToken, failed[1] = m.first.latency()
	r.WholeRun, failed[2] = m.whole.latency()
	r.StopToEnd, failed[3] = m.stop.latency()
	r.OfferedPerSecond = rate
	// Stopped runs end early, which would change the rate of the others. They count by their number.
	r.AchievedPerSecond = min(rate, endRate(m.ends, m.whole.quick())*float64(r.Ended)/float64(max(1, len(m.ends))))
	if len(m.ends) < 2 { // too few for a rate: the share that has ended says the same
		r.AchievedPerSecond = rate * float64(r.Ended) / float64(max(1, r.Arrivals))
	}
	if seconds := m.lastFrame.Sub(m.began).Seconds(); r.Watchers.Frames > 0 && seconds > 0 {
		r.Watchers.FramesPerSecond = float64(r.Watchers.Frames) / seconds
	}
	return &r, errors.Join(failed[:]...)
}
