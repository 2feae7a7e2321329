package memory

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/spoolhq/spool"
)

// AppendAudit adds entries at the commit. It can number them now, because the store has only one writer
// at a time.
func (tx *transaction) AppendAudit(entries ...*spool.AuditEntry) error {
	tx.store.mu.RLock()
	last := tx.store.lastAudit[tx.key.Tenant]
	tx.store.mu.RUnlock()
	for _, e := range entries {
		tx.audited++
		e.Tenant, e.Seq, e.At = tx.key.Tenant, last+tx.audited, tx.now
		kept := cloneAudit(*e)
		tx.jobs = append(tx.jobs, func(m *memory) {
			m.audit = append(m.audit, kept)
			m.lastAudit[kept.Tenant] = kept.Seq
		})
	}
	return nil
}

// Audit lists a tenant's entries, the newest first.
func (s store) Audit(ctx context.Context, tenant spool.Tenant, q spool.AuditQuery) ([]spool.AuditEntry, error) {
	if err := canceled(ctx); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	found := []spool.AuditEntry{}
	for _, e := range slices.Backward(s.audit) {
		if e.Tenant == tenant && audited(e, q) {
			found = append(found, cloneAudit(e))
		}
	}
	return found[:bounded(len(found), q.Limit)], nil
}

func audited(e spool.AuditEntry, q spool.AuditQuery) bool {
	return (q.Before <= 0 || e.Seq < q.Before) &&
		(q.Action == "" || e.Action == q.Action) &&
		(q.ThreadID == "" || e.ThreadID == q.ThreadID) &&
		(q.By == "" || e.By == q.By) &&
		(q.Since.IsZero() || !e.At.Before(q.Since)) &&
		(q.Until.IsZero() || e.At.Before(q.Until))
}

// PruneAudit removes entries that are older than before.
func (s store) PruneAudit(ctx context.Context, before time.Time, limit int) (int, error) {
	if err := canceled(ctx); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	kept, gone := make([]spool.AuditEntry, 0, len(s.audit)), 0
	for _, e := range s.audit {
		if e.At.Before(before) && (limit <= 0 || gone < limit) {
			gone++
			continue
		}
		kept = append(kept, e)
	}
	s.audit = kept
	return gone, nil
}

func cloneAudit(e spool.AuditEntry) spool.AuditEntry {
	e.Detail = bytes.Clone(e.Detail)
	if e.Approved != nil {
		approved := *e.Approved
		e.Approved = &approved
	}
	return e
}
