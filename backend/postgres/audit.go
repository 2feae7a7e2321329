package postgres

import (
	"context"

	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/wire"
)

// addAudit notes entries, which are written at the end: their numbers come from a row that all transactions of the
// tenant share.
func (t *tx) addAudit(entries []*wire.AuditEntry) {
	for _, e := range entries {
		e.Tenant, e.At = t.key.Tenant, t.now
	}
	t.audit = append(t.audit, entries...)
}

// writeAudit writes the entries. Each takes the tenant's next number.
func (t *tx) writeAudit() {
	for _, e := range t.audit {
		t.pending = append(t.pending, statement{
			sql: `WITH next AS (
					INSERT INTO spool.audit_last (tenant, seq) VALUES (?, 1)
					ON CONFLICT (tenant) DO UPDATE SET seq = audit_last.seq + 1 RETURNING seq
				)
				INSERT INTO spool.audit (` + form.AuditColumns + `)
				SELECT ?::text, next.seq, ?::bigint, ?::text, ?::text, ?::text, ?::text, ?::text, ?::text, ?::bigint, ?::boolean, ?::text, ?::text,
					?::bigint, ?::text, ?::text FROM next RETURNING seq`,
			args: []any{
				e.Tenant, e.Tenant, e.At, string(e.Action), e.By, e.ByTenant, e.ThreadID, e.RunID, e.ToolCallID, e.JobID,
				e.Approved, e.Digest, e.Reason, e.Count, e.Address, e.Detail,
			},
			scan: func(r *row) { e.Seq = r.Int64() },
		})
	}
	t.audit = nil
}

// Audit implements [store.Store].
func (db *DB) Audit(ctx context.Context, q wire.AuditQuery) ([]wire.AuditEntry, error) {
	query, args := auditQuery(q)
	entries := []wire.AuditEntry{}
	err := db.read(ctx, query, eachForm(&entries, form.ScanAudit), args...)
	return entries, err
}

// auditQuery returns the query for q. It reads from the newest row on, either the index of a thread or that of the
// tenant.
func auditQuery(q wire.AuditQuery) (query string, args []any) {
	where := form.AuditConditions(q)
	if !q.Since.IsZero() {
		where.And("at >= ?", form.RoundedUp(q.Since))
	}
	if !q.Until.IsZero() {
		where.And("at < ?", form.RoundedUp(q.Until))
	}
	return "SELECT " + form.AuditColumns + " FROM spool.audit WHERE " + where.Text + " ORDER BY seq DESC LIMIT ?",
		append(where.Args, bound(q.Limit))
}
