package snapshot

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
)

// reads is a store whose threads take a second to read.
type reads struct {
	size        func() int64
	grow        bool // the next state shares the blocks of the one before
	now, most   atomic.Int64
	all         atomic.Int64
	interrupted atomic.Int64
}

func (r *reads) extend(ctx context.Context, _ threadForm, old *encodedList) (*encodedState, bool, error) {
	r.all.Add(1)
	now := r.now.Add(1)
	defer r.now.Add(-1)
	r.seen(now)
	select {
	case <-ctx.Done():
		r.interrupted.Add(1)
		return nil, false, ctx.Err()
	case <-time.After(time.Second):
	}
	l := &encodedList{size: r.size()}
	if r.grow && old != nil {
		l.size = max(old.size, l.size)
	}
	return &encodedState{list: l, head: make([]byte, 5), tail: make([]byte, 5)}, r.grow && old != nil, nil
}

// seen keeps the highest number of reads at once.
func (r *reads) seen(now int64) {
	for {
		most := r.most.Load()
		if now <= most || r.most.CompareAndSwap(most, now) {
			return
		}
	}
}

func sharingOf(r *reads, most int64) *sharing { return newSharing(r.extend, most) }

func ten() int64 { return 10 }

func threadOf(n int) threadForm {
	return threadForm{ThreadKey: spool.ThreadKey{Tenant: "t", ID: spool.ThreadID(rune('a' + n))}}
}

// Five hundred clients that come at once share one read. Clients that come during a read share the next
// one, because the thread may have changed since the read began.
func TestSnapshotIsReadOnceForMany(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &reads{size: ten}
		s := sharingOf(r, 1000)
		var mu sync.Mutex
		got := map[*sharedState]int{}
		var all sync.WaitGroup
		come := func(clients int) {
			for range clients {
				all.Go(func() {
					state, err := s.get(t.Context(), threadOf(0))
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					defer mu.Unlock()
					got[state]++
				})
			}
		}
		come(1)
		synctest.Wait() // the read is under way
		come(250)
		<-time.After(500 * time.Millisecond)
		come(250)
		all.Wait()
		if r.all.Load() != 2 || len(got) != 2 {
			t.Errorf("%d reads made %d states", r.all.Load(), len(got))
		}
		for state, clients := range got {
			if clients != 1 && clients != 500 {
				t.Errorf("%d clients share a state", clients)
			}
			for range clients {
				s.release(state)
			}
		}
		s.gone(t)
	})
}

// gone checks that nothing is left after kept messages have expired.
func (s *sharing) gone(t *testing.T) {
	t.Helper()
	<-time.After(keptFor + time.Second)
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used != 0 || len(s.threads) != 0 || s.idle.Len() != 0 || len(s.slots) != 0 || s.expire != nil {
		t.Errorf("%d bytes of %d threads, %d of them idle, and %d slots are left", s.used, len(s.threads), s.idle.Len(),
			len(s.slots))
	}
}

func TestSnapshotReadsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &reads{size: ten}
		s := sharingOf(r, 1000)
		var all sync.WaitGroup
		for n := range 9 {
			all.Go(func() {
				state, err := s.get(t.Context(), threadOf(n))
				if err != nil {
					t.Error(err)
					return
				}
				s.release(state)
			})
		}
		all.Wait()
		if r.most.Load() != readsAtOnce {
			t.Errorf("%d were read at once", r.most.Load())
		}
		s.gone(t)
	})
}

// While clients hold all of the memory, other clients wait, and use no slot meanwhile. Memory that no
// client holds is freed.
func TestSnapshotMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &reads{size: ten}
		s := sharingOf(r, 40)
		take := func(n int) *sharedState {
			t.Helper()
			state, err := s.get(t.Context(), threadOf(n))
			if err != nil {
				t.Fatal(err)
			}
			return state
		}
		for n := range 5 { // memory that no client holds does not block
			s.release(take(n))
		}
		if s.used > 40 {
			t.Errorf("%d bytes are kept", s.used)
		}
		one, two := take(5), take(6)
		if s.used != 40 {
			t.Errorf("two clients hold %d bytes", s.used)
		}
		reads := r.all.Load()
		began := time.Now()
		_, err := s.get(t.Context(), threadOf(7))
		if spool.CodeOf(err) != spool.Unavailable || time.Since(began) != patience {
			t.Errorf("a third waits for %v: %v", time.Since(began), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err = s.get(ctx, threadOf(7)); spool.CodeOf(err) != spool.Canceled {
			t.Errorf("one that goes: %v", err)
		}
		got := make(chan *sharedState)
		go func() { got <- take(7) }()
		synctest.Wait()
		release, err := s.work(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		release()
		if r.all.Load() != reads {
			t.Error("it was read though there was no memory for it")
		}
		s.release(one)
		three := <-got
		s.release(two)
		s.release(three)
		s.gone(t)
	})
}

// A client that leaves does not end the read for others, but the last one does. A client that comes
// after that gets a new read.
func TestSnapshotClientsGo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &reads{size: ten}
		s := sharingOf(r, 1000)
		together := func(come func()) {
			for range readsAtOnce {
				if _, err := s.work(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			come()
			synctest.Wait()
			for range readsAtOnce {
				<-s.slots
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		together(func() {
			for range 3 {
				all.Go(func() {
					if _, err := s.get(ctx, threadOf(0)); spool.CodeOf(err) != spool.Canceled {
						t.Errorf("a client that goes: %v", err)
					}
				})
			}
		})
		<-time.After(500 * time.Millisecond)
		cancel()
		all.Wait()
		if r.all.Load() != 1 || r.interrupted.Load() != 1 {
			t.Errorf("%d reads, %d of them interrupted", r.all.Load(), r.interrupted.Load())
		}
		ctx, cancel = context.WithCancel(t.Context())
		together(func() {
			all.Go(func() {
				if state, err := s.get(t.Context(), threadOf(0)); err != nil {
					t.Errorf("a client that stays: %v", err)
				} else {
					s.release(state)
				}
			})
			all.Go(func() { _, _ = s.get(ctx, threadOf(0)) })
		})
		<-time.After(500 * time.Millisecond)
		cancel()
		all.Wait()
		if r.all.Load() != 2 || r.interrupted.Load() != 1 {
			t.Errorf("%d reads, %d of them interrupted", r.all.Load(), r.interrupted.Load())
		}
		s.gone(t)
	})
}

// Whatever clients do, everything is released in the end, and the bound holds for kept messages.
func TestSnapshotAccounts(t *testing.T) {
	t.Parallel()
	for _, grow := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := &reads{size: func() int64 { return rand.Int64N(30) }, grow: grow}
			s := sharingOf(r, 100)
			var all sync.WaitGroup
			for range 400 {
				all.Go(func() {
					<-time.After(rand.N(30 * time.Second))
					ctx, cancel := context.WithTimeout(t.Context(), rand.N(20*time.Second))
					defer cancel()
					state, err := s.get(ctx, threadOf(rand.IntN(6)))
					if err != nil {
						return
					}
					<-time.After(rand.N(5 * time.Second))
					s.release(state)
				})
			}
			all.Wait()
			if s.used > s.most || r.all.Load() < 10 {
				t.Errorf("%d bytes are kept after %d reads", s.used, r.all.Load())
			}
			s.gone(t)
		})
	}
}
