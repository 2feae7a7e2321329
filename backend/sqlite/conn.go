package sqlite

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	modernc "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/spoolhq/spool"
)

// conn is a connection with its prepared statements. It talks to the driver directly:
// package database/sql costs about as much per statement as the statement itself, and
// its pool is of no use where one goroutine writes. A conn is for one goroutine.
type conn struct {
	raw   driver.Conn
	stmts map[string]*stmt
	args  []driver.NamedValue
	row   row
}

type stmt struct {
	exec  driver.StmtExecContext
	query driver.StmtQueryContext
	close func() error
}

// busyTimeout says how long a statement waits for another process, in milliseconds.
const busyTimeout = "busy_timeout = 10000"

// pragmas are set on every connection. A commit returns after an fsync.
var pragmas = []string{
	busyTimeout,
	"synchronous = FULL",
	"fullfsync = ON",     // macOS: an fsync alone leaves the data in the disk's own cache
	"secure_delete = ON", // what was deleted is overwritten
	"temp_store = MEMORY",
	"cache_size = -16384",
	"wal_autocheckpoint = 4000",
	"journal_size_limit = 67108864",
}

var uriEscaper = strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23")

// dial opens a connection to the file at path and makes the file if it is not there.
func dial(path string) (*conn, error) {
	c, err := connect(path, "")
	if err != nil {
		return nil, err
	}
	for _, p := range pragmas {
		if err := c.pragma(p); err != nil {
			return nil, errors.Join(err, c.close())
		}
	}
	return c, nil
}

// connect opens a connection with the parameters of a URI, such as "?mode=ro".
func connect(path, parameters string) (*conn, error) {
	raw, err := new(modernc.Driver).Open("file:" + uriEscaper.Replace(path) + parameters)
	if err != nil {
		return nil, unavailable(fmt.Errorf("open %s: %w", path, err))
	}
	return &conn{raw: raw, stmts: make(map[string]*stmt)}, nil
}

// pragma sets something. Some of what a pragma sets, SQLite sets when it prepares it, so it
// is prepared each time.
func (c *conn) pragma(text string) error {
	text = "PRAGMA " + text
	if err := c.exec(text); err != nil {
		return err
	}
	s := c.stmts[text]
	delete(c.stmts, text)
	return unavailable(s.close())
}

func (c *conn) close() error {
	var errs []error
	for _, s := range c.stmts {
		errs = append(errs, s.close())
	}
	clear(c.stmts)
	return errors.Join(append(errs, c.raw.Close())...)
}

// blind has the planner not look at the values that are bound. It compares a bare ? with the
// conditions of partial indexes and takes note of a bound limit. Each new value then has the
// statement prepared again, which costs more than running it. An expression around the ?
// changes neither its value nor which indexes can be used.
var blind = strings.NewReplacer("LIMIT ?", "LIMIT ?+0", "?", "+?")

func (c *conn) prepare(query string) (*stmt, error) {
	if s := c.stmts[query]; s != nil {
		return s, nil
	}
	raw, err := c.raw.Prepare(blind.Replace(query))
	if err != nil {
		return nil, unavailable(fmt.Errorf("prepare %q: %w", query, err))
	}
	s := &stmt{close: raw.Close}
	var canExec, canQuery bool
	s.exec, canExec = raw.(driver.StmtExecContext)
	s.query, canQuery = raw.(driver.StmtQueryContext)
	if !canExec || !canQuery {
		return nil, errors.Join(spool.Errorf(spool.Internal, "the driver's statements take no context"), raw.Close())
	}
	c.stmts[query] = s
	return s, nil
}

// exec runs a statement.
func (c *conn) exec(query string, args ...any) error {
	_, err := c.change(query, args...)
	return err
}

// change runs a statement and returns how many rows it has changed.
func (c *conn) change(query string, args ...any) (int64, error) {
	s, err := c.prepare(query)
	if err != nil {
		return 0, err
	}
	if err := c.bind(args); err != nil {
		return 0, err
	}
	// A context that can end would cost a goroutine per statement, and an interrupted
	// statement a rollback of everybody's transaction.
	res, err := s.exec.ExecContext(context.Background(), c.args)
	if err != nil {
		return 0, unavailable(err)
	}
	n, err := res.RowsAffected()
	return n, unavailable(err)
}

