package lite

import (
	"bytes"

	"modernc.org/libc"
	"modernc.org/libc/sys/types"
	sqlite3 "modernc.org/sqlite/lib"
)

// Stmt is a prepared statement. To run it, bind each value from left to right, call Step for each row,
// and call Reset at the end. Only one statement of a connection may be between its first Bind and its
// Reset.
type Stmt struct {
	c       *Conn
	p       uintptr
	params  int
	bound   int
	runs    int64
	aside   []uintptr // bound texts that did not fit into the connection's room
	columns int
}

// Prepare prepares a statement. It returns nil for a text that contains no statement or several: use
// [Conn.Script] for these.
func (c *Conn) Prepare(query string) (*Stmt, error) {
	text, err := libc.CString(query)
	if err != nil {
		return nil, err
	}
	defer libc.Xfree(c.tls, text)
	out := c.tls.Alloc(2 * int(word))
	defer c.tls.Free(2 * int(word))
	rc := sqlite3.Xsqlite3_prepare_v3(c.tls, c.db, text, int32(len(query)+1), sqlite3.SQLITE_PREPARE_PERSISTENT, out, out+word) //nolint:gosec // a statement is short
	if rc != sqlite3.SQLITE_OK {
		return nil, c.fault(rc)
	}
	s := &Stmt{c: c, p: get[uintptr](out)}
	tail := get[uintptr](out + word)
	if s.p == 0 || get[byte](tail) != 0 {
		return nil, s.Close()
	}
	s.params = int(sqlite3.Xsqlite3_bind_parameter_count(c.tls, s.p))
	s.columns = int(sqlite3.Xsqlite3_column_count(c.tls, s.p))
	return s, nil
}

// Close frees the statement.
func (s *Stmt) Close() error {
	rc := sqlite3.Xsqlite3_finalize(s.c.tls, s.p)
	s.p = 0
	if rc != sqlite3.SQLITE_OK {
		return s.c.fault(rc)
	}
	return nil
}

// Params returns the number of values that the statement takes.
func (s *Stmt) Params() int { return s.params }

// Columns returns the number of columns in the statement's rows.
func (s *Stmt) Columns() int { return s.columns }

// Runs returns how often the statement was run.
func (s *Stmt) Runs() int64 { return s.runs }

// Reprepared returns how often SQLite has prepared the statement again because of a bound value on
// which the plan might depend.
func (s *Stmt) Reprepared() int {
	return int(sqlite3.Xsqlite3_stmt_status(s.c.tls, s.p, sqlite3.SQLITE_STMTSTATUS_REPREPARE, 0))
}

// BindInt binds a number.
func (s *Stmt) BindInt(n int64) error {
	s.bound++
	return s.ok(sqlite3.Xsqlite3_bind_int64(s.c.tls, s.p, int32(s.bound), n)) //nolint:gosec // SQLite has a bound on parameters
}

// BindNull binds NULL.
func (s *Stmt) BindNull() error {
	s.bound++
	return s.ok(sqlite3.Xsqlite3_bind_null(s.c.tls, s.p, int32(s.bound))) //nolint:gosec // SQLite has a bound on parameters
}

// BindText binds a copy of a text.
func (s *Stmt) BindText(text string) error { return bindText(s, text) }

// BindBytes binds a copy of a text.
func (s *Stmt) BindBytes(text []byte) error { return bindText(s, text) }

func bindText[T string | []byte](s *Stmt, text T) error {
	p, err := place(s, text)
	if err != nil {
		return err
	}
	return s.ok(sqlite3.Xsqlite3_bind_text64(s.c.tls, s.p, int32(s.bound), p, uint64(len(text)), 0, sqlite3.SQLITE_UTF8)) //nolint:gosec // SQLite has a bound on parameters
}

// place copies the next value to bind to memory that is valid until the statement's Reset.
func place[T string | []byte](s *Stmt, value T) (uintptr, error) {
	s.bound++
	p := s.c.room + uintptr(s.c.used)
	if len(value) < roomBytes-s.c.used {
		s.c.used += len(value)
	} else {
		p = libc.Xmalloc(s.c.tls, types.Size_t(len(value)+1))
		if p == 0 {
			return 0, s.c.fault(sqlite3.SQLITE_NOMEM)
		}
		s.aside = append(s.aside, p)
	}
	copy(bytesAt(p, len(value)), value)
	return p, nil
}

func (s *Stmt) ok(rc int32) error {
	if rc != sqlite3.SQLITE_OK {
		return s.c.fault(rc)
	}
	return nil
}

// Step moves to the next row. It returns false after the last row.
func (s *Stmt) Step() (bool, error) {
	switch rc := sqlite3.Xsqlite3_step(s.c.tls, s.p); rc {
	case sqlite3.SQLITE_ROW:
		return true, nil
	case sqlite3.SQLITE_DONE:
		return false, nil
	default:
		return false, s.c.fault(rc)
	}
}

// Reset ends the run of the statement, so that it can be run again.
func (s *Stmt) Reset() {
	sqlite3.Xsqlite3_reset(s.c.tls, s.p) // an error here is the error of the last step
	for _, p := range s.aside {
		libc.Xfree(s.c.tls, p)
	}
	clear(s.aside)
	s.aside, s.bound, s.c.used = s.aside[:0], 0, 0
	s.runs++
}

// Kind is the type of a value in a row.
type Kind int32

// The kinds of values.
const (
	Int  Kind = sqlite3.SQLITE_INTEGER
	Text Kind = sqlite3.SQLITE_TEXT
	Null Kind = sqlite3.SQLITE_NULL
	Real Kind = sqlite3.SQLITE_FLOAT
	Blob Kind = sqlite3.SQLITE_BLOB
)

// Kind returns the type of the value in column i.
func (s *Stmt) Kind(i int) Kind { return Kind(sqlite3.Xsqlite3_column_type(s.c.tls, s.p, int32(i))) } //nolint:gosec // SQLite has a bound on columns

// Int returns the number in column i.
func (s *Stmt) Int(i int) int64 { return sqlite3.Xsqlite3_column_int64(s.c.tls, s.p, int32(i)) } //nolint:gosec // SQLite has a bound on columns

// Text returns the text in column i.
func (s *Stmt) Text(i int) string { return string(s.Borrow(i)) }

// Bytes returns a copy of the text in column i, or nil if it is empty.
func (s *Stmt) Bytes(i int) []byte { return bytes.Clone(s.Borrow(i)) }

// Borrow returns the text in column i, or nil if it is empty. The text is valid until the next Step or
// Reset, and must not be changed.
func (s *Stmt) Borrow(i int) []byte {
	p := sqlite3.Xsqlite3_column_text(s.c.tls, s.p, int32(i))       //nolint:gosec // SQLite has a bound on columns
	n := int(sqlite3.Xsqlite3_column_bytes(s.c.tls, s.p, int32(i))) //nolint:gosec // SQLite has a bound on columns
	if p == 0 || n == 0 {
		return nil
	}
	return bytesAt(p, n)
}
