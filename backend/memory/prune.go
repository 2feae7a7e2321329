package memory

import (
	"context"
	"maps"
	"slices"

	"github.com/spoolhq/spool"
)

// Prune removes old data. It waits until no transaction runs.
func (s port) Prune(ctx context.Context, q spool.PruneQuery) (gone int, err error) {
	var prune func(spool.PruneQuery) int
	switch q.Kind {
	case spool.PruneAudit:
		prune = s.pruneAudit
	case spool.PruneDead:
		prune = s.pruneDead
	case spool.PruneRows:
		prune = s.pruneRows
	default:
		return 0, spool.Errorf(spool.Invalid, "Unknown kind of data: %s", q.Kind)
	}
	err = s.alone(ctx, func() { gone = prune(q) })
	return gone, err
}

// pruneAudit removes entries that are older than q.Before.
func (m *memory) pruneAudit(q spool.PruneQuery) (gone int) {
	m.audit = slices.DeleteFunc(m.audit, func(e spool.AuditEntry) bool {
		old := e.At.Before(q.Before) && (q.Limit <= 0 || gone < q.Limit)
		if old {
			gone++
		}
		return old
	})
	return gone
}

// pruneDead removes dead jobs of a tenant.
func (m *memory) pruneDead(q spool.PruneQuery) (gone int) {
	old := m.deadJobs(spool.JobQuery{Tenant: q.Tenant, JobID: q.JobID, DiedBefore: q.Before})
	slices.Reverse(old)
	old = old[:bounded(len(old), q.Limit)]
	for _, d := range old {
		m.dropDead(d.JobID)
	}
	return len(old)
}

// pruneRows removes rows that have expired.
func (m *memory) pruneRows(q spool.PruneQuery) int {
	now := m.now()
	old := slices.DeleteFunc(slices.Collect(maps.Values(m.rows)), func(r spool.Row) bool {
		return !expired(r, now) || !q.Before.IsZero() && !r.ExpiresAt.Before(q.Before)
	})
	slices.SortFunc(old, func(a, b spool.Row) int { return a.ExpiresAt.Compare(b.ExpiresAt) })
	old = old[:bounded(len(old), q.Limit)]
	for _, r := range old {
		delete(m.rows, rowKey{r.Tenant, r.Kind, r.Key})
	}
	return len(old)
}
