package retention

import (
	"context"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// retireArtifacts returns the rows that the deletion of a thread writes, and the function that removes its artifacts
// after the commit. It does so for a thread without artifacts too, because an upload may add one until the commit.
func (r *Remover) retireArtifacts(key spool.ThreadKey) ([]store.Row, func(context.Context) error) {
	switch artifacts := r.Artifacts.(type) {
	case nil:
		return nil, func(context.Context) error { return nil }
	case store.ArtifactRetirer:
		return artifacts.RetireArtifacts(key)
	default:
		return nil, func(ctx context.Context) error { return artifacts.DeleteArtifacts(ctx, key) }
	}
}

// SweepArtifacts removes what failures have left in the store of artifacts, at most once an hour.
func (r *Remover) SweepArtifacts(ctx context.Context) error {
	artifacts, ok := r.Artifacts.(store.ArtifactSweeper)
	now := time.Now()
	if last := r.artifactsSwept.Load(); !ok || last != 0 && now.UnixNano()-last < int64(pruneEvery) {
		return nil
	}
	r.artifactsSwept.Store(now.UnixNano())
	return artifacts.Sweep(ctx)
}
