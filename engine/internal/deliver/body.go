package deliver

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/webhook"
)

const (
	// bodyKind is the kind of the rows of rendered bodies.
	bodyKind = "webhook_body"
	// bodyExtra is how much longer than dead events bodies are kept: longer than all attempts take.
	bodyExtra = 10 * 24 * time.Hour
)

// bodyKey returns the key of the body of an event for an endpoint.
func bodyKey(subject, event string) string { return subject + "/" + event }

// rendered reports whether the body is not the event itself.
func (a *attempt) rendered() bool { return a.to.Form != "" && a.to.Form != string(webhook.Plain) }

// body returns the body of an event. The first attempt renders it and stores it, and all others send those bytes.
func (d *Deliverer) body(ctx context.Context, a *attempt) (webhook.Body, error) {
	if !a.rendered() {
		body, err := a.to.Render.Render(a.payload.Event)
		if err != nil {
			err = dead(spool.MessageOf(err))
		}
		return body, err
	}
	stored, row, err := d.storedBody(ctx, a)
	switch {
	case err != nil:
		return stored, d.troubled(ctx, a, "read the body of a webhook event", err)
	case row.Version != 0 && time.Until(row.ExpiresAt) > d.Keep+bodyExtra:
		return stored, nil
	case row.Version != 0: // a replay, or an event that has waited for long
		row.ExpiresAt = time.Time{}
	default:
		if stored, err = a.to.Render.Render(a.payload.Event); err != nil {
			return stored, dead(spool.MessageOf(err))
		}
		if row.Value, err = json.Marshal(stored); err != nil {
			return stored, dead("its body cannot be stored")
		}
	}
	row.Tenant, row.Kind, row.Key = a.Tenant, bodyKind, bodyKey(a.Subject, a.event.ID)
	err = d.Store.Update(ctx, spool.ThreadKey{Tenant: a.Tenant}, 0, func(tx store.Tx) error {
		row.ExpiresAt = tx.Now().Add(2 * (d.Keep + bodyExtra))
		return tx.Write(store.Changes{Rows: []store.Row{row}})
	})
	if errors.Is(err, store.ErrRowChanged) { // another node was faster, and its bytes count
		stored, row, err = d.storedBody(ctx, a)
		if err == nil && row.Version == 0 {
			err = store.ErrRowChanged
		}
	}
	if err != nil {
		return stored, d.troubled(ctx, a, "store the body of a webhook event", err)
	}
	return stored, nil
}

// storedBody returns the stored body with its row. The version of the row is zero if there is none.
func (d *Deliverer) storedBody(ctx context.Context, a *attempt) (body webhook.Body, row store.Row, err error) {
	rows, err := d.Store.Rows(ctx, store.RowQuery{
		Tenant: a.Tenant, Kind: bodyKind, Key: bodyKey(a.Subject, a.event.ID), Limit: 1,
	})
	if err != nil || len(rows) == 0 {
		return body, row, err
	}
	if err = json.Unmarshal(rows[0].Value, &body); err != nil {
		err = spool.Wrap(spool.Internal, "the body of the event cannot be read", err)
	}
	return body, rows[0], err
}
