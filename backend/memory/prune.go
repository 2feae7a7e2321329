package memory

import (
	"context"
	"maps"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Prune removes old data. It waits until no transaction runs.
func (s port) Prune(ctx context.Context, q store.PruneQuery) (gone int, err error) {
	var prune func(store.PruneQuery) int
	switch q.Kind {
	case store.PruneAudit:
		prune = s.pruneAudit
	case store.PruneDead:
		prune = s.pruneDead
	case store.PruneRows:
		prune = s.pruneRows
	default:
		return 0, spool.Errorf(spool.Invalid, "Unknown kind of data: %s", q.Kind)
	}
	err = s.alone(ctx, func() { gone = prune(q) })
	return gone, err
}

// pruneAudit removes entries that are older than q.Before.
func (m *memory) pruneAudit(q store.PruneQuery) (gone int) {
	m.audit = slices.DeleteFunc(m.audit, func(e wire.AuditEntry) bool {
		old := e.At.Before(q.Before) && (q.Limit <= 0 || gone < q.Limit)
		if old {
			gone++
		}
		return old
	})
	return gone
}

// pruneDead removes dead jobs of a tenant.
func (m *memory) pruneDead(q store.PruneQuery) (gone int) {
	old := m.deadJobs(wire.JobQuery{Tenant: q.Tenant, JobID: q.JobID, DiedBefore: q.Before})
	slices.Reverse(old)
	old = old[:bounded(len(old), q.Limit)]
	for _, d := range old {
		m.dropDead(d.JobID)
	}
	return len(old)
}

// pruneRows removes rows that have expired.
func (m *memory) pruneRows(q store.PruneQuery) int {
	now := m.now()
	old := slices.DeleteFunc(slices.Collect(maps.Values(m.rows)), func(r store.Row) bool {
		return !expired(r, now) || !q.Before.IsZero() && !r.ExpiresAt.Before(q.Before)
	})
	slices.SortFunc(old, func(a, b store.Row) int { return a.ExpiresAt.Compare(b.ExpiresAt) })
	old = old[:bounded(len(old), q.Limit)]
	for _, r := range old {
		delete(m.rows, rowKey{r.Tenant, r.Kind, r.Key})
	}
	return len(old)
}
