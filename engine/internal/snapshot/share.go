package snapshot

import (
	"context"
	"time"

	"github.com/spoolhq/spool"
)

// get returns the thread's state. The caller must release it.
func (s *sharing) get(ctx context.Context, key threadForm) (*sharedState, error) {
	r := s.join(ctx, key)
	select {
	case <-r.done:
		return r.state, r.err
	case <-ctx.Done():
		s.abandon(r)
		return nil, spool.Wrap(spool.Canceled, "canceled", ctx.Err())
	}
}

// has reports whether the thread's messages are kept or are being read.
func (s *sharing) has(key threadForm) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.threads[key] != nil
}

// alone returns a state that only this caller gets. The caller must release it.
func (s *sharing) alone(ctx context.Context, read func() (*encodedState, error)) (*sharedState, error) {
	done, err := s.room(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	encoded, err := read()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	state := &sharedState{encoded, &keptThread{list: encoded.list, size: encoded.list.size, refs: 1}, 1}
	s.used += state.size() + state.list.size
	s.trim(0)
	return state, nil
}

// join adds the client to a read that has not begun, and starts such a read if none is waiting.
func (s *sharing) join(ctx context.Context, key threadForm) *sharedRead {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.threads[key]
	if t == nil {
		t = &sharedThread{}
		s.threads[key] = t
	}
	if t.next != nil {
		t.next.waiters++
		return t.next
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // the read outlives its first client
	r := &sharedRead{key: key, before: t.last, cancel: cancel, waiters: 1, done: make(chan struct{})}
	t.next, t.last = r, r
	go s.read(ctx, r)
	return r
}

// abandon removes a client from a read. It cancels the read if no client is left.
func (s *sharing) abandon(r *sharedRead) {
	s.mu.Lock()
	r.waiters--
	over := r.state != nil || r.err != nil
	if over && r.state != nil {
		s.drop(r.state)
	}
	alone := !over && r.waiters == 0
	if alone {
		s.shut(r)
	}
	s.mu.Unlock()
	if alone {
		r.cancel()
		<-r.done
	}
}

// shut prevents further clients from joining the read. The caller must hold mu.
func (s *sharing) shut(r *sharedRead) {
	if t := s.threads[r.key]; t.next == r {
		t.next = nil
	}
}

// read reads the thread, after the previous read has ended and memory is free.
func (s *sharing) read(ctx context.Context, r *sharedRead) {
	defer close(r.done)
	defer r.cancel()
	if r.before != nil {
		<-r.before.done
		r.before = nil
	}
	release, err := s.room(ctx)
	if err == nil {
		defer release()
	}
	s.mu.Lock()
	s.shut(r)
	t := s.threads[r.key]
	kept := t.kept
	var old *encodedList
	if kept != nil {
		s.unlist(kept) // so that the messages are not evicted meanwhile
		old = kept.list
	}
	s.mu.Unlock()
	var encoded *encodedState
	var shares bool
	if err == nil {
		encoded, shares, err = s.extend(ctx, r.key, old)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		r.state = s.keep(r, t, encoded, shares)
	} else if kept != nil {
		s.enlist(kept)
	}
	r.err = err
	if t.last == r {
		t.last = nil
	}
	s.forget(r.key)
}

// keep counts the memory of the read's state, and keeps its messages for the next read.
func (s *sharing) keep(r *sharedRead, t *sharedThread, encoded *encodedState, shares bool) *sharedState {
	if t.kept != nil && !shares {
		s.retire(t.kept)
		t.kept = nil
	}
	if t.kept == nil {
		t.kept = &keptThread{key: r.key, current: true}
	}
	k := t.kept
	s.used += encoded.list.size - k.size + encoded.size()
	k.list, k.size, k.used = encoded.list, encoded.list.size, time.Now()
	k.refs++ // for the state
	state := &sharedState{encoded, k, r.waiters}
	if r.waiters == 0 { // all clients have left meanwhile
		state.refs = 1
		s.drop(state)
	}
	s.trim(0)
	return state
}

// close evicts all kept messages, and keeps none from now on.
func (s *sharing) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.expire != nil {
		s.expire.Stop()
		s.expire = nil
	}
}
