package inprocess

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/spoolhq/spool"
)

// Bus is a [spool.Bus] within one process. It loses nothing and delivers everything once.
type Bus struct {
	wakes   topics[spool.WakeKind]
	notices topics[[]byte]
}

var _ spool.Bus = (*Bus)(nil)

// NewBus returns a bus without subscribers.
func NewBus() *Bus { return &Bus{} }

// Wake calls the topic's subscribers in the order in which they subscribed, and then returns. They may
// call the bus.
func (b *Bus) Wake(topic spool.ThreadKey, kind spool.WakeKind) { b.wakes.tell(topic, kind) }

// Subscribe makes Wake call fn. The end of the subscription does not wait for a call in progress.
func (b *Bus) Subscribe(ctx context.Context, topic spool.ThreadKey, fn func(spool.WakeKind)) (func(), error) {
	return b.wakes.add(ctx, topic, fn)
}

// Notify calls the topic's listeners, as Wake calls its subscribers.
func (b *Bus) Notify(topic spool.ThreadKey, notice []byte) {
	if len(notice) <= spool.MaxNoticeBytes {
		b.notices.tell(topic, notice)
	}
}

// Listen makes Notify call fn, as Subscribe does for Wake.
func (b *Bus) Listen(ctx context.Context, topic spool.ThreadKey, fn func([]byte)) (func(), error) {
	return b.notices.add(ctx, topic, fn)
}

// topics has the subscribers of all topics, for values of one type.
type topics[T any] struct {
	mu sync.RWMutex
	// by maps to slices that are replaced but never changed, so that tell can call the functions
	// without holding the lock.
	by map[spool.ThreadKey][]*subscriber[T]
}

type subscriber[T any] struct {
	// tell checks ctx itself, because the function that runs after ctx has ended comes a little later.
	ctx     context.Context //nolint:containedctx // it is the subscription's, not a call's
	fn      func(T)
	stopped atomic.Bool
}

func (t *topics[T]) tell(topic spool.ThreadKey, what T) {
	t.mu.RLock()
	subscribers := t.by[topic]
	t.mu.RUnlock()
	for _, s := range subscribers {
		if !s.stopped.Load() && s.ctx.Err() == nil {
			s.fn(what)
		}
	}
}

func (t *topics[T]) add(ctx context.Context, topic spool.ThreadKey, fn func(T)) (func(), error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s := &subscriber[T]{ctx: ctx, fn: fn}
	t.mu.Lock()
	if t.by == nil {
		t.by = make(map[spool.ThreadKey][]*subscriber[T])
	}
	t.by[topic] = append(slices.Clip(t.by[topic]), s)
	t.mu.Unlock()

	release := context.AfterFunc(ctx, func() { t.remove(topic, s) })
	return func() {
		release()
		t.remove(topic, s)
	}, nil
}

func (t *topics[T]) remove(topic spool.ThreadKey, s *subscriber[T]) {
	if s.stopped.Swap(true) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	rest := make([]*subscriber[T], 0, len(t.by[topic]))
	for _, other := range t.by[topic] {
		if other != s {
			rest = append(rest, other)
		}
	}
	if len(rest) == 0 {
		delete(t.by, topic)
		return
	}
	t.by[topic] = rest
}
