package inprocess

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/spoolhq/spool"
)

// Bus is a [spool.Bus] for one process. It loses nothing and delivers once.
type Bus struct {
	wakes   topics[spool.WakeKind]
	notices topics[[]byte]
}

var _ spool.Bus = (*Bus)(nil)

// NewBus returns a bus without subscribers.
func NewBus() *Bus { return &Bus{} }

// Wake calls the topic's subscribers before it returns, in the order in which they
// subscribed. They may call the bus.
func (b *Bus) Wake(topic spool.ThreadKey, kind spool.WakeKind) { b.wakes.tell(topic, kind) }

// Subscribe has fn called by Wake. A call that is under way when the subscription ends
// is not waited for.
func (b *Bus) Subscribe(ctx context.Context, topic spool.ThreadKey, fn func(spool.WakeKind)) (func(), error) {
	return b.wakes.add(ctx, topic, fn)
}

// Notify calls the topic's listeners as Wake does its subscribers.
func (b *Bus) Notify(topic spool.ThreadKey, notice []byte) {
	if len(notice) <= spool.MaxNoticeBytes {
		b.notices.tell(topic, notice)
	}
}

// Listen has fn called by Notify, as Subscribe has by Wake.
func (b *Bus) Listen(ctx context.Context, topic spool.ThreadKey, fn func([]byte)) (func(), error) {
	return b.notices.add(ctx, topic, fn)
}

// topics are the subscribers of one kind of thing.
type topics[T any] struct {
	mu sync.RWMutex
	// by maps to slices that are replaced and never changed, so that tell can call their
	// functions without holding the lock.
	by map[spool.ThreadKey][]*subscriber[T]
}

type subscriber[T any] struct {
	// ctx is asked by tell, as the function that follows its end runs some time later.
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
