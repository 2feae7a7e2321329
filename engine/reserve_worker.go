package engine

import (
	"context"

	"github.com/spoolhq/spool/engine/internal/intake"
	"github.com/spoolhq/spool/engine/internal/slots"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/wire"
)

// reserveWorker reserves a worker of this process for the ticket of a run that is about to start, or returns nil.
func (e *parts) reserveWorker(ticket wire.Job) *intake.ReservedWorker {
	reserveWorker := e.runner.ClaimOnStart(ticket.Agent)
	if reserveWorker == nil {
		return nil
	}
	place := e.workers.Reserve(ticket)
	if place == nil {
		return nil
	}
	return &intake.ReservedWorker{
		Claim: reserveWorker, Release: place.Release,
		Execute: func(claimed *thread.ClaimedRun) {
			place.Execute(claimed.Job.Delivery(), func(ctx context.Context, _ wire.Job, in *slots.Slot) (wire.JobResult, error) {
				return e.runner.HandleClaimed(ctx, claimed, in)
			})
		},
	}
}
