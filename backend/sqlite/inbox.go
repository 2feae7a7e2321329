package sqlite

import (
	"context"
	"encoding/json"

	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Parks implements [store.Store]. It walks an index of parks, and then reads the runs and threads of the page.
func (db *DB) Parks(ctx context.Context, q wire.ParkQuery) ([]store.ParkRow, error) {
	var inbox form.Inbox
	query, args := inboxQuery(q, now(db.clock))
	err := db.pool.snapshot(ctx, func(c *conn) error {
		err := c.query(query, scanning(inbox.ScanPark), args...)
		if err != nil || len(inbox.Parks) == 0 {
			return err
		}
		for _, of := range []struct {
			columns, table string
			ids            []string
			scan           func(r form.Row)
		}{
			{form.WholeRunColumns, "run", inbox.RunIDs(), inbox.ScanRun},
			{form.ThreadColumns, "thread", inbox.ThreadIDs(), inbox.ScanThread},
		} {
			ids, err := json.Marshal(of.ids)
			if err == nil {
				err = c.query("SELECT "+of.columns+" FROM "+of.table+" WHERE tenant = ? AND id IN (SELECT value FROM json_each(?))",
					scanning(of.scan), q.Tenant, string(ids))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return inbox.Rows(), err
}

// inboxQuery returns the query for a page of parks.
func inboxQuery(q wire.ParkQuery, at any) (query string, args []any) {
	where, order := form.InboxConditions(q, "run", "thread", "?", at)
	index := "park_age"
	switch {
	case q.State == wire.ParkExpired:
		index = "park_expired"
	case q.Order == wire.ParksByExpiry:
		index = "park_expiry"
	}
	return "SELECT " + form.InboxColumns + " FROM park INDEXED BY " + index + " WHERE " + where.Text + order,
		append(where.Args, bound(q.Limit))
}

func scanning(scan func(r form.Row)) func(r *row) error {
	return func(r *row) error {
		scan(r)
		return nil
	}
}
