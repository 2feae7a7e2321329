package engine

import (
	"context"
	"log/slog"
	"time"

	"github.com/spoolhq/spool"
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

// Actor is who a call of the engine is made for. The audit log names the actor, and threads of
// others can be hidden from it.
type Actor struct {
	// Subject names the person or program. Empty: not known.
	Subject string
	// Tenant is the tenant of Subject, which an operator's differs from that of what is acted
	// on. Empty: the same.
	Tenant spool.Tenant
	// Operator says that the actor acts as one who operates the server. The audit log then names
	// Subject and Tenant, also where Tenant is that of what is acted on and where the request
	// says otherwise, as [Response.By] does.
	Operator bool
	// OwnOnly hides all threads but those whose [spool.Thread.Owner] is Subject: they answer
	// like threads that do not exist. A start with the id of such a thread is refused with
	// [ReasonNotFound], and idempotency keys are the subject's own.
	OwnOnly bool
}

type actorKey struct{}

// WithActor returns a context whose calls of the engine are made for a. [Engine.Stop],
// [Engine.DeleteThread], [Engine.Redrive], [Engine.PurgeJobs] and [Engine.Prune] name the
// actor in the audit log. [Response.By] and [StartRequest.By] win over the actor's subject, unless
// it is an operator.
func WithActor(ctx context.Context, a Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}

func actorOf(ctx context.Context) Actor {
	a, _ := ctx.Value(actorKey{}).(Actor)
	return a
}

// Audit lists what was done to what a tenant has, the last entry first. The entries of the
// empty tenant are about the process, such as credentials that were refused.
func (e *Engine) Audit(ctx context.Context, tenant spool.Tenant, q spool.AuditQuery) ([]spool.AuditEntry, error) {
	return e.store.Audit(ctx, tenant, q)
}

// AppendAudit adds entries to a tenant's audit log and to the log of the process. What the
// engine's own verbs do is in the audit log already.
func (e *Engine) AppendAudit(ctx context.Context, tenant spool.Tenant, entries ...*spool.AuditEntry) error {
	err := e.store.Update(ctx, spool.ThreadKey{Tenant: tenant}, 0, func(tx spool.Tx) error {
		return appendAudit(ctx, tx, tenant, entries)
	})
	if err == nil {
		e.logAudit(ctx, entries)
	}
	return err
}

// appendAudit adds entries in the transaction of what they are about, so that neither is
// there without the other. It names the actor of ctx where an entry names nobody.
func appendAudit(ctx context.Context, tx spool.AuditTx, tenant spool.Tenant, entries []*spool.AuditEntry) error {
	if len(entries) == 0 {
		return nil
	}
	actor := actorOf(ctx)
	for _, entry := range entries {
		if entry.By == "" || actor.Operator {
			entry.By = actor.Subject
		}
		if actor.Tenant != tenant || actor.Operator {
			entry.ByTenant = actor.Tenant
		}
	}
	return tx.AppendAudit(entries...)
}

// logAudit writes entries, which are durable, to the log of the process.
func (e *Engine) logAudit(ctx context.Context, entries []*spool.AuditEntry) {
	for _, entry := range entries {
		e.config.Log.LogAttrs(ctx, slog.LevelInfo, "audit", auditAttrs(entry)...)
	}
}

// auditAttrs leaves out the reason, which is for those who may read the audit log.
func auditAttrs(e *spool.AuditEntry) []slog.Attr {
	attrs := []slog.Attr{slog.String("action", string(e.Action)), slog.Int64("audit_seq", e.Seq)}
	for _, a := range []struct{ key, value string }{
		{"tenant", string(e.Tenant)},
		{"by", e.By},
		{"by_tenant", string(e.ByTenant)},
		{"thread", string(e.ThreadID)},
		{"run", string(e.RunID)},
		{"call", string(e.ToolCallID)},
		{"digest", e.Digest},
		{"address", e.Address},
	} {
		if a.value != "" {
			attrs = append(attrs, slog.String(a.key, a.value))
		}
	}
	if e.JobID != 0 {
		attrs = append(attrs, slog.Int64("job", e.JobID))
	}
	if e.Approved != nil {
		attrs = append(attrs, slog.Bool("approved", *e.Approved))
	}
	if e.Count != 0 {
		attrs = append(attrs, slog.Int64("count", e.Count))
	}
	return attrs
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
