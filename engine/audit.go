package engine

import (
	"context"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/actor"
	"github.com/spoolhq/spool/engine/internal/toolresult"
)

const (
	// auditRetention is how long entries of the audit log are kept where nobody says.
	auditRetention = 400 * 24 * time.Hour
	// auditEvery is how often a worker looks for entries that are too old.
	auditEvery = time.Hour
	// auditPage is how many entries are removed at once, so that no other writer waits long.
	auditPage = 1000
)

// WithActor returns a context whose calls of the engine are made for a. [Engine.Stop],
// [Engine.DeleteThread], [Engine.Redrive], [Engine.PurgeJobs] and [Engine.Prune] name the
// actor in the audit log. [Response.By] and [StartRequest.By] win over the actor's subject, unless
// it is an operator.
func WithActor(ctx context.Context, a Actor) context.Context { return actor.With(ctx, a) }

// Audit lists what was done to what a tenant has, the last entry first. The entries of the
// empty tenant are about the process, such as credentials that were refused.
func (e *Engine) Audit(ctx context.Context, tenant spool.Tenant, q spool.AuditQuery) ([]spool.AuditEntry, error) {
	return e.store.Audit(ctx, tenant, q)
}

// AppendAudit adds entries to a tenant's audit log and to the log of the process. What the
// engine's own verbs do is in the audit log already.
func (e *Engine) AppendAudit(ctx context.Context, tenant spool.Tenant, entries ...*spool.AuditEntry) error {
	err := e.store.Update(ctx, spool.ThreadKey{Tenant: tenant}, 0, func(tx spool.Tx) error {
		return actor.Audit(ctx, tx, tenant, entries...)
	})
	if err == nil {
		actor.Log(ctx, e.config.Log, entries...)
	}
	return err
}

// retainAudit removes entries that are older than the configuration keeps, once an hour.
func (e *Engine) retainAudit(ctx context.Context) error {
	if e.config.AuditRetention < 0 {
		return nil
	}
	now := time.Now()
	if last := e.auditLooked.Load(); last != 0 && now.UnixNano()-last < int64(auditEvery) {
		return nil
	}
	for {
		n, err := e.store.PruneAudit(ctx, now.Add(-e.config.AuditRetention), auditPage)
		if err != nil {
			return err
		}
		if n < auditPage {
			e.auditLooked.Store(now.UnixNano())
			return nil
		}
	}
}

// purgeEntry says which dead jobs a purge is about.
func purgeEntry(q spool.DeadQuery) *spool.AuditEntry {
	entry := &spool.AuditEntry{Action: spool.AuditPurge, JobID: q.JobID}
	if !q.DiedBefore.IsZero() {
		entry.Detail = toolresult.JSON(struct {
			DiedBefore time.Time `json:"diedBefore"`
		}{q.DiedBefore.UTC()})
	}
	return entry
}