// query runs a statement and calls scan for each row. scan must not use the connection.
func (c *conn) query(query string, scan func(r *row) error, args ...any) (err error) {
	s, err := c.prepare(query)
	if err != nil {
		return err
	}
	if err := c.bind(args); err != nil {
		return err
	}
	rows, err := s.query.QueryContext(context.Background(), c.args)
	if err != nil {
		return unavailable(err)
	}
	defer func() {
		if e := rows.Close(); e != nil && err == nil {
			err = unavailable(e)
		}
	}()
	n := len(rows.Columns())
	if cap(c.row.values) < n {
		c.row.values = make([]driver.Value, n)
	}
	c.row.values = c.row.values[:n]
	for {
		switch err := rows.Next(c.row.values); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return unavailable(err)
		}
		c.row.at, c.row.err = 0, nil
		if err := scan(&c.row); err != nil {
			return err
		}
		if c.row.err != nil {
			return c.row.err
		}
	}
}

// bind puts args into the form in which the driver takes them.
func (c *conn) bind(args []any) error {
	c.args = c.args[:0]
	for i, arg := range args {
		v := driver.NamedValue{Ordinal: i + 1}
		switch x := arg.(type) {
		case nil, int64, string:
			v.Value = x
		case int:
			v.Value = int64(x)
		case bool:
			v.Value = x
		case time.Time:
			v.Value = micros(x)
		case json.RawMessage:
			v.Value = string(x)
		case *int64:
			if x != nil {
				v.Value = *x
			}
		case spool.Tenant:
			v.Value = string(x)
		case spool.ThreadID:
			v.Value = string(x)
		case spool.RunID:
			v.Value = string(x)
		case spool.MessageID:
			v.Value = string(x)
		case spool.AgentID:
			v.Value = string(x)
		case spool.ToolCallID:
			v.Value = string(x)
		case spool.StreamID:
			v.Value = string(x)
		case spool.State:
			v.Value = string(x)
		default:
			return spool.Errorf(spool.Internal, "argument %d has type %T", i+1, arg)
		}
		c.args = append(c.args, v)
	}
	return nil
}

// row reads the columns of a row from left to right.
type row struct {
	values []driver.Value
	at     int
	err    error
}

func (r *row) next() driver.Value {
	v := r.values[r.at]
	r.at++
	return v
}

func (r *row) text() string {
	switch v := r.next().(type) {
	case string:
		return v
	case nil:
		return ""
	default:
		r.err = spool.Errorf(spool.Internal, "column %d is a %T", r.at, v)
		return ""
	}
}

func (r *row) int64() int64 {
	switch v := r.next().(type) {
	case int64:
		return v
	case nil:
		return 0
	default:
		r.err = spool.Errorf(spool.Internal, "column %d is a %T", r.at, v)
		return 0
	}
}

func (r *row) int() int { return int(r.int64()) }

func (r *row) bool() bool { return r.int64() != 0 }

func (r *row) time() time.Time { return fromMicros(r.int64()) }

// json returns nil for an empty column.
func (r *row) json() json.RawMessage {
	s := r.text()
	if s == "" {
		return nil
	}
	return json.RawMessage(s)
}

// maybe returns nil for NULL.
func (r *row) maybe() *int64 {
	if r.values[r.at] == nil {
		r.at++
		return nil
	}
	n := r.int64()
	return &n
}

func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func fromMicros(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMicro(n).UTC()
}

// unavailable gives an error of the driver its code.
func unavailable(err error) error { return spool.Wrap(spool.Unavailable, "the store failed", err) }

// isUnique reports whether err says that a unique index refused a row. The statement has
// then done nothing, and the transaction goes on.
func isUnique(err error) bool {
	var e *modernc.Error
	if !errors.As(err, &e) {
		return false
	}
	return e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || e.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY
}
