package engine

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/intake"
	"github.com/spoolhq/spool/engine/internal/slots"
	"github.com/spoolhq/spool/engine/internal/thread"
)

// take reserves a worker of this process for the ticket of a run that is about to start, or returns nil.
func (e *parts) take(ticket spool.Job) *intake.Taking {
	take := e.runner.Take(ticket.Agent)
	if take == nil {
		return nil
	}
	place := e.workers.Reserve(ticket)
	if place == nil {
		return nil
	}
	return &intake.Taking{
		Take: take, Release: place.Release,
		Execute: func(taken *thread.Taken) {
			place.Execute(taken.Job.Delivery(), func(ctx context.Context, _ spool.Job, in *slots.Slot) (spool.JobResult, error) {
				return e.runner.HandleTaken(ctx, taken, in)
			})
		},
	}
}
