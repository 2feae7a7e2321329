package worker

import (
	"context"
	"slices"
	"time"

	"github.com/spoolhq/spool/wire"
)

const (
	// unclaimedAfter is how long a job has been due before a worker that lacks its agent warns about it:
	// another worker had time to take it. It is also the time between two warnings about an agent.
	unclaimedAfter = time.Minute
	// unclaimedEvery is how often a worker looks for such jobs.
	unclaimedEvery = 30 * time.Second
	// unclaimedTenants bounds the tenants whose jobs are read for warnings, and unclaimedJobs the jobs of
	// each.
	unclaimedTenants, unclaimedJobs = 20, 20
)

// unclaimed notes when the worker last looked for jobs that no worker takes, and when it last warned
// about each agent.
type unclaimed struct {
	looked time.Time
	warned map[string]time.Time
}

// warnUnclaimed logs a warning about each agent that this worker lacks and whose jobs nobody takes. It
// looks at the oldest jobs only.
func (w *worker) warnUnclaimed(ctx context.Context) {
	now := time.Now()
	if w.agents == nil || now.Sub(w.unclaimed.looked) < unclaimedEvery {
		return
	}
	w.unclaimed.looked = now
	stats, err := w.Store.Stats(ctx, wire.StatsQuery{Waiting: true, Queues: w.queues})
	if err != nil {
		return // the claims report a failing store
	}
	waiting := slices.DeleteFunc(stats.Waiting,
		func(t wire.WaitingTenant) bool { return now.Sub(t.DueAt) < unclaimedAfter })
	for _, t := range waiting[:min(len(waiting), unclaimedTenants)] {
		jobs, err := w.Store.Jobs(ctx, wire.JobQuery{
			Tenant: t.Tenant, State: wire.JobReady, DueBefore: now.Add(-unclaimedAfter), Limit: unclaimedJobs,
		})
		if err != nil {
			return
		}
		for _, j := range jobs {
			w.warnAbout(ctx, j)
		}
	}
}

// warnAbout logs a warning about a ready job if this worker would take it but for its agent.
func (w *worker) warnAbout(ctx context.Context, j wire.QueuedJob) {
	if j.Event() || slices.Contains(w.agents, j.Agent) || !slices.Contains(w.queues, j.Queue) {
		return
	}
	if last, ok := w.unclaimed.warned[j.Agent]; ok && w.unclaimed.looked.Sub(last) < unclaimedAfter {
		return
	}
	if w.unclaimed.warned == nil {
		w.unclaimed.warned = make(map[string]time.Time)
	}
	w.unclaimed.warned[j.Agent] = w.unclaimed.looked
	w.Log.WarnContext(ctx, "no worker takes the jobs of an agent that this worker lacks",
		"agent", j.Agent, "queue", j.Queue, "tenant", string(j.Tenant), "due", j.FirstDue)
}
