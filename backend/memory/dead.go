package memory

import (
	"cmp"
	"context"
	"slices"

	"github.com/spoolhq/spool"
)

// DeadLetter moves the job to the dead jobs.
func (q queue) DeadLetter(ctx context.Context, d spool.Delivery, cause string) error {
	return q.guarded(ctx, d, func(j *job) {
		q.dropJob(j.id)
		q.dead = append(q.dead, spool.DeadJob{
			Job: j.Job, JobID: j.id, Attempts: j.attempt, Cause: cause, DiedAt: q.now(),
		})
	})
}

// Dead lists the dead jobs of a tenant.
func (q queue) Dead(ctx context.Context, tenant spool.Tenant, query spool.DeadQuery) ([]spool.DeadJob, error) {
	if err := canceled(ctx); err != nil {
		return nil, err
	}
	q.mu.RLock()
	defer q.mu.RUnlock()
	return q.selectDead(tenant, query), nil
}

// Purge removes dead jobs. It waits until no Update runs, so that it does not see a job that a
// transaction has taken.
func (q queue) Purge(ctx context.Context, tenant spool.Tenant, query spool.DeadQuery) (int, error) {
	select {
	case q.writer <- struct{}{}:
	case <-ctx.Done():
		return 0, canceled(ctx)
	}
	defer func() { <-q.writer }()
	if err := canceled(ctx); err != nil {
		return 0, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	gone := q.selectDead(tenant, query)
	for _, d := range gone {
		q.dropDead(d.JobID)
	}
	return len(gone), nil
}

// selectDead returns the dead jobs that q selects. The caller must hold mu.
func (m *memory) selectDead(tenant spool.Tenant, q spool.DeadQuery) []spool.DeadJob {
	found := []spool.DeadJob{}
	for _, d := range m.dead {
		older := d.DiedAt.Before(q.Before) || d.DiedAt.Equal(q.Before) && d.JobID < q.BeforeID
		if d.Tenant == tenant && (q.JobID == 0 || d.JobID == q.JobID) &&
			(q.DiedBefore.IsZero() || d.DiedAt.Before(q.DiedBefore)) && (q.Before.IsZero() || older) {
			found = append(found, d)
		}
	}
	slices.SortFunc(found, func(a, b spool.DeadJob) int {
		return cmp.Or(b.DiedAt.Compare(a.DiedAt), cmp.Compare(b.JobID, a.JobID))
	})
	return found[:bounded(len(found), q.Limit)]
}

func (m *memory) dropDead(id int64) {
	m.dead = slices.DeleteFunc(m.dead, func(d spool.DeadJob) bool { return d.JobID == id })
}

// TakeDead removes a dead job at the commit.
func (tx *transaction) TakeDead(jobID int64) (spool.DeadJob, error) {
	tx.store.mu.RLock()
	defer tx.store.mu.RUnlock()
	for _, d := range tx.store.dead {
		if d.JobID == jobID && d.Thread() == tx.key && !tx.taken[jobID] {
			if tx.taken == nil {
				tx.taken = make(map[int64]bool)
			}
			tx.taken[jobID] = true
			tx.jobs = append(tx.jobs, func(m *memory) { m.dropDead(jobID) })
			return d, nil
		}
	}
	return spool.DeadJob{}, errNoDeadJob
}

// AddDead adds a dead job at the commit.
func (tx *transaction) AddDead(j spool.Job, attempts int, cause string) error {
	now := tx.Now()
	j.Tenant, j.ThreadID = tx.key.Tenant, tx.key.ID
	if j.DueAt.IsZero() {
		j.DueAt = now
	}
	tx.jobs = append(tx.jobs, func(m *memory) {
		m.dead = append(m.dead, spool.DeadJob{Job: j, JobID: spool.NewJobID(), Attempts: attempts, Cause: cause, DiedAt: now})
	})
	return nil
}

var errNoDeadJob = spool.Errorf(spool.NotFound, "Dead job not found")
