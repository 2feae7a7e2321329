// Package actor keeps the actor of a context: the caller that the engine works for. The audit log names
// the actor. An actor that may see only its own threads sees no others.
package actor

import (
	"context"
	"log/slog"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

type key struct{}

// With returns a context that tells the engine that a makes the calls.
func With(ctx context.Context, a wire.Actor) context.Context {
	return context.WithValue(ctx, key{}, a)
}

// Of returns the actor of a context, or the zero actor if the context has none.
func Of(ctx context.Context) wire.Actor {
	a, _ := ctx.Value(key{}).(wire.Actor)
	return a
}

// Audit adds entries in the transaction of the changes that they describe, so that either both are
// saved or neither is. It sets By to the actor of ctx if By is empty or the actor is an operator.
func Audit(ctx context.Context, tx store.Tx, tenant spool.Tenant, entries ...*wire.AuditEntry) error {
	if len(entries) == 0 {
		return nil
	}
	actor := Of(ctx)
	for _, entry := range entries {
		if entry.By == "" || actor.Operator {
			entry.By = actor.Subject
		}
		if actor.Tenant != tenant || actor.Operator {
			entry.ByTenant = actor.Tenant
		}
	}
	return tx.Write(store.Changes{Audit: entries})
}

// Log writes durable entries to the log of the process.
func Log(ctx context.Context, log *slog.Logger, entries ...*wire.AuditEntry) {
	for _, entry := range entries {
		log.LogAttrs(ctx, slog.LevelInfo, "audit", auditAttrs(entry)...)
	}
}

// auditAttrs returns the log attributes of an entry. It leaves out the reason, which only readers of
// the audit log may see.
func auditAttrs(e *wire.AuditEntry) []slog.Attr {
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
