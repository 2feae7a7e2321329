package memory

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/spoolhq/spool"
)

// Bus is a [spool.Bus] for one process. It loses nothing and delivers once.
type Bus struct {
	mu sync.RWMutex
	// topics maps to slices that are replaced and never changed, so that Wake can call
	// their functions without holding the lock.
	topics map[spool.ThreadKey][]*subscriber
}

var _ spool.Bus = (*Bus)(nil)

type subscriber struct {
	// ctx is asked by Wake, as the function that follows its end runs some time later.
	ctx     context.Context //nolint:containedctx // it is the subscription's, not a call's
	fn      func(spool.WakeKind)
	stopped atomic.Bool
}

// NewBus returns a bus without subscribers.
func NewBus() *Bus { return &Bus{topics: make(map[spool.ThreadKey][]*subscriber)} }

// Wake calls the topic's subscribers before it returns, in the order in which they
// subscribed. They may call the bus.
func (b *Bus) Wake(topic spool.ThreadKey, kind spool.WakeKind) {
	b.mu.RLock()
	subscribers := b.topics[topic]
	b.mu.RUnlock()
	for _, s := range subscribers {
		if !s.stopped.Load() && s.ctx.Err() == nil {
			s.fn(kind)
		}
	}
}

// Subscribe has fn called by Wake. A call that is under way when the subscription ends
// is not waited for.
func (b *Bus) Subscribe(ctx context.Context, topic spool.ThreadKey, fn func(spool.WakeKind)) (func(), error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s := &subscriber{ctx: ctx, fn: fn}
	b.mu.Lock()
	b.topics[topic] = append(slices.Clip(b.topics[topic]), s)
	b.mu.Unlock()

	release := context.AfterFunc(ctx, func() { b.remove(topic, s) })
	return func() {
		release()
		b.remove(topic, s)
	}, nil
}

func (b *Bus) remove(topic spool.ThreadKey, s *subscriber) {
	if s.stopped.Swap(true) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	rest := make([]*subscriber, 0, len(b.topics[topic]))
	for _, other := range b.topics[topic] {
		if other != s {
			rest = append(rest, other)
		}
	}
	if len(rest) == 0 {
		delete(b.topics, topic)
		return
	}
	b.topics[topic] = rest
}
