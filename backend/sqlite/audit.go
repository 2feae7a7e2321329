package sqlite

import (
	"context"
	"strings"

	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/wire"
)

var auditPlaces = places(strings.Count(form.AuditColumns, ",") + 1)

// appendAudit adds entries to the audit log of the transaction's tenant, and sets their numbers.
func (t *tx) appendAudit(entries []*wire.AuditEntry) error {
	last, err := t.reserveAuditNumbers(len(entries))
	if err != nil {
		return err
	}
	for i, e := range entries {
		e.Tenant, e.Seq, e.At = t.key.Tenant, last-int64(len(entries)-1-i), t.now
		var approved *int64
		if e.Approved != nil {
			approved = new(int64)
			if *e.Approved {
				*approved = 1
			}
		}
		err := t.write("INSERT INTO audit ("+form.AuditColumns+") VALUES ("+auditPlaces+")",
			e.Tenant, e.Seq, e.At, string(e.Action), e.By, e.ByTenant, e.ThreadID, e.RunID, e.ToolCallID, e.JobID, approved,
			e.Digest, e.Reason, e.Count, e.Address, e.Detail)
		if err != nil {
			return err
		}
	}
	return nil
}

// reserveAuditNumbers reserves the tenant's next n numbers and returns the last of them.
func (t *tx) reserveAuditNumbers(n int) (last int64, err error) {
	err = t.write(`INSERT INTO audit_last (tenant, seq) VALUES (?, ?)
		ON CONFLICT (tenant) DO UPDATE SET seq = audit_last.seq + excluded.seq`, t.key.Tenant, n)
	if err != nil {
		return 0, err
	}
	err = t.query("SELECT seq FROM audit_last WHERE tenant = ?", func(r *row) error {
		last = r.Int64()
		return nil
	}, t.key.Tenant)
	return last, err
}

// Audit implements [store.Store].
func (db *DB) Audit(ctx context.Context, q wire.AuditQuery) ([]wire.AuditEntry, error) {
	query, args := auditQuery(q)
	entries := []wire.AuditEntry{}
	err := db.pool.read(ctx, func(c *conn) error {
		return c.query(query, each(&entries, form.ScanAudit), args...)
	})
	return entries, err
}

// auditQuery returns the query for q. It reads from the newest row on, either the index of a thread or
// the table itself.
func auditQuery(q wire.AuditQuery) (query string, args []any) {
	table := "audit"
	if q.ThreadID != "" {
		table = "audit INDEXED BY audit_thread"
	}
	where := form.AuditConditions(q)
	// The unary plus keeps these two conditions from using the index of times, whose order is not the
	// list's.
	if !q.Since.IsZero() {
		where.And("+at >= ?", form.RoundedUp(q.Since))
	}
	if !q.Until.IsZero() {
		where.And("+at < ?", form.RoundedUp(q.Until))
	}
	return "SELECT " + form.AuditColumns + " FROM " + table + " WHERE " + where.Text + " ORDER BY seq DESC LIMIT ?",
		append(where.Args, bound(q.Limit))
}

// places returns n placeholders.
func places(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }
