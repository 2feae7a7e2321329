package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// A process knows whether clients follow a thread, its own and those of other processes.
func TestWatched(t *testing.T) {
	t.Parallel()

	const within = 10 * time.Second
	for name, c := range map[string]struct {
		other     bool // the client is one of another process
		comes     time.Duration
		stays     time.Duration
		dropWakes bool
		want      bool
		took      time.Duration
	}{
		"There":          {stays: time.Hour, want: true},
		"Comes":          {comes: 3500 * time.Millisecond, stays: time.Hour, want: true, took: 4 * time.Second},
		"Late":           {comes: 11 * time.Second, stays: time.Hour, took: within},
		"WithoutWakes":   {stays: time.Hour, dropWakes: true, want: true},
		"OtherThere":     {other: true, stays: time.Hour, want: true},
		"OtherComes":     {other: true, comes: 3500 * time.Millisecond, stays: time.Hour, want: true, took: 4 * time.Second},
		"OtherLeft":      {other: true, stays: time.Millisecond, took: within},
		"OtherIsNotTold": {other: true, stays: time.Hour, dropWakes: true, took: within},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := spooltest.NewFaulty(memory.New(nil))
				one := newEngine(t, f.Backend(), config(spooltest.NewModel()))
				two := newEngine(t, f.Backend(), config(spooltest.NewModel()))
				defer one.Close()
				defer two.Close()
				start(t, one, "r1")
				f.DropWakes(c.dropWakes)
				ctx, cancel := context.WithTimeout(t.Context(), c.comes+c.stays)
				defer cancel()
				go func() {
					select {
					case <-time.After(c.comes):
					case <-ctx.Done():
						return
					}
					e := one
					if c.other {
						e = two
					}
					for _, err := range e.Follow(ctx, key, wire.FollowOptions{}) {
						if err != nil {
							return
						}
					}
				}()
				pass(0)
				if c.stays < time.Second {
					pass(time.Second)
				}
				began := time.Now()
				got, err := one.Watched(t.Context(), key, within)
				if took := time.Since(began); got != c.want || took != c.took || err != nil {
					t.Errorf("watched: %t after %s (%v), want %t after %s", got, took, err, c.want, c.took)
				}
			})
		})
	}
}

// The question who follows a thread ends with its context and with the engine.
func TestWatchedEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, memory.New(nil), config(spooltest.NewModel()))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if watched, err := e.Watched(ctx, key, time.Hour); watched || ctx.Err() == nil || err == nil {
			t.Errorf("at the end of its context: %t, %v", watched, err)
		}
		time.AfterFunc(time.Second, e.Close)
		if watched, err := e.Watched(t.Context(), key, time.Hour); watched || spool.CodeOf(err) != spool.Unavailable {
			t.Errorf("at the end of the engine: %t, %v", watched, err)
		}
	})
}
