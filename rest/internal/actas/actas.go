// Package actas lets tests choose the principal of a request, whatever its credentials are. It is internal,
// so that only package resttest can use it.
package actas

import (
	"context"
	"sync/atomic"
)

type key struct{}

// used is set by the first [Context], so that programs other than tests never look into the context.
var used atomic.Bool

// Context returns a context whose requests are made by the principal.
func Context(ctx context.Context, principal any) context.Context {
	used.Store(true)
	return context.WithValue(ctx, key{}, principal)
}

// Principal returns the principal of the request, or nil if its credentials decide.
func Principal(ctx context.Context) any {
	if !used.Load() {
		return nil
	}
	return ctx.Value(key{})
}
