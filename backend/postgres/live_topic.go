package postgres

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// topics has the subscribers of a process.
type topics struct {
	mu sync.RWMutex
	// of maps to slices that are replaced but never changed, so that wake can call the functions without
	// holding the lock.
	of map[spool.ThreadKey][]*subscriber
}

type subscriber struct {
	// wake checks ctx itself, because the function that runs after ctx has ended comes a little later.
	ctx     context.Context //nolint:containedctx // it is the subscription's, not a call's
	fn      func(store.WakeKind, []byte)
	stopped atomic.Bool
}

func (s *subscriber) wake(kind store.WakeKind, notice []byte) {
	if !s.stopped.Load() && s.ctx.Err() == nil {
		s.fn(kind, notice)
	}
}

func (t *topics) wake(topic spool.ThreadKey, kind store.WakeKind, notice []byte) {
	t.mu.RLock()
	subscribers := t.of[topic]
	t.mu.RUnlock()
	for _, s := range subscribers {
		s.wake(kind, notice)
	}
}

// wakeAll wakes every subscriber with the kinds after which it reads what it may have missed.
func (t *topics) wakeAll() {
	t.mu.RLock()
	all := maps.Clone(t.of)
	t.mu.RUnlock()
	for topic, subscribers := range all {
		kinds := []store.WakeKind{store.WakeRecord, store.WakeStream, store.WakeStop, store.WakeOwner}
		if topic == store.JobsTopic || topic == store.EventsTopic {
			kinds = []store.WakeKind{store.WakeJobs}
		}
		for _, s := range subscribers {
			for _, kind := range kinds {
				s.wake(kind, nil)
			}
		}
	}
}

// subscribe makes wake call fn. The end of the subscription does not wait for a call in progress.
func (t *topics) subscribe(ctx context.Context, topic spool.ThreadKey, fn func(store.WakeKind, []byte)) (stop func()) {
	s := &subscriber{ctx: ctx, fn: fn}
	t.mu.Lock()
	if t.of == nil {
		t.of = make(map[spool.ThreadKey][]*subscriber)
	}
	t.of[topic] = append(slices.Clip(t.of[topic]), s)
	t.mu.Unlock()

	release := context.AfterFunc(ctx, func() { t.remove(topic, s) })
	return func() {
		release()
		t.remove(topic, s)
	}
}

func (t *topics) remove(topic spool.ThreadKey, s *subscriber) {
	if s.stopped.Swap(true) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	remaining := slices.DeleteFunc(slices.Clone(t.of[topic]), func(other *subscriber) bool { return other == s })
	if len(remaining) == 0 {
		delete(t.of, topic)
		return
	}
	t.of[topic] = remaining
}
