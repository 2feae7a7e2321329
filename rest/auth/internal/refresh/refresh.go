// Package refresh keeps something that is loaded from elsewhere, such as the keys of an
// identity provider, and loads it again when it is old.
package refresh

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Value is something that is loaded when it is first wanted. Its fields are set before its
// first use. It is safe for concurrent use.
type Value[T any] struct {
	// Load loads it. At most one call runs at a time.
	Load func(ctx context.Context) (T, error)
	// TTL is how long a value is fresh. An older one is still given out while a newer one is
	// loaded, and when that fails, until it is as old as MaxAge.
	TTL, MaxAge time.Duration
	// Retry is the least time from one load to the next.
	Retry time.Duration
	// Timeout bounds a load.
	Timeout time.Duration

	mu       sync.Mutex
	value    T
	loaded   bool
	loadedAt time.Time
	triedAt  time.Time
	err      error // of the last load
	flight   chan struct{}
}

// Get returns the value. It waits for a load only when there is no value that is young
// enough to be used. While loads fail, it returns the last one's error and does not try
// again before Retry has passed.
func (v *Value[T]) Get(ctx context.Context) (T, error) {
	v.mu.Lock()
	age := time.Since(v.loadedAt)
	if v.loaded && age < v.TTL {
		defer v.mu.Unlock()
		return v.value, nil
	}
	flight := v.startLocked(ctx)
	if v.loaded && age < v.MaxAge {
		defer v.mu.Unlock()
		return v.value, nil
	}
	v.mu.Unlock()
	return v.wait(ctx, flight)
}

// Renew loads the value again, because something is missing in it, unless that has been
// done within Retry. It reports whether what it returns may be newer than what Get returned
// before.
func (v *Value[T]) Renew(ctx context.Context) (value T, renewed bool, err error) {
	v.mu.Lock()
	flight := v.startLocked(ctx)
	if flight == nil {
		defer v.mu.Unlock()
		return v.value, false, nil
	}
	v.mu.Unlock()
	value, err = v.wait(ctx, flight)
	return value, true, err
}

// startLocked returns the load that is under way, or begins one. It returns nil when it is
// too early for another one.
func (v *Value[T]) startLocked(ctx context.Context) chan struct{} {
	if v.flight != nil {
		return v.flight
	}
	if !v.triedAt.IsZero() && time.Since(v.triedAt) < v.Retry {
		return nil
	}
	v.triedAt = time.Now()
	flight := make(chan struct{})
	v.flight = flight
	// The load serves every caller that waits: the first caller's context does not end it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), v.Timeout)
	go func() {
		defer cancel()
		value, err := v.Load(ctx)
		v.mu.Lock()
		defer v.mu.Unlock()
		if v.err = err; err == nil {
			v.value, v.loaded, v.loadedAt = value, true, time.Now()
		}
		v.flight = nil
		close(flight)
	}()
	return flight
}

func (v *Value[T]) wait(ctx context.Context, flight chan struct{}) (T, error) {
	if flight != nil {
		select {
		case <-flight:
		case <-ctx.Done():
			var none T
			return none, ctx.Err()
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()

	if v.loaded && time.Since(v.loadedAt) < v.MaxAge {
		return v.value, nil
	}
	if v.err == nil {
		return v.value, errors.New("what was loaded is too old")
	}
	return v.value, v.err
}
