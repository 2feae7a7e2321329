// Package actas lets tests say who makes a request, whatever its credentials are. It is
// internal, so that nothing but package resttest can.
package actas

import (
	"context"
	"sync/atomic"
)

type key struct{}

// used is set by the first [Context], so that a program which is no test never looks.
var used atomic.Bool

// Context says that a request with the context is made by the principal.
func Context(ctx context.Context, principal any) context.Context {
	used.Store(true)
	return context.WithValue(ctx, key{}, principal)
}

// Principal returns who makes the request, or nil when its credentials decide.
func Principal(ctx context.Context) any {
	if !used.Load() {
		return nil
	}
	return ctx.Value(key{})
}
