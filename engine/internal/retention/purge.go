package retention

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// PurgeJobs removes dead jobs. It returns how many it removed, also with an error.
func (r *Remover) PurgeJobs(ctx context.Context, tenant spool.Tenant, q wire.JobQuery) (int, error) {
	if q.JobID != 0 { // no audit entry for a job that does not exist
		dead, err := r.Store.Jobs(ctx, wire.JobQuery{Tenant: tenant, State: wire.JobDead, JobID: q.JobID})
		if err != nil || len(dead) == 0 {
			return 0, err
		}
	}
	// The store uses a transaction of its own, so the audit entry is written before: an entry about a
	// purge that then failed does less harm than a purge without an entry.
	if err := r.AppendAudit(ctx, tenant, purgeEntry(q)); err != nil {
		return 0, err
	}
	prune := store.PruneQuery{Kind: store.PruneDead, Tenant: tenant, JobID: q.JobID, Before: q.DiedBefore, Limit: q.Limit}
	if q.Limit > 0 {
		return r.Store.Prune(ctx, prune)
	}
	prune.Limit = prunePage
	for gone := 0; ; {
		n, err := r.Store.Prune(ctx, prune)
		gone += n
		if err != nil || n < prune.Limit {
			return gone, err
		}
	}
}
