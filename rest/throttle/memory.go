package throttle

import (
	"container/heap"
	"context"
	"hash/maphash"
	"sync"
	"time"
)

// MemoryCounter is a [Counter] in the memory of one process. Use [Memory] to make one; its
// zero value is not ready for use.
type MemoryCounter struct {
	start  time.Time
	seed   maphash.Seed
	shards []shard
}

// The default number of keys, and the number of keys from which a counter has shards.
const (
	defaultKeys = 100_000
	manyKeys    = 1024
	shardCount  = 32
)

// Memory returns a counter that remembers up to the given number of keys; a key is a caller of
// a throttle. 0 or less means 100,000. A key takes about 200 bytes, or up to 1.8 KB if its
// limit is high and used.
//
// A key is removed when its window has passed. If there are too many keys, the one that would
// expire next is removed early, and its caller starts with the full limit. So a flood of
// callers costs precision, but no memory.
//
// The counter uses the monotonic clock, so changes of the system time have no effect.
func Memory(keys int) *MemoryCounter {
	if keys <= 0 {
		keys = defaultKeys
	}
	shards := 1
	if keys >= manyKeys {
		shards = shardCount
	}
	m := &MemoryCounter{start: time.Now(), seed: maphash.MakeSeed(), shards: make([]shard, shards)}
	for i := range m.shards {
		m.shards[i] = shard{keys: map[string]*record{}, room: (keys + shards - 1) / shards}
	}
	return m
}

// Take implements [Counter]. It never fails and does not block.
func (m *MemoryCounter) Take(_ context.Context, key string, rate Rate) (State, error) {
	return m.TakeMany(key, rate, 1), nil
}

// TakeMany counts n requests of the key at once: all of them, or none. If n is more than the
// limit, it counts as many as the limit. RetryAfter is the time until all of them are allowed.
func (m *MemoryCounter) TakeMany(key string, rate Rate, n int) State {
	s := &m.shards[maphash.String(m.seed, key)%uint64(len(m.shards))]
	s.mu.Lock()
	defer s.mu.Unlock()

	// Read under the lock: the entries of a log must be in the order of their times.
	now := time.Since(m.start)
	s.forgetIdle(now)
	r, known := s.keys[key]
	if !known {
		s.makeRoom()
		r = &record{key: key}
		s.keys[key] = r
	}
	state := r.window.take(now, rate, min(n, rate.Limit))
	r.idle = r.window.idleAt(rate)
	if !known {
		r.due = r.idle
		heap.Push(&s.queue, r)
	}
	return state
}

// Len returns the number of remembered keys.
func (m *MemoryCounter) Len() int {
	n := 0
	for i := range m.shards {
		m.shards[i].mu.Lock()
		n += len(m.shards[i].keys)
		m.shards[i].mu.Unlock()
	}
	return n
}

// shard holds a part of the keys, so that callers with different keys seldom wait for each
// other.
type shard struct {
	mu    sync.Mutex
	keys  map[string]*record
	queue dueQueue
	room  int
}

type record struct {
	key    string
	window window
	// idle is the time at which nothing is counted any more. due is the value of idle when the
	// record was put into the queue; updating the queue at each request would cost more.
	idle, due time.Duration
}

// forgetIdle removes keys whose window has passed. It checks only a few: each call of Take
// adds at most one key, so checking three is enough to keep up.
func (s *shard) forgetIdle(now time.Duration) {
	for range 3 {
		if len(s.queue) == 0 || s.queue[0].due > now {
			return
		}
		if r := s.queue[0]; r.idle > now {
			r.due = r.idle
			heap.Fix(&s.queue, 0)
		} else {
			s.dropFirst()
		}
	}
}

func (s *shard) makeRoom() {
	for len(s.keys) >= s.room {
		if r := s.queue[0]; r.due < r.idle {
			r.due = r.idle
			heap.Fix(&s.queue, 0)
			continue
		}
		s.dropFirst()
	}
}

func (s *shard) dropFirst() {
	r, _ := heap.Pop(&s.queue).(*record)
	delete(s.keys, r.key)
}

// dueQueue is a heap of records with the smallest due time on top.
type dueQueue []*record

func (q *dueQueue) Len() int           { return len(*q) }
func (q *dueQueue) Less(i, j int) bool { return (*q)[i].due < (*q)[j].due }
func (q *dueQueue) Swap(i, j int)      { (*q)[i], (*q)[j] = (*q)[j], (*q)[i] }

// Push implements [heap.Interface].
func (q *dueQueue) Push(x any) {
	r, _ := x.(*record)
	*q = append(*q, r)
}

// Pop implements [heap.Interface].
func (q *dueQueue) Pop() any {
	last := len(*q) - 1
	r := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	return r
}
