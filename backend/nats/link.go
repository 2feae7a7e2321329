package nats

import (
	"context"
	"sync"
	"time"

	natsgo "github.com/nats-io/nats.go"
)

// link has the state of the connection, and notifies of each change.
type link struct {
	mu  sync.Mutex
	now linkState
	end context.CancelFunc // of now.current
}

type linkState struct {
	up    bool
	since time.Time
	// current ends when the state does.
	current context.Context //nolint:containedctx // it is the life of a state, not of a call
}

// state returns the present state.
func (k *link) state() linkState {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.now
}

// set begins a new state. A connection that is down stays in its state.
func (k *link) set(up bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.now.current != nil {
		if !up && !k.now.up {
			return
		}
		k.end()
	}
	current, end := context.WithCancel(context.Background())
	k.now, k.end = linkState{up: up, since: time.Now(), current: current}, end
}

// wait waits until the connection is up. It returns false if the connection has been down for longer than
// patience, or if ctx has ended.
func (k *link) wait(ctx context.Context, patience time.Duration) (linkState, bool) {
	for {
		s := k.state()
		left := patience - time.Since(s.since)
		switch {
		case s.up:
			return s, true
		case left <= 0, ctx.Err() != nil:
			return s, false
		}
		timer := time.NewTimer(left)
		select {
		case <-s.current.Done():
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// watch follows the state of the connection. After a reconnect, and after a server that did not answer in time,
// it wakes all subscribers, because wake-ups may have got lost.
func (l *Live) watch(changes chan natsgo.Status) {
	defer l.conn.RemoveStatusListener(changes)
	for {
		select {
		case <-l.life.Done():
			return
		case s := <-changes:
			if s == natsgo.CONNECTED {
				l.recover()
			}
			l.link.set(s == natsgo.CONNECTED)
			if s == natsgo.CLOSED {
				l.log.Warn("the connection to NATS is closed: only this process sees its run streams and wake-ups")
			}
		case <-l.stall:
			l.recover()
		}
	}
}

// recoverTimeout bounds one wait for a server that does not answer. The connection notices by itself if the
// server is gone.
const recoverTimeout = 10 * time.Second

// recover wakes all subscribers of the process, once the server has all their subscriptions.
func (l *Live) recover() {
	ctx, cancel := context.WithTimeout(l.life, recoverTimeout)
	defer cancel()
	if err := l.conn.FlushWithContext(ctx); err != nil {
		if ctx.Err() != nil && l.conn.IsConnected() {
			l.noteStall() // once more
		}
		return // a reconnect comes here again
	}
	l.stalled.Store(false)
	l.wakeAll()
}

// noteStall makes watch wait for the server. Until the server answers, nobody else waits for it: streams that this
// process opens meanwhile may be gone for readers elsewhere, which then get a snapshot.
func (l *Live) noteStall() {
	l.stalled.Store(true)
	l.recoverSoon()
}

// recoverSoon makes watch wake all subscribers once the server has the subscriptions of this moment.
func (l *Live) recoverSoon() {
	select {
	case l.stall <- struct{}{}:
	default:
	}
}
