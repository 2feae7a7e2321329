package memory

import (
	"bytes"
	"context"
	"slices"

	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// appendAudit adds entries at the commit. It can number them now, because the store has only one writer
// at a time.
func (tx *transaction) appendAudit(c store.Changes) error {
	tx.store.mu.RLock()
	last := tx.store.lastAudit[tx.key.Tenant]
	tx.store.mu.RUnlock()
	for _, e := range c.Audit {
		tx.audited++
		e.Tenant, e.Seq, e.At = tx.key.Tenant, last+tx.audited, tx.now
		kept := cloneAudit(*e)
		tx.outside = append(tx.outside, func(m *memory) {
			m.audit = append(m.audit, kept)
			m.lastAudit[kept.Tenant] = kept.Seq
		})
	}
	return nil
}

// Audit lists a tenant's entries, the newest first.
func (s port) Audit(ctx context.Context, q wire.AuditQuery) ([]wire.AuditEntry, error) {
	if err := canceled(ctx); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	found := []wire.AuditEntry{}
	for _, e := range slices.Backward(s.audit) {
		if e.Tenant == q.Tenant && audited(e, q) {
			found = append(found, cloneAudit(e))
		}
	}
	return found[:bounded(len(found), q.Limit)], nil
}

func audited(e wire.AuditEntry, q wire.AuditQuery) bool {
	return (q.Before <= 0 || e.Seq < q.Before) &&
		(q.Action == "" || e.Action == q.Action) &&
		(q.ThreadID == "" || e.ThreadID == q.ThreadID) &&
		(q.By == "" || e.By == q.By) &&
		(q.Since.IsZero() || !e.At.Before(q.Since)) &&
		(q.Until.IsZero() || e.At.Before(q.Until))
}

func cloneAudit(e wire.AuditEntry) wire.AuditEntry {
	e.Detail = bytes.Clone(e.Detail)
	if e.Approved != nil {
		approved := *e.Approved
		e.Approved = &approved
	}
	return e
}
