package sqlite

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/backend/sqlite/internal/lite"
	"github.com/spoolhq/spool/wire"
)

// conn is a connection with its prepared statements. Only one goroutine may use it at a time.
type conn struct {
	raw   *lite.Conn
	stmts map[string]*lite.Stmt
	row   row
	// lender is the host's session whose update uses the connection. It may take the connection back between two
	// statements. Nil: the user of the connection has it until it ends.
	lender *session
}

// enter begins the use of the connection by a statement. It returns an error if a lender has taken the connection
// back. The caller must call leave.
func (c *conn) enter() error {
	if c.lender == nil {
		return nil
	}
	return c.lender.enter()
}

// leave ends the use of the connection by a statement.
func (c *conn) leave() {
	if c.lender != nil {
		c.lender.mu.Unlock()
	}
}

// checkOpen returns an error if the connection is in no transaction.
func (c *conn) checkOpen() error {
	if err := c.enter(); err != nil {
		return err
	}
	defer c.leave()
	if !c.raw.Transaction() {
		return errLost
	}
	return nil
}

// busyTimeout is how long a statement waits for another process, in milliseconds.
const busyTimeout = "busy_timeout = 10000"

// cacheSize bounds the memory for pages that a connection keeps, in KiB.
const cacheSize = "cache_size = -8192"

// pragmas are set on every connection. A commit returns after an fsync.
var pragmas = []string{
	busyTimeout,
	"synchronous = FULL",
	"fullfsync = ON",     // macOS: an fsync alone leaves the data in the disk's own cache
	"secure_delete = ON", // what was deleted is overwritten
	"temp_store = MEMORY",
	cacheSize,
	"wal_autocheckpoint = 4000",
	"journal_size_limit = 67108864",
}

var uriEscaper = strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23")

// dial opens a connection to the file at path, and creates the file if it does not exist.
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
	raw, err := lite.Open("file:" + uriEscaper.Replace(path) + parameters)
	if err != nil {
		return nil, unavailable(fmt.Errorf("open %s: %w", path, err))
	}
	return newConn(raw), nil
}

func newConn(raw *lite.Conn) *conn { return &conn{raw: raw, stmts: make(map[string]*lite.Stmt)} }

// pragma executes a pragma. SQLite applies some pragmas while it prepares them. So pragma prepares the
// statement each time and does not keep it.
func (c *conn) pragma(text string) error {
	text = "PRAGMA " + text
	if err := c.exec(text); err != nil {
		return err
	}
	s := c.stmts[text]
	delete(c.stmts, text)
	return unavailable(s.Close())
}

func (c *conn) close() error {
	var errs []error
	for _, s := range c.stmts {
		errs = append(errs, s.Close())
	}
	clear(c.stmts)
	return errors.Join(append(errs, c.raw.Close())...)
}

// blind hides bound values from the query planner. The planner compares a bare ? with the conditions of
// partial indexes, and also looks at a bound limit. Then SQLite prepares the statement again for each
// new value, which costs more than running it. An expression around the ? changes neither the value nor
// which indexes can be used.
var blind = strings.NewReplacer("LIMIT ?", "LIMIT ?+0", "?", "+?")

// prepare returns the prepared statement of a text, or nil if the text has several statements.
func (c *conn) prepare(query string) (*lite.Stmt, error) {
	if s := c.stmts[query]; s != nil {
		return s, nil
	}
	s, err := c.raw.Prepare(blind.Replace(query))
	if err != nil {
		return nil, unavailable(fmt.Errorf("prepare %q: %w", query, err))
	}
	if s != nil {
		c.stmts[query] = s
	}
	return s, nil
}

// exec runs one or several statements.
func (c *conn) exec(query string, args ...any) error {
	_, err := c.change(query, args...)
	return err
}

// change runs one or several statements and returns how many rows the last one has changed.
func (c *conn) change(query string, args ...any) (int64, error) {
	if err := c.enter(); err != nil {
		return 0, err
	}
	defer c.leave()
	if err := c.run(query, args); err != nil {
		return 0, err
	}
	return c.raw.Changed(), nil
}

// run does the work of exec.
func (c *conn) run(query string, args []any) error {
	s, err := c.prepare(query)
	switch {
	case err != nil:
		return err
	case s == nil:
		return unavailable(c.raw.Script(query))
	}
	defer s.Reset()
	if err := bind(s, args); err != nil {
		return err
	}
	return finish(s)
}

// finish runs a statement to its end and ignores its rows.
func finish(s *lite.Stmt) error {
	for more := true; more; {
		var err error
		if more, err = s.Step(); err != nil {
			return unavailable(err)
		}
	}
	return nil
}

