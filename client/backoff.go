package client

import (
	"cmp"
	"context"
	"math/rand/v2"
	"time"

	"github.com/spoolhq/spool"
)

// Backoff is the wait between attempts. It doubles with each failure in a row. Each wait is extended by a
// random part of up to a half, so that clients do not come back all at once.
type Backoff struct {
	// Min is the wait after the first failure. Defaults to 500 ms.
	Min time.Duration
	// Max bounds the doubled wait. Defaults to 30 s, or to Min if that is longer.
	Max time.Duration
}

const (
	defaultMinWait = 500 * time.Millisecond
	defaultMaxWait = 30 * time.Second
	// maxAskedWait bounds the wait that a server can ask for, so that a wrong number does not stop a follower
	// for ever.
	maxAskedWait = 10 * time.Minute
)

func (b Backoff) withDefaults() (Backoff, error) {
	if b.Min < 0 || b.Max < 0 {
		return b, spool.Errorf(spool.Invalid, "Options.Backoff.Min and Max must not be negative")
	}
	b.Min = cmp.Or(b.Min, defaultMinWait)
	b.Max = cmp.Or(b.Max, max(b.Min, defaultMaxWait))
	if b.Max < b.Min {
		return b, spool.Errorf(spool.Invalid, "Options.Backoff.Max is below Min")
	}
	return b, nil
}

// wait returns the wait after so many failures in a row, from 1. It is never below what the server asked for.
func (b Backoff) wait(failures int, asked time.Duration) time.Duration {
	d := b.Min
	for i := 1; i < failures && d < b.Max; i++ {
		d *= 2
	}
	return spread(max(min(d, b.Max), min(asked, maxAskedWait)))
}

// spread extends a wait by up to a half of it.
func spread(d time.Duration) time.Duration {
	return d + time.Duration(rand.Int64N(int64(d)/2+1)) //nolint:gosec // it spreads, and hides nothing
}

// pause waits, and reports false if ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// lasts reports whether ctx allows a wait of d.
func lasts(ctx context.Context, d time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() == nil && (!ok || time.Until(deadline) > d)
}
