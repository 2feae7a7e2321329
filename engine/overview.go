package engine

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/spoolhq/spool"
)

// overviewActive is how many active runs an overview lists.
const overviewActive = 50

// Overview sums up what a tenant has. Its parts are read one after another, so that what
// moves meanwhile may be in two of them or in none.
func (e *Engine) Overview(ctx context.Context, tenant spool.Tenant) (Overview, error) {
	o := Overview{Tenant: tenant, Active: []spool.Run{}}
	tally, err := e.store.Tally(ctx, tenant)
	if err != nil {
		return o, err
	}
	o.Threads, o.RunsByState, o.Tokens = tally.Threads, tally.Runs, tally.Tokens
	o.Bytes, o.BytesLimit = tally.Bytes, e.config.MaxTenantBytes
	for _, n := range tally.Runs {
		o.Runs += n
	}
	if e.queue != nil {
		if o.Queue, err = e.queue.Stats(ctx, tenant); err != nil {
			return o, err
		}
	}
	for _, state := range spool.States() {
		if !state.Active() {
			continue
		}
		runs, err := e.store.Runs(ctx, tenant, spool.RunQuery{State: state, Limit: overviewActive})
		if err != nil {
			return o, err
		}
		o.Active = append(o.Active, runs...)
	}
	slices.SortFunc(o.Active, func(a, b spool.Run) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID))
	})
	o.Active = o.Active[:min(len(o.Active), overviewActive)]
	return o, nil
}

// Runs lists a tenant's runs across its threads, the last made first.
func (e *Engine) Runs(ctx context.Context, tenant spool.Tenant, q spool.RunQuery) ([]spool.Run, error) {
	return e.store.Runs(ctx, tenant, q)
}

// Jobs lists a tenant's jobs that are not dead, the one that has been due longest first. It
// returns an [spool.Invalid] error for an engine without a queue.
func (e *Engine) Jobs(ctx context.Context, tenant spool.Tenant, q spool.JobQuery) ([]spool.QueuedJob, error) {
	if e.queue == nil {
		return nil, errNoQueue
	}
	return e.queue.Jobs(ctx, tenant, q)
}

// StuckJobs lists the jobs that have been due for longer than the given time and are not
// done: those that nobody takes, that no worker has the agent for, that fail again and
// again, and those whose tool or model call does not come back. A call that is meant to take
// as long is among them too.
func (e *Engine) StuckJobs(ctx context.Context, tenant spool.Tenant, olderThan time.Duration, limit int) ([]spool.QueuedJob, error) {
	return e.Jobs(ctx, tenant, spool.JobQuery{DueBefore: time.Now().Add(-olderThan), Limit: limit})
}

// DeadJobs lists a tenant's dead jobs, the one that died last first. It returns an
// [spool.Invalid] error for an engine without a queue.
func (e *Engine) DeadJobs(ctx context.Context, tenant spool.Tenant, q spool.DeadQuery) ([]spool.DeadJob, error) {
	if e.queue == nil {
		return nil, errNoQueue
	}
	return e.queue.Dead(ctx, tenant, q)
}

// PurgeJobs removes the dead jobs that DeadJobs lists for q, and returns how many those
// were, also with an error. Their runs stay as they are. Without a limit it goes by pages,
// so that nobody waits for it long.
func (e *Engine) PurgeJobs(ctx context.Context, tenant spool.Tenant, q spool.DeadQuery) (int, error) {
	if e.queue == nil {
		return 0, errNoQueue
	}
	if q.JobID != 0 { // nothing is purged where there is nothing
		dead, err := e.queue.Dead(ctx, tenant, spool.DeadQuery{JobID: q.JobID})
		if err != nil || len(dead) == 0 {
			return 0, err
		}
	}
	// The queue has a transaction of its own. An entry about a purge that then failed does less
	// harm than a purge without an entry.
	if err := e.AppendAudit(ctx, tenant, purgeEntry(q)); err != nil {
		return 0, err
	}
	if q.Limit > 0 {
		return e.queue.Purge(ctx, tenant, q)
	}
	q.Limit = prunePage
	for gone := 0; ; {
		n, err := e.queue.Purge(ctx, tenant, q)
		gone += n
		if err != nil || n < q.Limit {
			return gone, err
		}
	}
}

var errNoQueue = spool.Errorf(spool.Invalid, "Backend.Queue is required to see jobs")
