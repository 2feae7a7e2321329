package worker

import (
	"context"
	"sync"

	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// A wake-up may tell of a ticket before it is committed. Then a worker that would be the next to claim it claims the
// run itself, in one transaction with its ticket: that transaction waits for the thread until the other one is over.
// All other workers leave the ticket to the wake-up that follows the commit.

// told counts the claims of tickets that the worker was told of. A wake-up during one of them makes the worker poll
// when the claim has ended: before, the poll would find the same ticket.
type told struct {
	mu    sync.Mutex
	under int
	woken bool
}

// begin notes the begin of a claim.
func (t *told) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.under++
}

// end notes the end of a claim, and reports whether the worker has to poll.
func (t *told) end() (poll bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.under--
	poll, t.woken = t.woken, false
	return poll
}

// defers reports whether a poll has to wait for the end of a claim.
func (t *told) defers() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.woken = t.under > 0
	return t.woken
}

// woken handles a wake-up of the queue.
func (w *worker) woken(ctx context.Context, notice []byte) {
	if notice != nil {
		if ticket, ok := store.NoticedTicket(notice); ok {
			w.claimTold(ctx, ticket)
		}
		return
	}
	w.demand.wake()
	if !w.told.defers() {
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
	w.told.begin()
	go func() {
		d, handle, err := w.ClaimTicket(ctx, ticket)
		poll := w.told.end()
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
