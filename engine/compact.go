package engine

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// Compact summarises the older messages of a thread now, even if its history is short. It leaves the
// newest messages as they are, up to [ContextOptions.TailShare] of the prompt. This process asks the
// model itself, with one summary of a thread at a time. If the thread has an active run or changes
// meanwhile, nothing changes and the result says why. Compact returns the store's error, or an
// [spool.Unavailable] error if the model fails.
func (e *Engine) Compact(ctx context.Context, key spool.ThreadKey) (wire.CompactResult, error) {
	return e.compactor.Idle(ctx, key, func() error { return e.runner.CheckRoom(ctx, key.Tenant) })
}
