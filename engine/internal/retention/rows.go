package retention

import (
	"context"
	"time"

	"github.com/spoolhq/spool/store"
)

// RemoveExpired removes rows outside threads that have expired, at most once an hour. Nobody sees them any more, but
// the store keeps them until then.
func (r *Remover) RemoveExpired(ctx context.Context) error {
	now := time.Now()
	if last := r.rowsPruned.Load(); last != 0 && now.UnixNano()-last < int64(pruneEvery) {
		return nil
	}
	for {
		n, err := r.Store.Prune(ctx, store.PruneQuery{Kind: store.PruneRows, Limit: pruneSize})
		if err != nil {
			return err
		}
		if n < pruneSize {
			r.rowsPruned.Store(now.UnixNano())
			return nil
		}
	}
}
