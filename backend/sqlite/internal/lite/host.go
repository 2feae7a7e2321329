package lite

import (
	"sync"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// Action is what a part of a statement does.
type Action int32

// The actions. Comments give the two texts that belong to the action.
const (
	CreateIndex   Action = sqlite3.SQLITE_CREATE_INDEX   // index, table
	CreateTable   Action = sqlite3.SQLITE_CREATE_TABLE   // table
	CreateTrigger Action = sqlite3.SQLITE_CREATE_TRIGGER // trigger, table
	CreateView    Action = sqlite3.SQLITE_CREATE_VIEW    // view
	Delete        Action = sqlite3.SQLITE_DELETE         // table
	DropIndex     Action = sqlite3.SQLITE_DROP_INDEX     // index, table
	DropTable     Action = sqlite3.SQLITE_DROP_TABLE     // table
	DropTrigger   Action = sqlite3.SQLITE_DROP_TRIGGER   // trigger, table
	DropView      Action = sqlite3.SQLITE_DROP_VIEW      // view
	Insert        Action = sqlite3.SQLITE_INSERT         // table
	Read          Action = sqlite3.SQLITE_READ           // table, column
	Select        Action = sqlite3.SQLITE_SELECT
	Update        Action = sqlite3.SQLITE_UPDATE      // table, column
	AlterTable    Action = sqlite3.SQLITE_ALTER_TABLE // database, table
	Reindex       Action = sqlite3.SQLITE_REINDEX     // index
	Function      Action = sqlite3.SQLITE_FUNCTION    // nothing, function
	Recursive     Action = sqlite3.SQLITE_RECURSIVE
)

// guards has the rules of guarded connections by the address of their switch.
var guards sync.Map // uintptr: func(Action, string, string) bool

// Guard makes SQLite ask allow about each action of a statement that it prepares within [Conn.Guarded].
func (c *Conn) Guard(allow func(a Action, first, second string) bool) error {
	c.guarded = libc.Xcalloc(c.tls, 1, 4)
	if c.guarded == 0 {
		return c.fault(sqlite3.SQLITE_NOMEM)
	}
	guards.Store(c.guarded, allow)
	if rc := sqlite3.Xsqlite3_set_authorizer(c.tls, c.db, function(authorize), c.guarded); rc != sqlite3.SQLITE_OK {
		return c.fault(rc)
	}
	return nil
}

// Guarded runs fn with the rules of [Conn.Guard].
func (c *Conn) Guarded(fn func() error) error {
	put(c.guarded, int32(1))
	defer func() { put(c.guarded, int32(0)) }()
	return fn()
}

// unguard frees what Guard has allocated.
func (c *Conn) unguard() {
	if c.guarded != 0 {
		guards.Delete(c.guarded)
		libc.Xfree(c.tls, c.guarded)
		c.guarded = 0
	}
}

func authorize(_ *libc.TLS, guarded uintptr, action int32, first, second, _, _ uintptr) int32 {
	if get[int32](guarded) == 0 {
		return sqlite3.SQLITE_OK
	}
	rules, _ := guards.Load(guarded)
	allow, _ := rules.(func(Action, string, string) bool)
	if allow == nil || !allow(Action(action), libc.GoString(first), libc.GoString(second)) {
		return sqlite3.SQLITE_DENY
	}
	return sqlite3.SQLITE_OK
}

// Interrupt makes the running statement fail soon. It is the only method that another goroutine may
// call, while the connection is open.
func (c *Conn) Interrupt() { sqlite3.Xsqlite3_interrupt(nil, c.db) }

// LastID returns the row id of the last inserted row.
func (c *Conn) LastID() int64 { return sqlite3.Xsqlite3_last_insert_rowid(c.tls, c.db) }

// Name returns the name of column i.
func (s *Stmt) Name(i int) string {
	return libc.GoString(sqlite3.Xsqlite3_column_name(s.c.tls, s.p, int32(i))) //nolint:gosec // SQLite has a bound on columns
}

// Declared returns the type with which column i was declared, or "" for an expression.
func (s *Stmt) Declared(i int) string {
	return libc.GoString(sqlite3.Xsqlite3_column_decltype(s.c.tls, s.p, int32(i))) //nolint:gosec // SQLite has a bound on columns
}

// Float returns the number in column i.
func (s *Stmt) Float(i int) float64 {
	return sqlite3.Xsqlite3_column_double(s.c.tls, s.p, int32(i)) //nolint:gosec // SQLite has a bound on columns
}

// BindFloat binds a number.
func (s *Stmt) BindFloat(n float64) error {
	s.bound++
	return s.ok(sqlite3.Xsqlite3_bind_double(s.c.tls, s.p, int32(s.bound), n)) //nolint:gosec // SQLite has a bound on parameters
}

// BindBlob binds a copy of bytes. Nil is an empty value, not NULL.
func (s *Stmt) BindBlob(blob []byte) error {
	if len(blob) == 0 {
		s.bound++
		return s.ok(sqlite3.Xsqlite3_bind_zeroblob(s.c.tls, s.p, int32(s.bound), 0)) //nolint:gosec // SQLite has a bound on parameters
	}
	p, err := place(s, blob)
	if err != nil {
		return err
	}
	return s.ok(sqlite3.Xsqlite3_bind_blob64(s.c.tls, s.p, int32(s.bound), p, uint64(len(blob)), 0)) //nolint:gosec // SQLite has a bound on parameters
}

// Blob returns a copy of the bytes in column i. It is not nil.
func (s *Stmt) Blob(i int) []byte {
	p := sqlite3.Xsqlite3_column_blob(s.c.tls, s.p, int32(i))       //nolint:gosec // SQLite has a bound on columns
	n := int(sqlite3.Xsqlite3_column_bytes(s.c.tls, s.p, int32(i))) //nolint:gosec // SQLite has a bound on columns
	blob := make([]byte, n)
	if p != 0 && n != 0 {
		copy(blob, bytesAt(p, n))
	}
	return blob
}
