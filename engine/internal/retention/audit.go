package retention

import (
	"context"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/actor"
	"github.com/spoolhq/spool/engine/internal/toolresult"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

const (
	// pruneEvery is how often a worker removes old audit entries, and rows that have expired.
	pruneEvery = time.Hour
	// pruneSize is how many of them are removed at once, so that other writers do not wait long.
	pruneSize = 1000
)

// RetainAudit removes audit entries whose retention has passed, at most once an hour.
func (r *Remover) RetainAudit(ctx context.Context) error {
	if r.Retention.Audit < 0 {
		return nil
	}
	now := time.Now()
	if last := r.auditPruned.Load(); last != 0 && now.UnixNano()-last < int64(pruneEvery) {
		return nil
	}
	for {
		n, err := r.Store.Prune(ctx, store.PruneQuery{
			Kind: store.PruneAudit, Before: now.Add(-r.Retention.Audit), Limit: pruneSize,
		})
		if err != nil {
			return err
		}
		if n < pruneSize {
			r.auditPruned.Store(now.UnixNano())
			return nil
		}
	}
}

// AppendAudit adds entries to a tenant's audit log and to the log of the process.
func (r *Remover) AppendAudit(ctx context.Context, tenant spool.Tenant, entries ...*wire.AuditEntry) error {
	err := r.Store.Update(ctx, spool.ThreadKey{Tenant: tenant}, 0, func(tx store.Tx) error {
		return actor.Audit(ctx, tx, tenant, entries...)
	})
	if err == nil {
		actor.Log(ctx, r.Log, entries...)
	}
	return err
}

func purgeEntry(q wire.JobQuery) *wire.AuditEntry {
	entry := &wire.AuditEntry{Action: wire.AuditPurge, JobID: q.JobID}
	if !q.DiedBefore.IsZero() {
		entry.Detail = toolresult.JSON(struct {
			DiedBefore time.Time `json:"diedBefore"`
		}{q.DiedBefore.UTC()})
	}
	return entry
}
