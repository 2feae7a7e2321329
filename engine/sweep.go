package engine

import (
	"context"
	"errors"

	"github.com/spoolhq/spool/engine/internal/change"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// sweepPage bounds the number of stranded threads in one sweep.
const sweepPage = 500

// Sweep enqueues a job for each active run that has neither a worker nor a job. So no run stays QUEUED,
// RUNNING or parked for ever, even if jobs were lost. Workers sweep by themselves. Any number of
// processes may sweep at once.
func (a *Admin) Sweep(ctx context.Context) (wire.SweepReport, error) {
	var report wire.SweepReport
	stranded, err := a.store.Threads(ctx, wire.ThreadQuery{Work: wire.ThreadsStranded, Limit: sweepPage})
	if err != nil {
		return report, err
	}
	for _, t := range stranded {
		key := t.Key()
		report.Checked++
		_, err := change.Update(ctx, a.threads, key,
			func(tx *thread.Tx) (struct{}, error) { return struct{}{}, thread.Redispatch(tx) })
		switch {
		case err == nil:
			report.Redispatched++
			a.threads.Live.Wake(store.JobsTopic, store.WakeJobs, nil)
		case errors.Is(err, thread.ErrUnchanged), record.Missing(err):
		default:
			report.Errors++
			a.threads.Concerning(key, "").WarnContext(ctx, "redispatch run", "error", err)
		}
	}
	return report, ctx.Err()
}