// query runs a statement and calls scan for each row. scan must not use the connection.
func (c *conn) query(query string, scan func(r *row) error, args ...any) error {
	if err := c.enter(); err != nil {
		return err
	}
	defer c.leave()
	s, err := c.prepare(query)
	if err != nil {
		return err
	}
	if s == nil {
		return spool.Errorf(spool.Internal, "a query has one statement")
	}
	defer s.Reset()
	if err := bind(s, args); err != nil {
		return err
	}
	r := &c.row
	for {
		switch more, err := s.Step(); {
		case err != nil:
			return unavailable(err)
		case !more:
			return nil
		}
		*r = row{s: s}
		if err := scan(r); err != nil {
			return err
		}
		if r.err != nil {
			return r.err
		}
	}
}

// bind binds the values of a statement, in the form in which they are stored.
func bind(s *lite.Stmt, args []any) error {
	if len(args) != s.Params() {
		return spool.Errorf(spool.Internal, "a statement takes %d values and has %d", s.Params(), len(args))
	}
	for i, arg := range args {
		if err := bindOne(s, i, arg); err != nil {
			return err
		}
	}
	return nil
}

func bindOne(s *lite.Stmt, i int, arg any) (err error) {
	switch x := arg.(type) {
	case nil:
		err = s.BindNull()
	case int64:
		err = s.BindInt(x)
	case string:
		err = s.BindText(x)
	case int:
		err = s.BindInt(int64(x))
	case bool:
		n := int64(0)
		if x {
			n = 1
		}
		err = s.BindInt(n)
	case time.Time:
		err = s.BindInt(form.Micros(x))
	case json.RawMessage:
		err = s.BindBytes(x)
	case *int64:
		if x == nil {
			err = s.BindNull()
		} else {
			err = s.BindInt(*x)
		}
	case spool.Tenant:
		err = s.BindText(string(x))
	case spool.ThreadID:
		err = s.BindText(string(x))
	case spool.RunID:
		err = s.BindText(string(x))
	case spool.MessageID:
		err = s.BindText(string(x))
	case spool.AgentID:
		err = s.BindText(string(x))
	case spool.ToolCallID:
		err = s.BindText(string(x))
	case wire.StreamID:
		err = s.BindText(string(x))
	case wire.State:
		err = s.BindText(string(x))
	default: // the message has no type, so that values need not be on the heap
		return spool.Errorf(spool.Internal, "value %d of a statement has a type that is not stored", i+1)
	}
	return unavailable(err)
}

// row implements [form.Row].
type row struct {
	s   *lite.Stmt
	at  int
	err error
}

// next returns the index of the next column, and whether the column has a value. A value of another
// kind than want is an error.
func (r *row) next(want lite.Kind) (column int, has bool) {
	column = r.at
	r.at++
	switch kind := r.s.Kind(column); {
	case kind == want:
		return column, true
	case kind != lite.Null:
		r.err = spool.Errorf(spool.Internal, "column %d has a value of kind %d, want %d", r.at, kind, want)
	}
	return column, false
}

func (r *row) Text() string {
	if i, has := r.next(lite.Text); has {
		return r.s.Text(i)
	}
	return ""
}

func (r *row) Int64() int64 {
	if i, has := r.next(lite.Int); has {
		return r.s.Int(i)
	}
	return 0
}

func (r *row) Int() int { return int(r.Int64()) }

func (r *row) Bool() bool { return r.Int64() != 0 }

func (r *row) Time() time.Time { return form.FromMicros(r.Int64()) }

func (r *row) JSON() json.RawMessage {
	if i, has := r.next(lite.Text); has {
		return r.s.Bytes(i)
	}
	return nil
}

func (r *row) Borrowed() []byte {
	if i, has := r.next(lite.Text); has {
		return r.s.Borrow(i)
	}
	return nil
}

// each returns a scan function that appends each row to a list.
func each[T any](list *[]T, scan func(r form.Row) T) func(r *row) error {
	return func(r *row) error {
		*list = append(*list, scan(r))
		return nil
	}
}

func (r *row) Maybe() *int64 {
	if i, has := r.next(lite.Int); has {
		n := r.s.Int(i)
		return &n
	}
	return nil
}

func (r *row) MaybeBool() *bool {
	n := r.Maybe()
	if n == nil {
		return nil
	}
	b := *n != 0
	return &b
}

func (r *row) Fail(err error) { r.err = err }

// unavailable wraps an error of the driver in an error with its code.
func unavailable(err error) error { return spool.Wrap(spool.Unavailable, "the store failed", err) }

// isUnique reports whether err says that a unique index refused a row. In this case the statement has
// done nothing, and the transaction goes on.
func isUnique(err error) bool {
	var e *lite.Error
	if !errors.As(err, &e) {
		return false
	}
	return e.Code == sqlite3.SQLITE_CONSTRAINT_UNIQUE || e.Code == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY
}
