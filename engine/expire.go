package engine

import (
	"context"
	"errors"

	"github.com/spoolhq/spool"
)

// expire is the compare-and-set that ends the open parks whose time has passed. It
// returns how many stay open.
func (e *Engine) expire(h *held) (open int, err error) {
	parks, err := h.parks()
	if err != nil {
		return 0, err
	}
	for _, p := range parks {
		if p.State != spool.ParkOpen {
			continue
		}
		if h.now.Before(p.ExpiresAt) {
			open++
			continue
		}
		p.State = spool.ParkExpired
		if err := h.PutPark(p); err != nil {
			return 0, err
		}
		if err := h.CancelJob(expiryKey(p)); err != nil {
			return 0, err
		}
		entry := spool.NewEntry(spool.EntryInputExpired, h.run.ID, spool.InputExpired{ToolCallID: p.ToolCallID})
		if err := h.AppendEntries(entry); err != nil {
			return 0, err
		}
	}
	return open, nil
}

// ReclaimIfOrphaned moves a parked run on whose time to be answered has passed, and
// reports whether it did. The expiry's own job does the same; a host calls this once for
// each connection in case its queue has lost or ignored the delay. A thread that does
// not exist, or is not parked, is left alone.
func (e *Engine) ReclaimIfOrphaned(ctx context.Context, key spool.ThreadKey) (bool, error) {
	overdue, err := e.overdue(ctx, key)
	if !overdue || err != nil {
		return false, err
	}
	moved := false
	err = e.change(ctx, key, func(h *held) error {
		moved = false
		if h.run.State != spool.WaitingForInput || h.run.Ending != nil {
			return errUnchanged
		}
		open, err := e.expire(h)
		if err != nil {
			return err
		}
		if open == 0 {
			moved = true
			return h.Enqueue(h.ticket(spool.JobResume, 0))
		}
		return nil
	})
	switch {
	case errors.Is(err, errUnchanged), missing(err):
		return false, nil
	case err != nil:
		return false, err
	}
	e.bus.Wake(spool.JobsTopic, spool.WakeJobs)
	return moved, nil
}

// overdue reports whether the thread is parked and has a park whose time has passed. It
// only reads, as nearly every connection asks for nothing.
func (e *Engine) overdue(ctx context.Context, key spool.ThreadKey) (overdue bool, err error) {
	err = e.store.View(ctx, key, func(v spool.View) error {
		overdue = false
		thread, err := v.Thread()
		if err != nil || thread.State != spool.WaitingForInput {
			return err
		}
		parks, err := v.Parks(thread.RunID)
		for _, p := range parks {
			overdue = overdue || p.State == spool.ParkOpen && !v.Now().Before(p.ExpiresAt)
		}
		return err
	})
	if missing(err) {
		return false, nil
	}
	return overdue, err
}
