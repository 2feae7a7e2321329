package sqlite

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/sqlite/internal/lite"
)

// conn is a connection with its prepared statements. A conn is for one goroutine.
type conn struct {
	raw   *lite.Conn
	stmts map[string]*lite.Stmt
	row   row
}

// busyTimeout says how long a statement waits for another process, in milliseconds.
const busyTimeout = "busy_timeout = 10000"

// cacheSize bounds the pages that a connection keeps, in KiB.
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
	raw, err := lite.Open("file:" + uriEscaper.Replace(path) + parameters)
	if err != nil {
		return nil, unavailable(fmt.Errorf("open %s: %w", path, err))
	}
	return newConn(raw), nil
}

func newConn(raw *lite.Conn) *conn { return &conn{raw: raw, stmts: make(map[string]*lite.Stmt)} }

// pragma executes a pragma. SQLite applies some pragmas while it prepares them, so pragma
// prepares the statement each time and does not keep it.
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

// blind has the planner not look at the values that are bound. It compares a bare ? with the
// conditions of partial indexes and takes note of a bound limit. Each new value then has the
// statement prepared again, which costs more than running it. An expression around the ?
// changes neither its value nor which indexes can be used.
var blind = strings.NewReplacer("LIMIT ?", "LIMIT ?+0", "?", "+?")

// prepare returns the statement of a text, nil for a text of several.
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

// exec runs a statement, or several.
func (c *conn) exec(query string, args ...any) error {
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

// change runs a statement and returns how many rows it has changed.
func (c *conn) change(query string, args ...any) (int64, error) {
	if err := c.exec(query, args...); err != nil {
		return 0, err
	}
	return c.raw.Changed(), nil
}

// finish runs a statement to its end and skips its rows.
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

// bind gives a statement its values, in the form in which they are stored.
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
		err = s.BindInt(micros(x))
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
	case spool.StreamID:
		err = s.BindText(string(x))
	case spool.State:
		err = s.BindText(string(x))
	default: // without the type, so that no value has to be on the heap
		return spool.Errorf(spool.Internal, "value %d of a statement has a type that is not stored", i+1)
	}
	return unavailable(err)
}

// row reads the columns of a row from left to right.
type row struct {
	s   *lite.Stmt
	at  int
	err error
}

// next returns the number of the next column, and whether it has a value. That must be of a kind.
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

func (r *row) text() string {
	if i, has := r.next(lite.Text); has {
		return r.s.Text(i)
	}
	return ""
}

func (r *row) int64() int64 {
	if i, has := r.next(lite.Int); has {
		return r.s.Int(i)
	}
	return 0
}

func (r *row) int() int { return int(r.int64()) }

func (r *row) bool() bool { return r.int64() != 0 }

func (r *row) time() time.Time { return fromMicros(r.int64()) }

// json returns nil for an empty column.
func (r *row) json() json.RawMessage {
	if i, has := r.next(lite.Text); has {
		return r.s.Bytes(i)
	}
	return nil
}

// borrowed returns a text that is there until the next row. It must not be changed.
func (r *row) borrowed() []byte {
	if i, has := r.next(lite.Text); has {
		return r.s.Borrow(i)
	}
	return nil
}

// decode reads the JSON of a column. An empty column is the zero value, and costs no allocation. What
// names the column in an error.
func decode[T any](r *row, what string) (value T) {
	text := r.borrowed()
	if text == nil {
		return value
	}
	read := new(T)
	if err := json.Unmarshal(text, read); err != nil {
		r.err = spool.Wrap(spool.Internal, what+" cannot be read", err)
	}
	return *read
}

// each adds what a query finds to a list.
func each[T any](list *[]T, scan func(r *row) (T, error)) func(r *row) error {
	return func(r *row) error {
		one, err := scan(r)
		*list = append(*list, one)
		return err
	}
}

// maybe returns nil for NULL.
func (r *row) maybe() *int64 {
	if i, has := r.next(lite.Int); has {
		n := r.s.Int(i)
		return &n
	}
	return nil
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
	var e *lite.Error
	if !errors.As(err, &e) {
		return false
	}
	return e.Code == sqlite3.SQLITE_CONSTRAINT_UNIQUE || e.Code == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY
}
