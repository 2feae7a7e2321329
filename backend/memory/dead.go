package memory

import (
	"cmp"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// deadJobs lists dead jobs, the last died first. The caller must hold mu.
func (m *memory) deadJobs(q wire.JobQuery) []wire.QueuedJob {
	found := []wire.QueuedJob{}
	for _, d := range m.dead {
		older := d.DiedAt.Before(q.Before) || d.DiedAt.Equal(q.Before) && d.JobID < q.BeforeID
		if d.Tenant == q.Tenant && jobListed(d.Job, d.JobID, q) &&
			(q.DiedBefore.IsZero() || d.DiedAt.Before(q.DiedBefore)) && (q.Before.IsZero() || older) {
			d.Job = cloneJob(d.Job)
			found = append(found, d)
		}
	}
	slices.SortFunc(found, func(a, b wire.QueuedJob) int {
		return cmp.Or(b.DiedAt.Compare(a.DiedAt), cmp.Compare(b.JobID, a.JobID))
	})
	return found[:bounded(len(found), q.Limit)]
}

func (m *memory) dropDead(id int64) {
	m.dead = slices.DeleteFunc(m.dead, func(d wire.QueuedJob) bool { return d.JobID == id })
}

// removeDead removes dead jobs at the commit.
func (tx *transaction) removeDead(c store.Changes) error {
	for _, id := range c.TakeDead {
		if tx.removedDead[id] || !tx.hasDead(id) {
			return errNoDeadJob
		}
		if tx.removedDead == nil {
			tx.removedDead = make(map[int64]bool)
		}
		tx.removedDead[id] = true
		tx.outside = append(tx.outside, func(m *memory) { m.dropDead(id) })
	}
	return nil
}

// hasDead reports whether the thread has the dead job, and has not been deleted with it.
func (tx *transaction) hasDead(id int64) bool {
	tx.store.mu.RLock()
	defer tx.store.mu.RUnlock()
	return slices.ContainsFunc(tx.store.dead, func(d wire.QueuedJob) bool {
		return d.JobID == id && d.Thread() == tx.key && (d.Event() || !tx.deleted)
	})
}

// addDead adds dead jobs at the commit.
func (tx *transaction) addDead(c store.Changes) error {
	for _, d := range c.Dead {
		j := tx.owned(d.Job)
		if j.DueAt.IsZero() {
			j.DueAt = tx.now
		}
		dead := wire.QueuedJob{Job: j, State: wire.JobDead, Attempts: d.Attempts, Cause: d.Cause, DiedAt: tx.now}
		tx.outside = append(tx.outside, func(m *memory) {
			dead.JobID = wire.NewJobID()
			m.dead = append(m.dead, dead)
		})
	}
	return nil
}

var errNoDeadJob = spool.Errorf(spool.NotFound, "Dead job not found")
