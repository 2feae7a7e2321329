package snapshot

import (
	"container/list"
	"context"
	"sync"
	"time"

	"github.com/spoolhq/spool"
)

const (
	// readsAtOnce bounds how many snapshots are read at once. It is smaller than a store's number of
	// read connections, so that starts and followers always find one.
	readsAtOnce = 2
	// keptFor is how long the encoded messages of a thread are kept without use.
	keptFor = 30 * time.Second
	// patience is how long a snapshot waits for memory that other snapshots use.
	patience = 10 * time.Second
)

// sharing shares encoded snapshots between clients. It bounds how many snapshots are read at once and
// how much memory they use.
//
// One goroutine at a time reads a thread. Clients that come before the read begins share that read.
// Clients that come later share the next read, because a client must see everything that was committed
// before it came.
type sharing struct {
	extend extender
	most   int64         // bytes
	slots  chan struct{} // one for each read under way

	mu      sync.Mutex
	threads map[threadForm]*sharedThread
	used    int64      // bytes of all kept threads and of the states that clients hold
	idle    *list.List // of *keptThread that no client holds, the most recently used at the back
	freed   chan struct{}
	expire  *time.Timer
	closed  bool
}

// extender reads a thread. Old has a part of the thread's messages, or is nil. The extender reports
// whether the list of the new state shares the blocks of old.
type extender func(ctx context.Context, key threadForm, old *encodedList) (s *encodedState, shares bool, err error)

// sharedThread is a thread with a client that waits for its snapshot, or with kept messages.
type sharedThread struct {
	kept *keptThread
	next *sharedRead // the read that clients may still join
	last *sharedRead // the newest read, nil when it has ended
}

// keptThread keeps the encoded messages of a thread that were read so far.
type keptThread struct {
	key  threadForm
	list *encodedList // the newest list
	size int64        // the bytes that count against the bound
	refs int          // how many of its states clients hold
	// current is true if the thread's next snapshot extends these messages.
	current bool
	idle    *list.Element
	used    time.Time
}

// sharedState is a state with the number of clients that hold it.
type sharedState struct {
	*encodedState

	// mu of sharing guards kept and refs.
	kept *keptThread
	refs int
}

// sharedRead is one read of a thread, for all clients that wait for it.
type sharedRead struct {
	key     threadForm
	before  *sharedRead
	cancel  context.CancelFunc
	waiters int
	done    chan struct{} // closed when state or err is set
	state   *sharedState
	err     error
}

func newSharing(extend extender, most int64) *sharing {
	return &sharing{
		extend: extend, most: most, slots: make(chan struct{}, readsAtOnce),
		threads: make(map[threadForm]*sharedThread), idle: list.New(), freed: make(chan struct{}),
	}
}

// work waits for a slot to read a snapshot. The caller must call release.
func (s *sharing) work(ctx context.Context) (release func(), err error) {
	if ctx.Err() == nil {
		select {
		case s.slots <- struct{}{}:
			return func() { <-s.slots }, nil
		case <-ctx.Done():
		}
	}
	return nil, spool.Wrap(spool.Canceled, "canceled", ctx.Err())
}

// release returns a state that the caller got from get.
func (s *sharing) release(state *sharedState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(state)
}

// drop removes a client from the holders of a state. The caller must hold mu.
func (s *sharing) drop(state *sharedState) {
	if state.refs--; state.refs > 0 {
		return
	}
	s.used -= state.size()
	k := state.kept
	k.refs--
	k.used = time.Now()
	switch {
	case k.refs > 0:
	case k.current:
		s.enlist(k)
		s.trim(0)
	default:
		s.used -= k.size
	}
	close(s.freed)
	s.freed = make(chan struct{})
}

// retire ensures that no further snapshot extends the kept messages. The caller must hold mu.
func (s *sharing) retire(k *keptThread) {
	s.unlist(k)
	k.current = false
	if k.refs == 0 {
		s.used -= k.size
	}
}

// enlist allows the eviction of kept messages, unless a client holds them. The caller must hold mu.
func (s *sharing) enlist(k *keptThread) {
	if k.refs > 0 || k.idle != nil || !k.current {
		return
	}
	k.idle = s.idle.PushBack(k)
	s.schedule()
}

func (s *sharing) unlist(k *keptThread) {
	if k.idle != nil {
		s.idle.Remove(k.idle)
		k.idle = nil
	}
}

// trim evicts unused messages until the given number of bytes is free, the longest unused first. The
// caller must hold mu.
func (s *sharing) trim(free int64) {
	for s.used+free > s.most && s.idle.Len() > 0 {
		s.evict()
	}
}

// evict removes the messages that were unused for the longest time. The caller must hold mu.
func (s *sharing) evict() {
	k, _ := s.idle.Front().Value.(*keptThread)
	s.retire(k)
	if t := s.threads[k.key]; t != nil && t.kept == k {
		t.kept = nil
	}
	s.forget(k.key)
}

// forget removes a thread that has no kept messages and for which no client waits. The caller must hold
// mu.
func (s *sharing) forget(key threadForm) {
	if t := s.threads[key]; t != nil && t.kept == nil && t.next == nil && t.last == nil {
		delete(s.threads, key)
	}
}

// schedule starts the timer that removes messages unused for [keptFor]. The caller must hold mu.
func (s *sharing) schedule() {
	if s.expire != nil || s.closed || s.idle.Len() == 0 {
		return
	}
	k, _ := s.idle.Front().Value.(*keptThread)
	s.expire = time.AfterFunc(time.Until(k.used.Add(keptFor)), func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.expire = nil
		for s.idle.Len() > 0 {
			if k, _ := s.idle.Front().Value.(*keptThread); time.Since(k.used) < keptFor {
				break
			}
			s.evict()
		}
		s.schedule()
	})
}

// room waits until memory for a snapshot is free, and then for a slot to read it. The size of a
// snapshot is unknown before it is read, so snapshots that are read at the same time may exceed the
// bound together.
func (s *sharing) room(ctx context.Context) (release func(), err error) {
	var late <-chan time.Time
	for {
		full, freed := s.full()
		if !full {
			if release, err = s.work(ctx); err != nil {
				return nil, err
			}
			if full, freed = s.full(); !full {
				return release, nil
			}
			release() // other snapshots need the slot while this one waits for memory
		}
		if late == nil {
			timer := time.NewTimer(patience)
			defer timer.Stop()
			late = timer.C
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return nil, spool.Wrap(spool.Canceled, "canceled", ctx.Err())
		case <-late:
			return nil, spool.Errorf(spool.Unavailable, "too many snapshots are being sent; try again")
		}
	}
}

// full reports whether no memory is left for another snapshot. Freed is closed when that may have
// changed.
func (s *sharing) full() (full bool, freed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trim(1)
	return s.used >= s.most, s.freed
}
