package refresh_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool/rest/auth/internal/refresh"
)

// source counts how often it was loaded. A load takes a second.
type source struct {
	mu    sync.Mutex
	loads int
	err   error
}

func (s *source) load(ctx context.Context) (int, error) {
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loads++
	return s.loads, s.err
}

func (s *source) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

func (s *source) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loads
}

var errAway = errors.New("away")

func run(t *testing.T, body func(t *testing.T, s *source, v *refresh.Value[int])) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &source{}
		body(t, s, &refresh.Value[int]{
			Load: s.load, TTL: time.Minute, MaxAge: time.Hour, Retry: 10 * time.Second, Timeout: 5 * time.Second,
		})
		synctest.Wait()
	})
}

func get(t *testing.T, v *refresh.Value[int], want int) {
	t.Helper()
	got, err := v.Get(t.Context())
	if err != nil || got != want {
		t.Errorf("got %d, %v, want %d", got, err, want)
	}
}

func TestLoadsOnceForMany(t *testing.T) {
	t.Parallel()

	run(t, func(t *testing.T, s *source, v *refresh.Value[int]) {
		t.Helper()
		var group sync.WaitGroup
		for range 20 {
			group.Go(func() { get(t, v, 1) })
		}
		group.Wait()
		get(t, v, 1)
		if got := s.count(); got != 1 {
			t.Errorf("%d loads, want 1", got)
		}
	})
}

func TestOldIsGivenWhileNewIsLoaded(t *testing.T) {
	t.Parallel()

	run(t, func(t *testing.T, _ *source, v *refresh.Value[int]) {
		t.Helper()
		get(t, v, 1)
		<-time.After(time.Minute)
		before := time.Now()
		get(t, v, 1)
		if waited := time.Since(before); waited != 0 {
			t.Errorf("it waited %s", waited)
		}
		<-time.After(2 * time.Second)
		get(t, v, 2)
	})
}

func TestOldIsGivenWhileLoadsFail(t *testing.T) {
	t.Parallel()

	run(t, func(t *testing.T, s *source, v *refresh.Value[int]) {
		t.Helper()
		get(t, v, 1)
		s.fail(errAway)
		for range 59 {
			<-time.After(time.Minute)
			get(t, v, 1)
		}
		<-time.After(2 * time.Minute)
		if _, err := v.Get(t.Context()); !errors.Is(err, errAway) {
			t.Errorf("after MaxAge: %v, want the error of the load", err)
		}
		s.fail(nil)
		<-time.After(10 * time.Second)
		if got, err := v.Get(t.Context()); err != nil || got != s.count() {
			t.Errorf("when loads succeed again: %d, %v", got, err)
		}
	})
}

func TestFailureIsNotTriedAgainAtOnce(t *testing.T) {
	t.Parallel()

	run(t, func(t *testing.T, s *source, v *refresh.Value[int]) {
		t.Helper()
		s.fail(errAway)
		for range 5 {
			if _, err := v.Get(t.Context()); !errors.Is(err, errAway) {
				t.Errorf("got %v, want the error of the load", err)
			}
		}
		if got := s.count(); got != 1 {
			t.Errorf("%d loads, want 1", got)
		}
		s.fail(nil)
		<-time.After(10 * time.Second)
		get(t, v, 2)
	})
}

func TestLoadIsBounded(t *testing.T) {
	t.Parallel()

	run(t, func(t *testing.T, _ *source, v *refresh.Value[int]) {
		t.Helper()
		v.Timeout = 100 * time.Millisecond
		if _, err := v.Get(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the deadline", err)
		}
	})
}

func TestWhoLeavesDoesNotEndTheLoad(t *testing.T) {
	t.Parallel()

	run(t, func(t *testing.T, s *source, v *refresh.Value[int]) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := v.Get(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the deadline of the caller", err)
		}
		get(t, v, 1)
		if got := s.count(); got != 1 {
			t.Errorf("%d loads, want 1", got)
		}
	})
}

func TestRenew(t *testing.T) {
	t.Parallel()

	run(t, func(t *testing.T, s *source, v *refresh.Value[int]) {
		t.Helper()
		get(t, v, 1)
		if got, renewed, err := v.Renew(t.Context()); got != 1 || renewed || err != nil {
			t.Errorf("right after a load: %d, %v, %v", got, renewed, err)
		}
		<-time.After(10 * time.Second)
		var group sync.WaitGroup
		for range 5 {
			group.Go(func() {
				if got, renewed, err := v.Renew(t.Context()); got != 2 || !renewed || err != nil {
					t.Errorf("later: %d, %v, %v", got, renewed, err)
				}
			})
		}
		group.Wait()
		s.fail(errAway)
		<-time.After(10 * time.Second)
		if got, _, err := v.Renew(t.Context()); got != 2 || err != nil {
			t.Errorf("when it fails: %d, %v, want what was there", got, err)
		}
	})
}
