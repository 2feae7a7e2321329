package postgres

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// Ack implements [store.Store]. Each kind is one statement that the token guards. All but an extension end the
// claim: the delivery's token is invalid afterwards.
func (db *DB) Ack(ctx context.Context, d store.Delivery, a store.Ack) error {
	const guard = " WHERE id = ? AND token = ? AND tenant = ?"
	until := "SET due_at = " + nowExpr + " + ?"
	var s statement
	switch a.Kind {
	case store.AckDone:
		s.sql = "DELETE FROM spool.job" + guard
	case store.AckExtend:
		s = statement{sql: "UPDATE spool.job " + until + guard, args: []any{db.clockArg(), a.After.Microseconds()}}
	case store.AckRelease:
		refund := 0
		if a.Refund {
			refund = 1
		}
		s = statement{
			sql:  "UPDATE spool.job " + until + ", claimed = false, token = token + 1, attempts = attempts - ?" + guard,
			args: []any{db.clockArg(), a.After.Microseconds(), refund},
		}
	case store.AckDead:
		return db.fenced(ctx, statement{
			sql: "WITH gone AS (DELETE FROM spool.job" + guard + ` RETURNING *)
				INSERT INTO spool.job_dead (` + jobColumns + `, id, due_at, attempts, cause, died_at)
				SELECT ` + jobColumns + ", id, first_due, attempts, ?, " + nowExpr + " FROM gone",
			args: []any{d.JobID, d.Token, d.Tenant, a.Cause, db.clockArg()},
		})
	default:
		return spool.Errorf(spool.Invalid, "there is no acknowledgement of the kind %q", a.Kind)
	}
	s.args = append(s.args, d.JobID, d.Token, d.Tenant)
	return db.fenced(ctx, s)
}

// fenced runs a statement that must change a job. It returns [store.ErrFenced] if the claim was lost.
func (db *DB) fenced(ctx context.Context, s statement) error {
	changed := false
	s.sql += " RETURNING 1"
	s.scan = func(*row) { changed = true }
	err := db.run(ctx, s)
	if err == nil && !changed {
		err = store.ErrFenced
	}
	return err
}
