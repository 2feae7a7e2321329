package nats

import (
	"context"
	"sync"

	natsgo "github.com/nats-io/nats.go"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// topic is a topic with subscribers in this process. They share one subscription to NATS.
type topic struct {
	sub         *natsgo.Subscription
	subscribers int
	confirmed   bool // the server has the subscription
}

// Wake wakes the subscribers of this process at once, and sends the wake-up to the others by a goroutine. It is
// dropped if too many wait, because NATS does not take them.
func (l *Live) Wake(topic spool.ThreadKey, kind store.WakeKind, notice []byte) {
	if len(notice) > store.MaxNoticeBytes {
		return
	}
	l.local.Wake(topic, kind, notice)
	select {
	case l.out <- wakeUp{from: l.node, topic: topic, kind: kind, notice: notice}:
	default:
	}
}

// send publishes wake-ups. During an outage the connection keeps some of them, and refuses the rest.
func (l *Live) send() {
	for {
		select {
		case <-l.life.Done():
			return
		case w := <-l.out:
			_ = l.conn.Publish(l.subjects.wake(w.topic), w.encode())
		}
	}
}

// Subscribe calls fn for the wake-ups of all processes. It does not fail while NATS is away: after the
// reconnect, fn is called once.
func (l *Live) Subscribe(
	ctx context.Context, key spool.ThreadKey, fn func(kind store.WakeKind, notice []byte),
) (stop func(), err error) {
	unsubscribe, err := l.local.Subscribe(ctx, key, fn)
	if err != nil {
		return nil, err
	}
	joined, confirmed, err := l.join(key)
	if err != nil {
		unsubscribe()
		return nil, err
	}
	leave := sync.OnceFunc(func() { l.leave(key) })
	release := context.AfterFunc(ctx, leave)
	if !confirmed && l.confirm(ctx) {
		l.mu.Lock()
		joined.confirmed = true // not that of a later subscription to the topic
		l.mu.Unlock()
	}
	return func() {
		release()
		unsubscribe()
		leave()
	}, nil
}

// join adds a subscriber to a topic. It reports whether the server knows the topic's subscription already.
func (l *Live) join(key spool.ThreadKey) (t *topic, confirmed bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t = l.topics[key]; t == nil {
		sub, err := l.conn.ChanSubscribe(l.subjects.wake(key), l.in)
		if err != nil {
			return nil, false, spool.Wrap(spool.Unavailable, "subscribe to NATS", err)
		}
		t = &topic{sub: sub}
		l.topics[key] = t
	}
	t.subscribers++
	return t, t.confirmed, nil
}

// leave removes a subscriber from its topic, and the last one's topic.
func (l *Live) leave(key spool.ThreadKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.topics[key]
	if t == nil {
		return
	}
	if t.subscribers--; t.subscribers == 0 {
		delete(l.topics, key)
		l.unsubscribe(t.sub)
	}
}

// confirm waits until the server knows the subscriptions of this process. It returns false if the server does
// not say so in time. Then the subscribers are woken when it does.
func (l *Live) confirm(ctx context.Context) bool {
	switch {
	case !l.link.state().up:
		return false
	case l.stalled.Load():
		l.recoverSoon() // the answer that is awaited may not be about the newest subscription
		return false
	}
	limited, cancel := context.WithTimeout(ctx, l.answers)
	defer cancel()
	switch err := l.conn.FlushWithContext(limited); {
	case err == nil:
		return true
	case ctx.Err() != nil: // the caller does not wait, which says nothing about the server
		l.recoverSoon()
	default:
		l.noteStall()
	}
	return false
}

// wakeAll wakes all subscribers of the process with each kind that makes a listener read the store.
func (l *Live) wakeAll() {
	l.mu.Lock()
	topics := make([]spool.ThreadKey, 0, len(l.topics))
	for key := range l.topics {
		topics = append(topics, key)
	}
	l.mu.Unlock()
	for _, key := range topics {
		if key == store.JobsTopic || key == store.EventsTopic {
			l.local.Wake(key, store.WakeJobs, nil)
			continue
		}
		l.local.Wake(key, store.WakeRecord, nil) // for followers
		l.local.Wake(key, store.WakeStop, nil)   // for the worker of a run
	}
}
