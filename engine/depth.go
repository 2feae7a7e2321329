package engine

import (
	"context"
	"sync"
	"time"
)

const (
	// depthAge is how old the count of ready jobs may be.
	depthAge = 250 * time.Millisecond
	// depthRetry is when a start that was refused because of it is worth another try.
	depthRetry = time.Second
)

// depth is how many jobs are ready, as far as this process knows.
type depth struct {
	mu sync.Mutex
	// counted is when the queue was asked. Zero: never.
	counted time.Time
	ready   int
}

// reserve takes a place in the queue for a start, and reports whether there was one. A start
// that needs none after all gives it back: see release.
func (e *Engine) reserve(ctx context.Context) (counted time.Time, ok bool, err error) {
	if e.config.MaxQueueDepth == 0 || e.queue == nil {
		return time.Time{}, true, nil
	}
	d := &e.depth
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.counted.IsZero() || time.Since(d.counted) >= depthAge {
		stats, err := e.queue.Stats(ctx, "")
		if err != nil {
			return time.Time{}, false, err
		}
		d.counted, d.ready = time.Now(), stats.Ready
	}
	if d.ready >= e.config.MaxQueueDepth {
		return time.Time{}, false, nil
	}
	d.ready++
	return d.counted, true, nil
}

// release gives back a place that was reserved after the jobs were counted at that time. A
// later count does not have it.
func (e *Engine) release(counted time.Time) {
	e.depth.mu.Lock()
	defer e.depth.mu.Unlock()
	if !counted.IsZero() && counted.Equal(e.depth.counted) {
		e.depth.ready--
	}
}
