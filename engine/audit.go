package engine

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/actor"
	"github.com/spoolhq/spool/wire"
)

// WithActor returns a context that tells the engine who makes a call. [Engine.Stop],
// [Engine.DeleteThread], [Admin.Redrive], [Admin.PurgeJobs] and [Admin.Prune] name the actor in the
// audit log. [Response.By] and [StartRequest.By] win over the actor's subject, unless the actor is an
// operator.
func WithActor(ctx context.Context, a wire.Actor) context.Context { return actor.With(ctx, a) }

// Audit lists the audit log of a tenant, the newest entry first. The empty tenant has the entries about
// the process, such as refused credentials.
func (a *Admin) Audit(ctx context.Context, tenant spool.Tenant, q wire.AuditQuery) ([]wire.AuditEntry, error) {
	q.Tenant = tenant
	return a.store.Audit(ctx, q)
}

// AppendAudit adds entries to a tenant's audit log and to the log of the process. The engine's own
// operations add their entries themselves.
func (a *Admin) AppendAudit(ctx context.Context, tenant spool.Tenant, entries ...*wire.AuditEntry) error {
	return a.remover.AppendAudit(ctx, tenant, entries...)
}
