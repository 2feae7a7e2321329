package engine

import (
	"context"
	"time"

	"github.com/spoolhq/spool"
)

// Overview counts a tenant's threads, runs and jobs. It reads them one after another: a run that
// changes meanwhile may be in two of the counts or in none.
func (a *Admin) Overview(ctx context.Context, tenant spool.Tenant) (Overview, error) {
	return a.reader.Overview(ctx, tenant)
}

// Runs lists a tenant's runs across its threads, the newest first.
func (a *Admin) Runs(ctx context.Context, tenant spool.Tenant, q spool.RunQuery) ([]spool.Run, error) {
	return a.store.Runs(ctx, tenant, q)
}

// Jobs lists a tenant's jobs that are not dead, the job that has been due longest first. It returns an
// [spool.Invalid] error if the engine has no queue.
func (a *Admin) Jobs(ctx context.Context, tenant spool.Tenant, q spool.JobQuery) ([]spool.QueuedJob, error) {
	if a.queue == nil {
		return nil, errNoQueue
	}
	return a.queue.Jobs(ctx, tenant, q)
}

// StuckJobs lists the jobs that have been due for longer than olderThan and are not done. Either no
// worker takes them or has their agent, or they fail again and again, or their tool or model call does
// not return. A call that takes so long by design is listed too.
func (a *Admin) StuckJobs(ctx context.Context, tenant spool.Tenant, olderThan time.Duration, limit int) ([]spool.QueuedJob, error) {
	return a.Jobs(ctx, tenant, spool.JobQuery{DueBefore: time.Now().Add(-olderThan), Limit: limit})
}

// DeadJobs lists a tenant's dead jobs, the job that died last first. It returns an [spool.Invalid]
// error if the engine has no queue.
func (a *Admin) DeadJobs(ctx context.Context, tenant spool.Tenant, q spool.DeadQuery) ([]spool.DeadJob, error) {
	if a.queue == nil {
		return nil, errNoQueue
	}
	return a.queue.Dead(ctx, tenant, q)
}

// PurgeJobs removes the dead jobs that DeadJobs lists for q, and returns how many it removed, also with
// an error. Their runs stay as they are. Without a limit, it removes the jobs page by page, so that
// other transactions do not wait long.
func (a *Admin) PurgeJobs(ctx context.Context, tenant spool.Tenant, q spool.DeadQuery) (int, error) {
	if a.queue == nil {
		return 0, errNoQueue
	}
	return a.remover.PurgeJobs(ctx, tenant, q)
}

var errNoQueue = spool.Errorf(spool.Invalid, "Backend.Queue is required to see jobs")
