package access

import (
	"context"
	"time"
)

// Lifetime returns a context for a stream of the caller. It ends with ctx, with the caller's credentials, and
// at until unless until is zero.
func Lifetime(ctx context.Context, p Principal, until time.Time) (context.Context, context.CancelFunc) {
	if until.IsZero() && p.Valid == nil {
		return ctx, func() {}
	}
	var cancel context.CancelFunc
	if until.IsZero() {
		ctx, cancel = context.WithCancel(ctx)
	} else {
		ctx, cancel = context.WithDeadline(ctx, until)
	}
	if p.Valid == nil {
		return ctx, cancel
	}
	forget := context.AfterFunc(p.Valid, cancel)
	return ctx, func() {
		forget()
		cancel()
	}
}

// Earlier returns the earlier of two times. A zero time means never.
func Earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
