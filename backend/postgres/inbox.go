package postgres

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Parks implements [store.Store]. It walks an index of parks, and then reads the runs and threads of the page.
func (db *DB) Parks(ctx context.Context, q wire.ParkQuery) ([]store.ParkRow, error) {
	var inbox form.Inbox
	page := db.inboxPage(q)
	page.scan = func(r *row) { inbox.ScanPark(r) }
	err := db.viewing(ctx, func(l link) error {
		err := l.send(ctx, append(db.begin(snapshotMode), page))
		if err != nil {
			return err
		}
		end := statement{sql: "COMMIT"}
		if len(inbox.Parks) == 0 {
			return l.send(ctx, []statement{end})
		}
		return l.send(ctx, append(inboxOwners(q.Tenant, &inbox), end))
	})
	return inbox.Rows(), err
}

// inboxPage returns the statement that reads a page of parks.
func (db *DB) inboxPage(q wire.ParkQuery) statement {
	where, order := form.InboxConditions(q, "spool.run", "spool.thread", nowExpr, db.clockArg())
	return statement{
		sql:  "SELECT " + form.InboxColumns + " FROM spool.park WHERE " + where.Text + order,
		args: append(where.Args, bound(q.Limit)),
	}
}

// inboxOwners returns the statements that read the runs and threads of a page.
func inboxOwners(tenant spool.Tenant, inbox *form.Inbox) []statement {
	return []statement{
		{
			sql:  "SELECT " + form.WholeRunColumns + " FROM spool.run WHERE tenant = ? AND id = ANY(?)",
			args: []any{tenant, inbox.RunIDs()}, scan: func(r *row) { inbox.ScanRun(r) },
		},
		{
			sql:  "SELECT " + form.ThreadColumns + " FROM spool.thread WHERE tenant = ? AND id = ANY(?)",
			args: []any{tenant, inbox.ThreadIDs()}, scan: func(r *row) { inbox.ScanThread(r) },
		},
	}
}
