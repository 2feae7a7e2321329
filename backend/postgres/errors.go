package postgres

import (
	"context"
	"database/sql"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

var (
	errNoThread  = &spool.Error{Code: spool.NotFound, Message: "Thread not found"}
	errNoMessage = &spool.Error{Code: spool.NotFound, Message: "Message not found"}
	errNoBranch  = &spool.Error{Code: spool.NotFound, Message: "Branch not found"}
)

// unique has the error for each unique index that a change may violate.
var unique = map[string]error{
	"run_pkey":        store.ErrRunIDUsed,
	"run_active":      store.ErrActiveRun,
	"run_start_key":   store.ErrStartKeyUsed,
	"message_id":      store.ErrMessageIDUsed,
	"branch_pkey":     store.ErrBranchUsed,
	"shared_row_pkey": store.ErrRowChanged,
}

// The codes of PostgreSQL that the package tells apart.
const (
	codeUnique          = "23505"
	codeDivisionByZero  = "22012"
	codeSerialization   = "40001"
	codeDeadlock        = "40P01"
	codeAdminShutdown   = "57P01"
	codeCrashShutdown   = "57P02"
	codeCannotConnect   = "57P03"
	codeIdleTransaction = "25P03"
)

// statementError returns the error of a statement that the server has refused.
func statementError(ctx context.Context, err error, s *statement) error {
	refusal, ok := errors.AsType[*pgconn.PgError](err)
	switch {
	case ok && refusal.Code == codeDivisionByZero && s.must != nil:
		return s.must
	case ok && refusal.Code == codeUnique && unique[refusal.ConstraintName] != nil:
		return unique[refusal.ConstraintName]
	default:
		return storeError(ctx, err)
	}
}

// storeError wraps an error of the server or the driver in one with its code: [spool.Canceled] if ctx has ended,
// [spool.Invalid] if the transaction is a host's and has ended, [spool.Internal] for a statement that can never
// succeed, and else [spool.Unavailable].
func storeError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if _, known := errors.AsType[*spool.Error](err); known {
		return err
	}
	if canceled := canceled(ctx); canceled != nil {
		return canceled
	}
	if errors.Is(err, pgx.ErrTxClosed) || errors.Is(err, sql.ErrTxDone) { // only a host's can be over
		return &spool.Error{Code: spool.Invalid, Message: "the transaction has ended", Err: err}
	}
	if refusal, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch refusal.Code[:min(2, len(refusal.Code))] {
		case "22", "23", "42": // data, constraints, syntax and privileges
			return &spool.Error{Code: spool.Internal, Message: "the database refused a statement", Err: err}
		}
	}
	return unavailable(err)
}

func unavailable(err error) error {
	return &spool.Error{Code: spool.Unavailable, Message: "the database is not available", Err: err}
}

// canceled returns an error if ctx has ended.
func canceled(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return &spool.Error{Code: spool.Canceled, Message: "canceled", Err: ctx.Err()}
}

// collided reports whether the server has rolled a transaction back because of another one. The same
// transaction may succeed now.
func collided(err error) bool {
	refusal, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return false
	}
	switch refusal.Code {
	case codeSerialization, codeDeadlock:
		return true
	case codeUnique: // two processes have made the same id of a job
		return refusal.ConstraintName == "job_pkey" || refusal.ConstraintName == "job_dead_pkey"
	default:
		return false
	}
}

// lost reports whether a connection was lost, or the server has ended it.
func lost(err error) bool {
	if refusal, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch refusal.Code {
		case codeAdminShutdown, codeCrashShutdown, codeCannotConnect, codeIdleTransaction:
			return true
		default:
			return refusal.Code[:min(2, len(refusal.Code))] == "08"
		}
	}
	return spool.CodeOf(err) == spool.Unavailable
}
