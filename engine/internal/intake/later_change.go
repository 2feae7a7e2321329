package intake

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/actor"
	"github.com/spoolhq/spool/engine/internal/later"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/right"
	"github.com/spoolhq/spool/engine/internal/toolresult"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

var errNoDelayed = spool.Errorf(spool.NotFound, "Delayed start not found")

// Delayed lists the delayed starts that the actor may see.
func (h *Handler) Delayed(ctx context.Context, q wire.DelayedQuery) ([]wire.DelayedStart, error) {
	list, err := h.later().List(ctx, q, func(s later.Start) bool { return mayChange(actor.Of(ctx), s) })
	out := make([]wire.DelayedStart, len(list))
	for i, s := range list {
		out[i] = s.DelayedStart
	}
	return out, err
}

// DelayedStart returns a delayed start that the actor may see, or a [spool.NotFound] error.
func (h *Handler) DelayedStart(
	ctx context.Context, tenant spool.Tenant, run spool.RunID,
) (wire.DelayedStart, error) {
	s, err := h.find(ctx, tenant, run)
	return s.DelayedStart, err
}

// find returns a delayed start that the actor may see and change.
func (h *Handler) find(ctx context.Context, tenant spool.Tenant, run spool.RunID) (later.Start, error) {
	if err := spool.CheckID("runId", string(run)); err != nil {
		return later.Start{}, err
	}
	s, err := h.later().Find(ctx, tenant, run)
	if err == nil && !mayChange(actor.Of(ctx), s) {
		return later.Start{}, errNoDelayed
	}
	return s, err
}

// mayChange reports whether the actor may see and change a delayed start.
func mayChange(a wire.Actor, s later.Start) bool {
	return !a.OwnOnly || a.Subject != "" && a.Subject == s.StartedBy
}

// timeChange is the detail about a moved start in the audit log.
type timeChange struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// MoveDelayed gives a delayed start another time.
func (h *Handler) MoveDelayed(
	ctx context.Context, tenant spool.Tenant, run spool.RunID, at time.Time,
) (moved wire.DelayedStart, err error) {
	if at.IsZero() {
		return wire.DelayedStart{}, spool.Errorf(spool.Invalid, "startAt is required")
	}
	if err := checkStartAt(at); err != nil {
		return wire.DelayedStart{}, err
	}
	if now := time.Now(); at.Before(now) {
		at = now
	}
	at = at.UTC()
	everything := actor.Of(ctx)
	everything.OwnOnly = false // the start is the actor's, and the thread may be somebody else's now
	err = h.changeDelayed(ctx, tenant, run, func(s later.Start) (*wire.AuditEntry, error) {
		ctx := actor.With(ctx, everything)
		asked, err := h.later().Asked(ctx, tenant, run)
		switch {
		case record.Missing(err): // it has become a run: the write says so
		case err != nil:
			return nil, err
		case asked.Request.Maker != nil:
			if err := right.CheckDue(*asked.Request.Maker, at); err != nil {
				return nil, err
			}
		}
		entry := delayedEntry(wire.AuditMoveStart, s, toolresult.JSON(timeChange{s.StartAt, at}))
		after, err := h.later().Move(ctx, s, at, func(tx store.Tx) error { return actor.Audit(ctx, tx, tenant, entry) })
		moved = after.DelayedStart
		return entry, err
	})
	if err == nil {
		h.Live.Wake(store.EventsTopic, store.WakeJobs, nil)
	}
	return moved, err
}

// CancelDelayed removes a delayed start, and returns it.
func (h *Handler) CancelDelayed(
	ctx context.Context, tenant spool.Tenant, run spool.RunID,
) (gone wire.DelayedStart, err error) {
	err = h.changeDelayed(ctx, tenant, run, func(s later.Start) (*wire.AuditEntry, error) {
		entry := delayedEntry(wire.AuditCancelStart, s, nil)
		gone = s.DelayedStart
		return entry, h.Store.Update(ctx, spool.ThreadKey{Tenant: tenant}, 0, func(tx store.Tx) error {
			if err := tx.Write(s.Remove()); err != nil {
				return err
			}
			return actor.Audit(ctx, tx, tenant, entry)
		})
	})
	return gone, err
}

func delayedEntry(action wire.AuditAction, s later.Start, detail json.RawMessage) *wire.AuditEntry {
	return &wire.AuditEntry{Action: action, ThreadID: s.ThreadID, RunID: s.RunID, Detail: detail}
}

// maxTries is how often a change is tried while others change the same delayed start.
const maxTries = 5

// changeDelayed changes a delayed start as it is at that time, whoever else changes it or starts its run.
func (h *Handler) changeDelayed(
	ctx context.Context, tenant spool.Tenant, run spool.RunID,
	change func(s later.Start) (*wire.AuditEntry, error),
) error {
	for try := 1; ; try++ {
		s, err := h.find(ctx, tenant, run)
		if err != nil {
			return err
		}
		entry, err := change(s)
		switch {
		case err == nil:
			actor.Log(ctx, h.Log, entry)
			return nil
		case !errors.Is(err, store.ErrRowChanged) || try == maxTries:
			return err
		}
	}
}
