package deliver

import (
	"context"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/actor"
	"github.com/spoolhq/spool/engine/internal/endpoint"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

const (
	// deadPage is how many dead events are read at once, and maxReplay how many one replay puts back.
	deadPage  = 100
	maxReplay = 5000
	// pruneEvery is how often dead events that are too old are removed.
	pruneEvery = time.Hour
)

// Dead lists dead events of an endpoint, the last one first. Of the query, Limit, Before and BeforeID count.
func (d *Deliverer) Dead(
	ctx context.Context, tenant spool.Tenant, name string, q wire.JobQuery,
) ([]wire.WebhookDead, error) {
	jobs, err := d.Store.Jobs(ctx, wire.JobQuery{
		Tenant: tenant, State: wire.JobDead, Queue: new(endpoint.Queue), Subject: name, Limit: q.Limit, Before: q.Before,
		BeforeID: q.BeforeID,
	})
	if err != nil {
		return nil, err
	}
	all := make([]wire.WebhookDead, len(jobs))
	for i, j := range jobs {
		_, e, _ := endpoint.Decode(j.Payload) // one that cannot be read is listed too
		all[i] = wire.WebhookDead{
			EventID: e.ID, Type: e.Type, Timestamp: e.Timestamp, ThreadID: j.ThreadID, RunID: e.Data.RunID,
			Attempts: j.Attempts, Cause: j.Cause, DiedAt: j.DiedAt, JobID: j.JobID,
		}
	}
	return all, nil
}

// Replay puts dead events of an endpoint back, with the same ids and bodies. It returns a [spool.NotFound] error for an
// endpoint that is not known and for an event that is not dead, and a [spool.Conflict] error for an endpoint that is
// disabled. Each transaction has the events of one thread on one page.
func (d *Deliverer) Replay(
	ctx context.Context, tenant spool.Tenant, name string, r wire.WebhookReplay,
) (done wire.WebhookReplayed, err error) {
	if err = r.Check(); err != nil {
		return done, err
	}
	switch e, err := d.Endpoints.Find(ctx, tenant, name); {
	case err != nil:
		return done, err
	case !e.DisabledAt.IsZero():
		return done, spool.Errorf(spool.Conflict, "the endpoint is disabled: enable it first")
	}
	defer func() {
		if done.Events > 0 {
			d.Live.Wake(store.EventsTopic, store.WakeJobs, nil)
		}
	}()
	q := wire.JobQuery{
		Tenant: tenant, State: wire.JobDead, Queue: new(endpoint.Queue), Subject: name, Limit: deadPage,
	}
	for {
		jobs, err := d.Store.Jobs(ctx, q)
		if err != nil {
			return done, err
		}
		chosen, last := choose(jobs, r)
		n, err := d.putBack(ctx, tenant, chosen)
		done.Events += n
		switch {
		case err != nil:
			return done, err
		case r.EventID != "" && done.Events > 0:
			return done, nil
		case last || len(jobs) < deadPage:
			if r.EventID != "" {
				err = spool.Errorf(spool.NotFound, "Dead event not found")
			}
			return done, err
		case done.Events >= maxReplay:
			done.More = true
			return done, nil
		}
		q.Before, q.BeforeID = jobs[len(jobs)-1].DiedAt, jobs[len(jobs)-1].JobID
	}
}

// choose returns the jobs of a page that a replay asks for, and whether later pages have none.
func choose(jobs []wire.QueuedJob, r wire.WebhookReplay) (chosen []wire.QueuedJob, last bool) {
	for _, j := range jobs {
		if r.EventID == "" {
			if j.DiedAt.Before(r.Since) {
				return chosen, true
			}
			chosen = append(chosen, j)
			continue
		}
		if _, e, err := endpoint.Decode(j.Payload); err == nil && e.ID == r.EventID {
			return []wire.QueuedJob{j}, true
		}
	}
	return chosen, false
}

// putBack queues dead events again, the oldest first, and returns how many. Those that somebody else has put back or
// removed meanwhile do not count.
func (d *Deliverer) putBack(ctx context.Context, tenant spool.Tenant, jobs []wire.QueuedJob) (n int, err error) {
	byThread := make(map[spool.ThreadID][]wire.QueuedJob)
	var threads []spool.ThreadID
	for _, j := range slices.Backward(jobs) {
		if byThread[j.ThreadID] == nil {
			threads = append(threads, j.ThreadID)
		}
		byThread[j.ThreadID] = append(byThread[j.ThreadID], j)
	}
	for _, id := range threads {
		all := byThread[id]
		err := d.redrive(ctx, tenant, all)
		if spool.CodeOf(err) != spool.NotFound {
			if err != nil {
				return n, err
			}
			n += len(all)
			continue
		}
		for _, j := range all {
			switch err := d.redrive(ctx, tenant, []wire.QueuedJob{j}); {
			case err == nil:
				n++
			case spool.CodeOf(err) != spool.NotFound:
				return n, err
			}
		}
	}
	return n, nil
}

// redrive queues dead events of one thread again, all or none. The thread may be gone.
func (d *Deliverer) redrive(ctx context.Context, tenant spool.Tenant, jobs []wire.QueuedJob) error {
	var c store.Changes
	var entries []*wire.AuditEntry
	for _, j := range jobs {
		again := j.Job
		again.DueAt = time.Time{}
		c.Jobs, c.TakeDead = append(c.Jobs, again), append(c.TakeDead, j.JobID)
		entries = append(entries, &wire.AuditEntry{Action: wire.AuditRedrive, ThreadID: j.ThreadID, JobID: j.JobID})
	}
	err := d.Store.Update(ctx, spool.ThreadKey{Tenant: tenant, ID: jobs[0].ThreadID}, 0, func(tx store.Tx) error {
		if err := tx.Write(c); err != nil {
			return err
		}
		return actor.Audit(ctx, tx, tenant, entries...)
	})
	if err == nil {
		actor.Log(ctx, d.Log, entries...)
	}
	return err
}

// pruneAll removes dead events that are too old, until ctx ends.
func (d *Deliverer) pruneAll(ctx context.Context) {
	tick := time.NewTicker(pruneEvery)
	defer tick.Stop()
	for {
		if err := d.prune(ctx); err != nil && ctx.Err() == nil {
			d.Log.WarnContext(ctx, "remove dead events of webhooks", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (d *Deliverer) prune(ctx context.Context) error {
	tenants, err := d.haveDead(ctx)
	if err != nil {
		return err
	}
	for _, tenant := range tenants {
		q := wire.JobQuery{
			Tenant: tenant, State: wire.JobDead, Queue: new(endpoint.Queue), DiedBefore: time.Now().Add(-d.Keep),
			Limit: deadPage,
		}
		for {
			jobs, err := d.Store.Jobs(ctx, q)
			if err != nil {
				return err
			}
			for _, j := range jobs {
				prune := store.PruneQuery{Kind: store.PruneDead, Tenant: tenant, JobID: j.JobID, Limit: 1}
				if _, err := d.Store.Prune(ctx, prune); err != nil {
					return err
				}
			}
			if len(jobs) < deadPage {
				break
			}
		}
	}
	return nil
}
