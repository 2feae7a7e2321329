package retention

import (
	"context"

	"github.com/spoolhq/spool"
)

// PurgeJobs removes dead jobs. It returns how many it removed, also with an error.
func (r *Remover) PurgeJobs(ctx context.Context, tenant spool.Tenant, q spool.DeadQuery) (int, error) {
	if q.JobID != 0 { // no audit entry for a job that does not exist
		dead, err := r.Queue.Dead(ctx, tenant, spool.DeadQuery{JobID: q.JobID})
		if err != nil || len(dead) == 0 {
			return 0, err
		}
	}
	// The queue uses a transaction of its own, so the audit entry is written before: an entry about a
	// purge that then failed does less harm than a purge without an entry.
	if err := r.AppendAudit(ctx, tenant, purgeEntry(q)); err != nil {
		return 0, err
	}
	if q.Limit > 0 {
		return r.Queue.Purge(ctx, tenant, q)
	}
	q.Limit = prunePage
	for gone := 0; ; {
		n, err := r.Queue.Purge(ctx, tenant, q)
		gone += n
		if err != nil || n < q.Limit {
			return gone, err
		}
	}
}
