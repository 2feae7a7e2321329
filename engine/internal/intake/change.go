package intake

import (
	"context"
	"maps"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/actor"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/toolresult"
)

// Change changes the title, owner and labels of a thread, and returns the thread.
func (h *Handler) Change(ctx context.Context, key spool.ThreadKey, c spool.ThreadChange) (spool.Thread, error) {
	var thread spool.Thread
	var audited []*spool.AuditEntry
	if c.Title != nil {
		if err := spool.CheckTitle(*c.Title); err != nil {
			return thread, err
		}
		if *c.Title == "" {
			return thread, spool.Errorf(spool.Invalid, "title is empty")
		}
	}
	err := h.Store.Update(ctx, key, 0, func(tx spool.Tx) error {
		before, err := tx.Thread()
		if err != nil {
			return err
		}
		after, err := applied(before, c)
		if err != nil {
			return err
		}
		if err := tx.Write(spool.Changes{Thread: &after}); err != nil {
			return err
		}
		audited = nil
		if after.Owner != before.Owner {
			audited = append(audited, &spool.AuditEntry{
				Action: spool.AuditOwner, ThreadID: key.ID, Detail: toolresult.JSON(ownerChange{before.Owner, after.Owner}),
			})
		}
		if thread, err = tx.Thread(); err != nil {
			return err
		}
		return actor.Audit(ctx, tx, key.Tenant, audited...)
	})
	if err != nil {
		return spool.Thread{}, record.NotFound(err)
	}
	actor.Log(ctx, h.Log, audited...)
	if len(audited) > 0 {
		h.Live.Wake(key, spool.WakeOwner, nil)
	}
	return thread, nil
}

// ownerChange is the detail about a new owner in the audit log.
type ownerChange struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// applied returns the thread with the change applied.
func applied(t spool.Thread, c spool.ThreadChange) (spool.Thread, error) {
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
	return t, spool.CheckLabels(labels)
}
