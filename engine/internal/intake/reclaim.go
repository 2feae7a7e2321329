package intake

import (
	"context"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/change"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Reclaim expires the overdue parks of a parked run, and reports whether the run has no open park any
// more.
func (h *Handler) Reclaim(ctx context.Context, key spool.ThreadKey) (bool, error) {
	overdue, err := h.overdue(ctx, key)
	if !overdue || err != nil {
		return false, err
	}
	moved, err := change.Update(ctx, h.Threads, key, thread.Reclaim)
	switch {
	case errors.Is(err, thread.ErrUnchanged), record.Missing(err):
		return false, nil
	case err != nil:
		return false, err
	}
	h.Live.Wake(store.JobsTopic, store.WakeJobs, nil)
	return moved, nil
}

// overdue reports whether the thread is parked and has an overdue park. It only reads, because nearly
// every new connection calls it.
func (h *Handler) overdue(ctx context.Context, key spool.ThreadKey) (overdue bool, err error) {
	err = h.Store.View(ctx, key, func(v store.View) error {
		overdue = false
		thread, err := v.Thread()
		if err != nil || thread.State != wire.WaitingForInput {
			return err
		}
		parks, err := v.Parks(thread.RunID)
		for _, p := range parks {
			overdue = overdue || p.State == wire.ParkOpen && !v.Now().Before(p.ExpiresAt)
		}
		return err
	})
	if record.Missing(err) {
		return false, nil
	}
	return overdue, err
}
