package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
	"sync"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/sqlite/internal/lite"
)

// session is the use of a connection by a host. It is a driver of database/sql with one connection, which is
// in a transaction that others begin and end.
type session struct {
	ctx      context.Context         //nolint:containedctx // a session lives within one call
	cancel   context.CancelCauseFunc // nil in a session that only reads
	database string                  // of the [store.HostTx]
	rules    hostRules
	begun    chan struct{} // closed when the connection can be used
	ended    chan error    // has the result of the host's function

	mu       sync.Mutex // held while a statement runs
	c        *conn
	t        *tx   // nil in a session that only reads
	lost     error // the transaction cannot be committed
	updating bool  // a function of update runs
	over     error // the error of each use after the end
}

// The errors of a use that is not possible.
var (
	errOver     = &spool.Error{Code: spool.Invalid, Message: "the transaction has ended", Err: sql.ErrTxDone}
	errUpdating = &spool.Error{
		Code: spool.Invalid, Message: "an update or a start runs in the transaction: use it again after that has returned",
	}
	errReturned = &spool.Error{
		Code: spool.Invalid, Message: "the function returned while an update or a start ran in its transaction",
	}
)

// close ends the use of the connection, and returns err or why the transaction cannot be committed. Later uses
// return over. An update that runs ends with its next statement.
func (s *session) close(err, over error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = over
	switch {
	case err != nil:
		return err
	case s.updating:
		return errReturned
	case s.lost != nil:
		return s.lost
	case !s.c.raw.Transaction():
		return errLost
	}
	return nil
}

// usable returns an error if nothing may use the connection. The caller must hold mu.
func (s *session) usable(ctx context.Context) error {
	if s.over != nil {
		return s.over
	}
	if err := canceled(ctx); err != nil {
		return err
	}
	if errors.Is(context.Cause(s.ctx), errTooLong) {
		return errTooLong
	}
	if err := canceled(s.ctx); err != nil {
		return err
	}
	switch {
	case s.updating:
		return errUpdating
	case !s.c.raw.Transaction():
		return errLost
	}
	return s.lost
}

// enter begins a statement of an update. It locks mu if it returns nil.
func (s *session) enter() error {
	s.mu.Lock()
	if s.over != nil {
		defer s.mu.Unlock()
		return s.over
	}
	return nil
}

// guarded runs a statement by fn with the host's rights. It interrupts the running statement when ctx or the
// session ends.
func (s *session) guarded(ctx context.Context, statement string, fn func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return err
	}
	finished, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		s.interrupt(ctx, finished)
	}()
	defer func() { // the connection must not be interrupted later
		close(finished)
		<-gone
	}()
	err := hostError(s.c.raw.Guarded(fn))
	if strings.Contains(strings.ToLower(statement), "rename") && s.lost == nil && s.c.raw.Transaction() {
		if s.lost = s.rules.checkNames(s.c); s.lost != nil {
			return s.lost
		}
	}
	return err
}

// interrupt interrupts statements from the end of ctx or the session on until they have finished.
func (s *session) interrupt(ctx context.Context, finished <-chan struct{}) {
	select {
	case <-finished:
		return
	case <-ctx.Done():
	case <-s.ctx.Done():
	}
	for {
		s.c.raw.Interrupt()
		select {
		case <-finished:
			return
		case <-time.After(time.Millisecond): // the statement may not have begun
		}
	}
}

// hostError gives an error of a host's statement its code.
func hostError(err error) error {
	var e *lite.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code & 0xff { // the primary code
	case sqlite3.SQLITE_AUTH:
		return &spool.Error{
			Code: spool.Invalid, Message: "a host's statement may only use tables whose names begin with " + hostPrefix,
			Err: err,
		}
	case sqlite3.SQLITE_CONSTRAINT:
		return &spool.Error{Code: spool.Conflict, Message: "a constraint refuses the row", Err: err}
	case sqlite3.SQLITE_INTERRUPT:
		return &spool.Error{Code: spool.Canceled, Message: "canceled", Err: err}
	case sqlite3.SQLITE_ERROR, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_RANGE, sqlite3.SQLITE_READONLY:
		return &spool.Error{Code: spool.Invalid, Message: "the statement is wrong", Err: err}
	}
	return unavailable(err)
}

// Connect implements [driver.Connector].
func (s *session) Connect(context.Context) (driver.Conn, error) { return hostConn{s}, nil }

// Driver implements [driver.Connector].
func (s *session) Driver() driver.Driver { return hostDriver{} }

// hostDriver opens nothing.
type hostDriver struct{}

// Open implements [driver.Driver].
func (hostDriver) Open(string) (driver.Conn, error) {
	return nil, spool.Errorf(spool.Internal, "there is no other connection")
}
