package lite

import (
	"unsafe"

	"modernc.org/libc"
	"modernc.org/libc/sys/types"
	sqlite3 "modernc.org/sqlite/lib"
)

// logBytes is the size of a write to the log: about thirty pages.
const logBytes = 128 << 10

// gathered is the log of a connection. For this log, SQLite calls these functions instead of the
// operating system's. A commit makes two writes for each changed page. The functions gather these
// writes, and write them before any other operation on the log. Above all, that is before the log is
// synced, because no other process reads the writes before that. The functions are the first field,
// because SQLite finds them at the beginning.
type gathered struct {
	functions sqlite3.Tsqlite3_io_methods
	system    uintptr // the functions of the operating system
	at        int64   // the position of the gathered bytes in the log
	n         int64   // the number of gathered bytes
	writes    int64   // the number of writes to the file
	bytes     [logBytes]byte
}

// GatherLog makes SQLite write the log of the database in larger pieces. The connection must already
// have used the log, commit with an fsync (synchronous = FULL), and stay in WAL mode.
func (c *Conn) GatherLog() error {
	file, err := c.log()
	if err != nil || file == 0 || get[uintptr](file) == 0 {
		return err
	}
	p := libc.Xcalloc(c.tls, 1, types.Size_t(unsafe.Sizeof(gathered{})))
	if p == 0 {
		return c.fault(sqlite3.SQLITE_NOMEM)
	}
	g := (*gathered)(at(p))
	g.system = get[uintptr](file)
	g.functions = *systemOf(g)
	g.functions.FxClose = function(closeLog)
	g.functions.FxRead = function(readLog)
	g.functions.FxWrite = function(writeLog)
	g.functions.FxTruncate = function(truncateLog)
	g.functions.FxSync = function(syncLog)
	g.functions.FxFileSize = function(sizeOfLog)
	put(file, p)
	return nil
}

// log returns the open file of the log. The file begins with the address of its functions.
func (c *Conn) log() (uintptr, error) {
	name, err := libc.CString("main")
	if err != nil {
		return 0, err
	}
	defer libc.Xfree(c.tls, name)
	out := c.tls.Alloc(int(word))
	defer c.tls.Free(int(word))
	if rc := sqlite3.Xsqlite3_file_control(
		c.tls, c.db, name, sqlite3.SQLITE_FCNTL_JOURNAL_POINTER, out,
	); rc != sqlite3.SQLITE_OK {
		return 0, c.fault(rc)
	}
	return get[uintptr](out), nil
}

func gatheredOf(file uintptr) *gathered { return (*gathered)(at(get[uintptr](file))) }

func systemOf(g *gathered) *sqlite3.Tsqlite3_io_methods {
	return (*sqlite3.Tsqlite3_io_methods)(at(g.system))
}

// as returns the C function at an address as a Go function.
func as[T any](p uintptr) T { return *(*T)(unsafe.Pointer(&p)) }

type (
	transfer = func(tls *libc.TLS, file, bytes uintptr, n int32, at int64) int32
	simple   = func(tls *libc.TLS, file uintptr) int32
)

// flush writes the gathered bytes.
func (g *gathered) flush(tls *libc.TLS, file uintptr) int32 {
	n := g.n
	if n == 0 {
		return sqlite3.SQLITE_OK
	}
	g.n = 0
	g.writes++
	bytes := get[uintptr](file) + unsafe.Offsetof(g.bytes)
	return as[transfer](systemOf(g).FxWrite)(tls, file, bytes, int32(n), g.at) //nolint:gosec // at most logBytes
}

func writeLog(tls *libc.TLS, file, bytes uintptr, n int32, at int64) int32 {
	g := gatheredOf(file)
	if g.n > 0 && (g.at+g.n != at || g.n+int64(n) > logBytes) {
		if rc := g.flush(tls, file); rc != sqlite3.SQLITE_OK {
			return rc
		}
	}
	if n > logBytes {
		return as[transfer](systemOf(g).FxWrite)(tls, file, bytes, n, at)
	}
	if g.n == 0 {
		g.at = at
	}
	copy(g.bytes[g.n:], bytesAt(bytes, int(n)))
	g.n += int64(n)
	return sqlite3.SQLITE_OK
}

func syncLog(tls *libc.TLS, file uintptr, flags int32) int32 {
	g := gatheredOf(file)
	if rc := g.flush(tls, file); rc != sqlite3.SQLITE_OK {
		return rc
	}
	return as[func(*libc.TLS, uintptr, int32) int32](systemOf(g).FxSync)(tls, file, flags)
}

func readLog(tls *libc.TLS, file, bytes uintptr, n int32, at int64) int32 {
	g := gatheredOf(file)
	if rc := g.flush(tls, file); rc != sqlite3.SQLITE_OK {
		return rc
	}
	return as[transfer](systemOf(g).FxRead)(tls, file, bytes, n, at)
}

func truncateLog(tls *libc.TLS, file uintptr, size int64) int32 {
	g := gatheredOf(file)
	if rc := g.flush(tls, file); rc != sqlite3.SQLITE_OK {
		return rc
	}
	return as[func(*libc.TLS, uintptr, int64) int32](systemOf(g).FxTruncate)(tls, file, size)
}

func sizeOfLog(tls *libc.TLS, file, size uintptr) int32 {
	g := gatheredOf(file)
	if rc := g.flush(tls, file); rc != sqlite3.SQLITE_OK {
		return rc
	}
	return as[func(*libc.TLS, uintptr, uintptr) int32](systemOf(g).FxFileSize)(tls, file, size)
}

// closeLog closes the log. Bytes that are still gathered were never committed.
func closeLog(tls *libc.TLS, file uintptr) int32 {
	p := get[uintptr](file)
	g := gatheredOf(file)
	put(file, g.system)
	rc := as[simple](systemOf(g).FxClose)(tls, file)
	libc.Xfree(tls, p)
	return rc
}
