package engine

import (
	"context"
	"time"

	"github.com/spoolhq/spool"
)

// Overview sums up what a tenant has. Its parts are read one after another, so that what
// moves meanwhile may be in two of them or in none.
func (a *Admin) Overview(ctx context.Context, tenant spool.Tenant) (Overview, error) {
	return a.reader.Overview(ctx, tenant)
}

// Runs lists a tenant's runs across its threads, the last made first.
func (a *Admin) Runs(ctx context.Context, tenant spool.Tenant, q spool.RunQuery) ([]spool.Run, error) {
	return a.store.Runs(ctx, tenant, q)
}

// Jobs lists a tenant's jobs that are not dead, the one that has been due longest first. It
// returns an [spool.Invalid] error for an engine without a queue.
func (a *Admin) Jobs(ctx context.Context, tenant spool.Tenant, q spool.JobQuery) ([]spool.QueuedJob, error) {
	if a.queue == nil {
		return nil, errNoQueue
	}
	return a.queue.Jobs(ctx, tenant, q)
}

// StuckJobs lists the jobs that have been due for longer than the given time and are not
// done: those that nobody takes, that no worker has the agent for, that fail again and
// again, and those whose tool or model call does not come back. A call that is meant to take
// as long is among them too.
func (a *Admin) StuckJobs(ctx context.Context, tenant spool.Tenant, olderThan time.Duration, limit int) ([]spool.QueuedJob, error) {
	return a.Jobs(ctx, tenant, spool.JobQuery{DueBefore: time.Now().Add(-olderThan), Limit: limit})
}

// DeadJobs lists a tenant's dead jobs, the one that died last first. It returns an
// [spool.Invalid] error for an engine without a queue.
func (a *Admin) DeadJobs(ctx context.Context, tenant spool.Tenant, q spool.DeadQuery) ([]spool.DeadJob, error) {
	if a.queue == nil {
		return nil, errNoQueue
	}
	return a.queue.Dead(ctx, tenant, q)
}

// PurgeJobs removes the dead jobs that DeadJobs lists for q, and returns how many those
// were, also with an error. Their runs stay as they are. Without a limit it goes by pages,
// so that nobody waits for it long.
func (a *Admin) PurgeJobs(ctx context.Context, tenant spool.Tenant, q spool.DeadQuery) (int, error) {
	if a.queue == nil {
		return 0, errNoQueue
	}
	return a.remover.PurgeJobs(ctx, tenant, q)
}

var errNoQueue = spool.Errorf(spool.Invalid, "Backend.Queue is required to see jobs")
