package engine

import (
	"context"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// Overview counts a tenant's threads, runs and jobs. It reads them one after another: a run that
// changes meanwhile may be in two of the counts or in none.
func (a *Admin) Overview(ctx context.Context, tenant spool.Tenant) (wire.Overview, error) {
	return a.reader.Overview(ctx, tenant)
}

// Runs lists a tenant's runs across its threads, the newest first.
func (a *Admin) Runs(ctx context.Context, tenant spool.Tenant, q wire.RunQuery) ([]wire.Run, error) {
	q.Tenant, q.Whole = tenant, false
	rows, err := a.store.Runs(ctx, q)
	runs := make([]wire.Run, len(rows))
	for i, r := range rows {
		runs[i] = r.Run
	}
	return runs, err
}

// Jobs lists a tenant's jobs that are not dead, the job that has been due longest first.
func (a *Admin) Jobs(ctx context.Context, tenant spool.Tenant, q wire.JobQuery) ([]wire.QueuedJob, error) {
	q.Tenant = tenant
	return a.store.Jobs(ctx, q)
}

// StuckJobs lists the jobs that have been due for longer than olderThan and are not done. Either no
// worker takes them or has their agent, or they fail again and again, or their tool or model call does
// not return. A call that takes so long by design is listed too.
func (a *Admin) StuckJobs(
	ctx context.Context, tenant spool.Tenant, olderThan time.Duration, limit int,
) ([]wire.QueuedJob, error) {
	return a.Jobs(ctx, tenant, wire.JobQuery{DueBefore: time.Now().Add(-olderThan), Limit: limit})
}

// DeadJobs lists a tenant's dead jobs, the job that died last first. Of the query, State does not matter.
func (a *Admin) DeadJobs(ctx context.Context, tenant spool.Tenant, q wire.JobQuery) ([]wire.QueuedJob, error) {
	q.Tenant, q.State = tenant, wire.JobDead
	return a.store.Jobs(ctx, q)
}

// PurgeJobs removes the dead jobs that DeadJobs lists for q, and returns how many it removed, also with
// an error. Of the query, only JobID, DiedBefore and Limit apply. The runs of the jobs stay as they are.
// Without a limit, PurgeJobs removes the jobs page by page, so that other transactions do not wait long.
func (a *Admin) PurgeJobs(ctx context.Context, tenant spool.Tenant, q wire.JobQuery) (int, error) {
	return a.remover.PurgeJobs(ctx, tenant, q)
}
