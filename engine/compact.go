package engine

import (
	"context"

	"github.com/spoolhq/spool"
)

// Compact has the older messages of a thread summarised now, however short its history is,
// and leaves the newest ones, up to [ContextOptions.TailShare] of the prompt, as they are. The calling
// process asks the model, once at a time for a thread. The thread must have no active run and must not
// change meanwhile: else nothing changes, and the result tells why. An error is one of
// the store, or of the model, which is [spool.Unavailable].
func (e *Engine) Compact(ctx context.Context, key spool.ThreadKey) (CompactResult, error) {
	return e.compactor.Idle(ctx, key, func() error { return e.runner.CheckRoom(ctx, key.Tenant) })
}
