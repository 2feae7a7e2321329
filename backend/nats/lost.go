package nats

import (
	"math"
	"time"

	"github.com/spoolhq/spool/store"
)

const (
	// lostFor is how long a process remembers that it has lost a stream: longer than a segment takes.
	lostFor = 24 * time.Hour
	// silentFor is how long a stream counts as gone after its owner has not answered, because each further
	// question would wait for the owner again.
	silentFor = 5 * time.Second
	// maxLost bounds how many streams are remembered.
	maxLost = 1 << 16
)

// positioned reports whether a request is of a reader that has read a part of the stream. If such a reader is
// told that the stream is gone, its clients get a snapshot in place of the rest, and nobody reads the rest when
// the stream is there again. It must stay gone, so that the end of the segment makes up for it as well. A reader
// from the start, or one that asks where the end is, may come before the owner has opened the stream.
func (q request) positioned() bool {
	return q.op == opRead && !q.after.IsZero() && q.after.Fence != math.MaxInt64
}

// lose makes a stream that another process owns gone for this process.
func (l *Live) lose(key store.StreamKey, d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if len(l.lost) >= maxLost {
		for other, until := range l.lost {
			if now.After(until) || len(l.lost) >= maxLost {
				delete(l.lost, other)
			}
		}
	}
	l.lost[key] = now.Add(d)
}

func (l *Live) isLost(key store.StreamKey) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	until, ok := l.lost[key]
	if ok && time.Now().After(until) {
		delete(l.lost, key)
		ok = false
	}
	return ok
}
