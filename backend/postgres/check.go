package postgres

import (
	"context"
	"time"

	"github.com/spoolhq/spool"
)

// checkTimeout is how long the database may take to answer a check.
const checkTimeout = 5 * time.Second

// Check implements [store.Store]. It writes a row durably, and does not wait for views and lists.
func (db *DB) Check(ctx context.Context) error {
	if err := canceled(ctx); err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	answered, readOnly := false, false
	s := db.newSession()
	defer s.end(ctx)
	err := s.send(bounded, []statement{
		{
			sql:  "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::bool",
			scan: func(r *row) { answered, readOnly = true, r.Bool() },
		},
		{
			sql: "INSERT INTO spool.probe (only_row, at) VALUES (true, " + nowExpr +
				") ON CONFLICT (only_row) DO UPDATE SET at = excluded.at",
			args: []any{db.clockArg()},
		},
	})
	message := "The database cannot be reached"
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return canceled(ctx)
	case readOnly:
		message = "The database can only be read"
	case answered:
		message = "The database does not accept writes"
	}
	return &spool.Error{Code: spool.Unavailable, Message: message, Err: err}
}
