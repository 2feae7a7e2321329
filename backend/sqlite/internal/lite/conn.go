package lite

import (
	"fmt"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// Conn is a connection to a database.
type Conn struct {
	tls *libc.TLS
	db  uintptr
	// room is memory for the texts that a statement has bound. The first used bytes of it are taken.
	room uintptr
	used int
	// guarded is memory with a switch: whether the rules of Guard hold now. Zero: there are no rules.
	guarded uintptr
}

// roomBytes is the size of a connection's room. Texts that do not fit are allocated.
const roomBytes = 16 << 10

// Error is SQLite's error of a failed call.
type Error struct {
	// Code is the extended result code.
	Code int
	text string
}

func (e *Error) Error() string { return e.text }

// Open opens a database by its URI, and creates it unless the URI says otherwise.
func Open(uri string) (*Conn, error) {
	sqlite3.PatchIssue199()
	useSlots()
	c := &Conn{tls: libc.NewTLS()}
	name, err := libc.CString(uri)
	if err != nil {
		c.tls.Close()
		return nil, err
	}
	defer libc.Xfree(c.tls, name)
	out := c.tls.Alloc(int(word))
	defer c.tls.Free(int(word))
	const flags = sqlite3.SQLITE_OPEN_READWRITE | sqlite3.SQLITE_OPEN_CREATE | sqlite3.SQLITE_OPEN_NOMUTEX |
		sqlite3.SQLITE_OPEN_URI
	rc := sqlite3.Xsqlite3_open_v2(c.tls, name, out, flags, 0)
	c.db = get[uintptr](out) // set even if the database could not be opened
	c.room = libc.Xmalloc(c.tls, roomBytes)
	if rc != sqlite3.SQLITE_OK || c.room == 0 {
		err := c.fault(rc)
		_ = c.Close()
		return nil, err
	}
	sqlite3.Xsqlite3_extended_result_codes(c.tls, c.db, 1)
	return c, nil
}

// Close closes the connection. The caller must have closed its statements.
func (c *Conn) Close() error {
	if c.tls == nil {
		return nil
	}
	if rc := sqlite3.Xsqlite3_close_v2(c.tls, c.db); rc != sqlite3.SQLITE_OK {
		return c.fault(rc)
	}
	libc.Xfree(c.tls, c.room)
	c.unguard()
	c.tls.Close()
	c.tls, c.db, c.room = nil, 0, 0
	return nil
}

// fault returns the error of a call that has just failed.
func (c *Conn) fault(rc int32) error {
	text := libc.GoString(sqlite3.Xsqlite3_errstr(c.tls, rc))
	if more := libc.GoString(sqlite3.Xsqlite3_errmsg(c.tls, c.db)); c.db != 0 && more != text {
		text += ": " + more
	}
	return &Error{Code: int(rc), text: fmt.Sprintf("%s (%d)", text, rc)}
}

// Script runs several statements without values and without result rows.
func (c *Conn) Script(text string) error {
	p, err := libc.CString(text)
	if err != nil {
		return err
	}
	defer libc.Xfree(c.tls, p)
	if rc := sqlite3.Xsqlite3_exec(c.tls, c.db, p, 0, 0, 0); rc != sqlite3.SQLITE_OK {
		return c.fault(rc)
	}
	return nil
}

// Transaction reports whether a transaction is open.
func (c *Conn) Transaction() bool { return sqlite3.Xsqlite3_get_autocommit(c.tls, c.db) == 0 }

// Changed returns how many rows the last writing statement has changed.
func (c *Conn) Changed() int64 { return sqlite3.Xsqlite3_changes64(c.tls, c.db) }

// KeepLog makes SQLite keep the log of the database when the connection is closed.
func (c *Conn) KeepLog() error {
	name, err := libc.CString("main")
	if err != nil {
		return err
	}
	defer libc.Xfree(c.tls, name)
	on := c.tls.Alloc(8)
	defer c.tls.Free(8)
	put(on, int32(1))
	if rc := sqlite3.Xsqlite3_file_control(
		c.tls, c.db, name, sqlite3.SQLITE_FCNTL_PERSIST_WAL, on,
	); rc != sqlite3.SQLITE_OK {
		return c.fault(rc)
	}
	return nil
}
