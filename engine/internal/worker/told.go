package worker

import (
	"context"

	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// A wake-up may tell of a ticket before it is committed. Then a worker that would be the next to claim it claims the
// run itself, in one transaction with its ticket: that transaction waits for the thread until the other one is over.
// All other workers leave the ticket to the wake-up that follows the commit.

// woken handles a wake-up of the queue.
func (w *worker) woken(ctx context.Context, notice []byte) {
	if notice != nil {
		if ticket, ok := store.NoticedTicket(notice); ok {
			w.claimTold(ctx, ticket)
		}
		return
	}
	if w.demand.woken() {
		w.pollNow()
	}
}

// claimTold claims a ticket in a goroutine of the worker, if it would claim it before any other job.
func (w *worker) claimTold(ctx context.Context, ticket wire.Job) {
	switch ticket.Kind {
	case wire.JobStart, wire.JobRetry, wire.JobResume, wire.JobHandBack, wire.JobReclaim:
	default:
		return
	}
	place := w.Workers.reserveIn(w, ticket)
	if place == nil {
		return
	}
	w.demand.claimingTold()
	go func() {
		d, handle, err := w.ClaimTicket(ctx, ticket)
		poll := w.demand.claimedTold()
		switch {
		case handle != nil:
			place.Execute(d, handle)
			if poll {
				w.pollNow()
			}
			return
		case err != nil && ctx.Err() == nil:
			w.Log.WarnContext(ctx, "claim a ticket", "error", err)
		}
		place.Release() // it polls
	}()
}
