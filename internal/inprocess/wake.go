package inprocess

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// wakes has the subscribers of a [Live].
type wakes struct {
	mu sync.RWMutex
	// topics maps to slices that are replaced but never changed, so that Wake can call the functions
	// without holding the lock.
	topics map[spool.ThreadKey][]*subscriber
}

type subscriber struct {
	// Wake checks ctx itself, because the function that runs after ctx has ended comes a little later.
	ctx     context.Context //nolint:containedctx // it is the subscription's, not a call's
	fn      func(store.WakeKind, []byte)
	stopped atomic.Bool
}

// Wake calls the topic's subscribers in the order in which they subscribed, and then returns. They may
// call the Live.
func (w *wakes) Wake(topic spool.ThreadKey, kind store.WakeKind, notice []byte) {
	if len(notice) > store.MaxNoticeBytes {
		return
	}
	w.mu.RLock()
	subscribers := w.topics[topic]
	w.mu.RUnlock()
	for _, s := range subscribers {
		if !s.stopped.Load() && s.ctx.Err() == nil {
			s.fn(kind, notice)
		}
	}
}

// Subscribe makes Wake call fn. The end of the subscription does not wait for a call in progress.
func (w *wakes) Subscribe(
	ctx context.Context, topic spool.ThreadKey, fn func(kind store.WakeKind, notice []byte),
) (stop func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s := &subscriber{ctx: ctx, fn: fn}
	w.mu.Lock()
	if w.topics == nil {
		w.topics = make(map[spool.ThreadKey][]*subscriber)
	}
	w.topics[topic] = append(slices.Clip(w.topics[topic]), s)
	w.mu.Unlock()

	release := context.AfterFunc(ctx, func() { w.remove(topic, s) })
	return func() {
		release()
		w.remove(topic, s)
	}, nil
}

func (w *wakes) remove(topic spool.ThreadKey, s *subscriber) {
	if s.stopped.Swap(true) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	remaining := make([]*subscriber, 0, len(w.topics[topic]))
	for _, other := range w.topics[topic] {
		if other != s {
			remaining = append(remaining, other)
		}
	}
	if len(remaining) == 0 {
		delete(w.topics, topic)
		return
	}
	w.topics[topic] = remaining
}
