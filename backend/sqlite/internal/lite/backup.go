package lite

import (
	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// Backup copies a database page by page.
type Backup struct {
	from, to *Conn
	p        uintptr
}

// NewBackup begins to copy the connection's database into the database at a URI.
func (c *Conn) NewBackup(uri string) (*Backup, error) {
	to, err := Open(uri)
	if err != nil {
		return nil, err
	}
	name, err := libc.CString("main")
	if err != nil {
		_ = to.Close()
		return nil, err
	}
	defer libc.Xfree(c.tls, name)
	b := &Backup{from: c, to: to, p: sqlite3.Xsqlite3_backup_init(c.tls, to.db, name, c.db, name)}
	if b.p == 0 {
		err := to.fault(sqlite3.Xsqlite3_extended_errcode(to.tls, to.db))
		_ = to.Close()
		return nil, err
	}
	return b, nil
}

// Step copies at most the given number of pages, and reports whether more pages are left.
func (b *Backup) Step(pages int32) (more bool, err error) {
	switch rc := sqlite3.Xsqlite3_backup_step(b.from.tls, b.p, pages); rc {
	case sqlite3.SQLITE_OK:
		return true, nil
	case sqlite3.SQLITE_DONE:
		return false, nil
	default:
		return false, b.to.fault(rc)
	}
}

// Commit finishes the copy and returns the connection to it.
func (b *Backup) Commit() (*Conn, error) {
	if rc := sqlite3.Xsqlite3_backup_finish(b.from.tls, b.p); rc != sqlite3.SQLITE_OK {
		err := b.to.fault(rc)
		_ = b.to.Close()
		return nil, err
	}
	return b.to, nil
}

// Abandon stops copying.
func (b *Backup) Abandon() error {
	sqlite3.Xsqlite3_backup_finish(b.from.tls, b.p) // an error here is the error of the last step
	return b.to.Close()
}
