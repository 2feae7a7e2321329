package engine

import (
	"context"

	"github.com/spoolhq/spool/engine/internal/intake"
	"github.com/spoolhq/spool/engine/internal/slots"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/wire"
)

// take reserves a worker of this process for the ticket of a run that is about to start, or returns nil.
func (e *parts) take(ticket wire.Job) *intake.Taking {
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
			place.Execute(taken.Job.Delivery(), func(ctx context.Context, _ wire.Job, in *slots.Slot) (wire.JobResult, error) {
				return e.runner.HandleTaken(ctx, taken, in)
			})
		},
	}
}
