package engine

import (
	"context"

	"github.com/spoolhq/spool"
)

// Compact summarises the older messages of a thread now, however short its history is. It leaves the
// newest messages as they are, up to [ContextOptions.TailShare] of the prompt. The calling process asks
// the model, once at a time for a thread. If the thread has an active run or changes meanwhile, nothing
// changes and the result says why. An error is from the store, or from the model, which is
// [spool.Unavailable].
func (e *Engine) Compact(ctx context.Context, key spool.ThreadKey) (CompactResult, error) {
	return e.compactor.Idle(ctx, key, func() error { return e.runner.CheckRoom(ctx, key.Tenant) })
}
