package retention

import (
	"context"
	"time"

	"github.com/spoolhq/spool"
)

// retireArtifacts returns the rows that the deletion of a thread writes, and the function that removes its artifacts after
// the commit. Most threads have none: for them, one read is cheaper than the rows.
func (r *Remover) retireArtifacts(ctx context.Context, key spool.ThreadKey) ([]spool.Row, func(context.Context) error, error) {
	switch artifacts := r.Artifacts.(type) {
	case nil:
		return nil, func(context.Context) error { return nil }, nil
	case spool.ArtifactRetirer:
		all, err := artifacts.Artifacts(ctx, key)
		if err != nil || len(all) == 0 {
			return nil, func(context.Context) error { return nil }, err
		}
		rows, remove := artifacts.RetireArtifacts(key)
		return rows, remove, nil
	default:
		return nil, func(ctx context.Context) error { return artifacts.DeleteArtifacts(ctx, key) }, nil
	}
}

// SweepArtifacts removes what failures have left in the store of artifacts, at most once an hour.
func (r *Remover) SweepArtifacts(ctx context.Context) error {
	artifacts, ok := r.Artifacts.(spool.ArtifactSweeper)
	now := time.Now()
	if last := r.artifactsSwept.Load(); !ok || last != 0 && now.UnixNano()-last < int64(pruneEvery) {
		return nil
	}
	r.artifactsSwept.Store(now.UnixNano())
	return artifacts.Sweep(ctx)
}
