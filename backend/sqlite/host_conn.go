package sqlite

import (
	"context"
	"database/sql/driver"
	"io"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/sqlite/internal/lite"
)

// hostConn is the connection of a session for database/sql.
type hostConn struct{ s *session }

var (
	_ driver.ExecerContext  = hostConn{}
	_ driver.QueryerContext = hostConn{}
	_ driver.ConnBeginTx    = hostConn{}
)

// Prepare implements [driver.Conn].
func (c hostConn) Prepare(query string) (driver.Stmt, error) { return hostStmt{c, query}, nil }

// Close implements [driver.Conn].
func (c hostConn) Close() error { return nil }

// Begin implements [driver.Conn].
func (c hostConn) Begin() (driver.Tx, error) { return hostEnd{}, nil }

// BeginTx implements [driver.ConnBeginTx].
func (c hostConn) BeginTx(context.Context, driver.TxOptions) (driver.Tx, error) {
	return hostEnd{}, nil
}

// hostEnd leaves the end of the transaction to the session.
type hostEnd struct{}

// Commit implements [driver.Tx].
func (hostEnd) Commit() error { return nil }

// Rollback implements [driver.Tx].
func (hostEnd) Rollback() error { return nil }

// ExecContext implements [driver.ExecerContext]. Without values, the text may have several statements.
func (c hostConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	var result hostResult
	err := c.s.guarded(ctx, query, func() error {
		raw := c.s.c.raw
		stmt, err := raw.Prepare(query)
		switch {
		case err != nil:
			return err
		case stmt == nil && len(args) > 0:
			return spool.Errorf(spool.Invalid, "several statements take no values")
		case stmt == nil:
			return raw.Script(query)
		}
		if err = bindHost(stmt, args); err == nil {
			err = finishHost(stmt, nil)
		}
		result = hostResult{id: raw.LastID(), changed: raw.Changed()}
		return closeHost(stmt, err)
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// hostResult is what a statement has done.
type hostResult struct{ id, changed int64 }

// LastInsertId implements [driver.Result].
func (r hostResult) LastInsertId() (int64, error) { return r.id, nil }

// RowsAffected implements [driver.Result].
func (r hostResult) RowsAffected() (int64, error) { return r.changed, nil }

// QueryContext implements [driver.QueryerContext]. It reads all rows at once, so that the connection is free
// for other statements while the host goes through the rows.
func (c hostConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	rows := &hostRows{}
	err := c.s.guarded(ctx, query, func() error {
		stmt, err := c.s.c.raw.Prepare(query)
		switch {
		case err != nil:
			return err
		case stmt == nil:
			return spool.Errorf(spool.Invalid, "a query has one statement")
		}
		if err = bindHost(stmt, args); err == nil {
			rows.describe(stmt)
			err = finishHost(stmt, rows)
		}
		return closeHost(stmt, err)
	})
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// finishHost runs a statement to its end.
func finishHost(stmt *lite.Stmt, rows *hostRows) error {
	for {
		more, err := stmt.Step()
		if err != nil || !more {
			return err
		}
		if rows != nil {
			rows.read(stmt)
		}
	}
}

// closeHost closes a statement. The error of its last run counts, which Close would return again.
func closeHost(stmt *lite.Stmt, err error) error {
	stmt.Reset()
	if closed := stmt.Close(); err == nil {
		err = closed
	}
	return err
}

// hostTime is the form in which a host's times are stored. SQLite's functions read it, and its texts have the
// order of the times.
const hostTime = "2006-01-02T15:04:05.000000Z"

func bindHost(stmt *lite.Stmt, args []driver.NamedValue) error {
	if len(args) != stmt.Params() {
		return spool.Errorf(spool.Invalid, "the statement takes %d values and has %d", stmt.Params(), len(args))
	}
	for _, arg := range args {
		if arg.Name != "" {
			return spool.Errorf(spool.Invalid, "values with names are not supported")
		}
		if err := bindHostValue(stmt, arg.Value); err != nil {
			return err
		}
	}
	return nil
}

func bindHostValue(stmt *lite.Stmt, value driver.Value) error {
	switch x := value.(type) {
	case nil:
		return stmt.BindNull()
	case int64:
		return stmt.BindInt(x)
	case float64:
		return stmt.BindFloat(x)
	case bool:
		if x {
			return stmt.BindInt(1)
		}
		return stmt.BindInt(0)
	case string:
		return stmt.BindText(x)
	case []byte:
		return stmt.BindBlob(x)
	case time.Time:
		return stmt.BindText(x.UTC().Format(hostTime))
	default:
		return spool.Errorf(spool.Invalid, "a value has the type %T, which is not stored", value)
	}
}

// hostRows are the rows of a query.
type hostRows struct {
	columns []string
	times   []bool // columns whose texts are times
	rows    [][]driver.Value
}

// describe reads the names and types of the columns.
func (r *hostRows) describe(stmt *lite.Stmt) {
	r.columns, r.times = make([]string, stmt.Columns()), make([]bool, stmt.Columns())
	for i := range r.columns {
		r.columns[i] = stmt.Name(i)
		switch strings.ToUpper(stmt.Declared(i)) {
		case "DATE", "DATETIME", "TIMESTAMP":
			r.times[i] = true
		}
	}
}

// read adds the statement's current row.
func (r *hostRows) read(stmt *lite.Stmt) {
	values := make([]driver.Value, len(r.columns))
	for i := range values {
		switch stmt.Kind(i) {
		case lite.Int:
			values[i] = stmt.Int(i)
		case lite.Real:
			values[i] = stmt.Float(i)
		case lite.Text:
			values[i] = timeOr(stmt.Text(i), r.times[i])
		case lite.Blob:
			values[i] = stmt.Blob(i)
		case lite.Null:
		}
	}
	r.rows = append(r.rows, values)
}

// timeOr returns the time that a text stands for if it may be one, and else the text.
func timeOr(text string, may bool) driver.Value {
	if !may {
		return text
	}
	for _, form := range []string{time.RFC3339Nano, time.DateTime, time.DateOnly} {
		if at, err := time.Parse(form, text); err == nil {
			return at.UTC()
		}
	}
	return text
}

// Columns implements [driver.Rows].
func (r *hostRows) Columns() []string { return r.columns }

// Close implements [driver.Rows].
func (r *hostRows) Close() error { return nil }

// Next implements [driver.Rows].
func (r *hostRows) Next(into []driver.Value) error {
	if len(r.rows) == 0 {
		return io.EOF
	}
	copy(into, r.rows[0])
	r.rows = r.rows[1:]
	return nil
}

// hostStmt is a statement that database/sql has prepared. It is prepared again for each run.
type hostStmt struct {
	c     hostConn
	query string
}

var (
	_ driver.StmtExecContext  = hostStmt{}
	_ driver.StmtQueryContext = hostStmt{}
)

// Close implements [driver.Stmt].
func (hostStmt) Close() error { return nil }

// NumInput implements [driver.Stmt]. SQLite counts the values itself.
func (hostStmt) NumInput() int { return -1 }

// ExecContext implements [driver.StmtExecContext].
func (s hostStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return s.c.ExecContext(ctx, s.query, args)
}

// QueryContext implements [driver.StmtQueryContext].
func (s hostStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return s.c.QueryContext(ctx, s.query, args)
}

// Exec implements [driver.Stmt]. Package database/sql calls ExecContext.
func (hostStmt) Exec([]driver.Value) (driver.Result, error) { return nil, driver.ErrSkip }

// Query implements [driver.Stmt]. Package database/sql calls QueryContext.
func (hostStmt) Query([]driver.Value) (driver.Rows, error) { return nil, driver.ErrSkip }
