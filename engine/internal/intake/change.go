package intake

import (
	"context"
	"maps"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/actor"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/toolresult"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Change changes the title, owner and labels of a thread, and returns the thread.
func (h *Handler) Change(ctx context.Context, key spool.ThreadKey, c wire.ThreadChange) (wire.Thread, error) {
	var thread wire.Thread
	var audited []*wire.AuditEntry
	if c.Title != nil {
		if err := wire.CheckTitle(*c.Title); err != nil {
			return thread, err
		}
		if *c.Title == "" {
			return thread, spool.Errorf(spool.Invalid, "title is empty")
		}
	}
	err := h.Store.Update(ctx, key, 0, func(tx store.Tx) error {
		before, err := tx.Thread()
		if err != nil {
			return err
		}
		after, err := applied(before, c)
		if err != nil {
			return err
		}
		if err := tx.Write(store.Changes{Thread: &after}); err != nil {
			return err
		}
		audited = nil
		if after.Owner != before.Owner {
			audited = append(audited, &wire.AuditEntry{
				Action: wire.AuditOwner, ThreadID: key.ID, Detail: toolresult.JSON(ownerChange{before.Owner, after.Owner}),
			})
		}
		if thread, err = tx.Thread(); err != nil {
			return err
		}
		return actor.Audit(ctx, tx, key.Tenant, audited...)
	})
	if err != nil {
		return wire.Thread{}, record.NotFound(err)
	}
	actor.Log(ctx, h.Log, audited...)
	if len(audited) > 0 {
		h.Live.Wake(key, store.WakeOwner, nil)
	}
	return thread, nil
}

// ownerChange is the detail about a new owner in the audit log.
type ownerChange struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// applied returns the thread with the change applied.
func applied(t wire.Thread, c wire.ThreadChange) (wire.Thread, error) {
	if c.Title != nil {
		t.Title = *c.Title
	}
	if c.Owner != nil {
		t.Owner = *c.Owner
	}
	if len(c.Labels) == 0 {
		return t, nil
	}
	labels := maps.Clone(t.Labels)
	if labels == nil {
		labels = make(map[string]string)
	}
	for key, value := range c.Labels {
		if value == nil {
			delete(labels, key)
			continue
		}
		labels[key] = *value
	}
	t.Labels = labels
	return t, wire.CheckLabels(labels)
}
