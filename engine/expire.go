package engine

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/spoolhq/spool"
)

// expire is the compare-and-set that sees to the open parks whose time has come: they are
// warned of, get more time, or end. It returns how many the run still waits for, which is
// none as soon as one of them fails the run.
func (e *Engine) expire(h *held) (open int, err error) {
	parks, err := h.parks()
	if err != nil {
		return 0, err
	}
	failed := false
	for _, p := range parks {
		if p.State == spool.ParkOpen {
			if err := e.expirePark(h, &p); err != nil {
				return 0, err
			}
		}
		if p.State == spool.ParkOpen {
			open++
		}
		failed = failed || failsRun(p)
	}
	if failed {
		return 0, nil
	}
	return open, nil
}

// expirePark does with an open park what its time asks for, if anything.
func (e *Engine) expirePark(h *held, p *spool.Park) error {
	extended := false
	entry := spool.NewEntry(spool.EntryInputExpired, h.run.ID, spool.InputExpired{ToolCallID: p.ToolCallID, OnExpiry: onExpiry(*p)})
	switch warn := warnAt(*p); {
	case h.now.Before(p.ExpiresAt) && (warn.IsZero() || h.now.Before(warn)):
		return nil
	case h.now.Before(p.ExpiresAt):
		p.Warned = true
		entry = spool.NewEntry(spool.EntryInputExpiring, h.run.ID, spool.InputExpiring{
			ToolCallID: p.ToolCallID, ExpiresAt: p.ExpiresAt, OnExpiry: onExpiry(*p),
		})
	case p.Expiry.Then == spool.ExpireExtend && p.Expiry.Extensions > 0:
		p.Expiry.Extensions--
		p.ExpiresAt, p.Warned, extended = h.now.Add(p.Expiry.TTL), false, true
		if p.Expiry.Extensions == 0 {
			p.Expiry.Then = spool.ExpireDeny
		}
		entry = spool.NewEntry(spool.EntryInputExtended, h.run.ID, spool.InputExtended{
			ToolCallID: p.ToolCallID, ExpiresAt: p.ExpiresAt, OnExpiry: onExpiry(*p),
		})
	default:
		p.State = spool.ParkExpired
	}
	if err := h.PutPark(*p); err != nil {
		return err
	}
	if err := h.CancelJob(expiryKey(*p)); err != nil {
		return err
	}
	if p.State == spool.ParkOpen {
		if err := h.Enqueue(h.expiryJob(*p)); err != nil {
			return err
		}
	}
	if err := h.AppendEntries(entry); err != nil || !extended {
		return err
	}
	return e.askAgain(h, *p)
}

// askAgain repeats the question of a park that has got more time, for clients that do not
// know what an INPUT_EXTENDED is.
func (e *Engine) askAgain(h *held, p spool.Park) error {
	required, err := e.inputRequired(h, p)
	if err != nil {
		return err
	}
	return h.AppendEntries(spool.NewEntry(spool.EntryInputRequired, h.run.ID, required))
}

// failsRun reports whether the run ends because nobody has answered the park.
func failsRun(p spool.Park) bool {
	return p.State == spool.ParkExpired && p.Expiry.Then == spool.ExpireFail
}

// endUnanswered ends a run with a park that nobody has answered and that asks for it.
func (e *Engine) endUnanswered(h *held, c *claimed) (ended bool, err error) {
	parks, err := h.parks()
	if err != nil {
		return false, err
	}
	for _, p := range parks {
		if failsRun(p) {
			c.reason = "nobody has answered in time"
			c.segment, err = e.endUnheld(h, spool.Ending{
				State: spool.Failed, Reason: spool.StopFailed, Error: "nobody answered the call of " + p.ToolName + " in time",
			})
			c.settle = c.segment != nil
			return true, err
		}
	}
	return false, nil
}

// expiredResult is what the model reads of a call that nobody has answered for.
func expiredResult(p spool.Park) json.RawMessage {
	if p.Reason == spool.ParkOutcomeUnknown {
		return errorObject("the worker died during this call; whether it took effect is not known")
	}
	return json.RawMessage(`{"responded":false,"cancelled":true,"reason":"timeout"}`)
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
