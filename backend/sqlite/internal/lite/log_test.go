package lite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"modernc.org/libc"
	"modernc.org/libc/sys/types"
	sqlite3 "modernc.org/sqlite/lib"
)

// TestGatherLog: what is committed is in the log, in few writes, also when SQLite spills pages in
// the middle of a transaction, reads them again and rolls them back.
func TestGatherLog(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "lite.db")
	open := func() *Conn {
		c, err := Open("file:" + path)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := open()
	script := func(text string) {
		t.Helper()
		if err := c.Script(text); err != nil {
			t.Fatal(err)
		}
	}
	script("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (n INTEGER PRIMARY KEY, text)")
	if err := c.GatherLog(); err != nil {
		t.Fatal(err)
	}
	file, err := c.log()
	if err != nil {
		t.Fatal(err)
	}
	g := gatheredOf(file)
	other := open()
	rows := func(want int64) {
		t.Helper()
		s, err := other.Prepare("SELECT count(*), (SELECT integrity_check FROM pragma_integrity_check) FROM t")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		if _, err := s.Step(); err != nil || s.Int(0) != want || s.Text(1) != "ok" {
			t.Fatalf("another connection reads %d rows, want %d; %s, %v", s.Int(0), want, s.Text(1), err)
		}
	}
	fill := func(n int) string {
		return fmt.Sprintf(
			"INSERT INTO t (text) SELECT hex(randomblob(2000)) FROM (WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < %d) SELECT n FROM r);",
			n,
		)
	}
	script(fill(8))
	rows(8)
	if g.writes != 1 || g.n != 0 {
		t.Errorf("a commit of ten pages was %d writes, and %d bytes are left", g.writes, g.n)
	}
	// It reads pages that are only gathered. The first spill shows it, as a later one finds old pages in their places.
	script("PRAGMA cache_size = 10; BEGIN;" + fill(20) + "UPDATE t SET n = -n; ROLLBACK")
	rows(8)
	script("BEGIN;" + fill(300) + "ROLLBACK")
	rows(8)
	script("BEGIN;" + fill(300) + "UPDATE t SET text = 'x' WHERE n % 3 = 0; SAVEPOINT s;" + fill(50) +
		"ROLLBACK TO s; COMMIT")
	rows(308)
	script("PRAGMA wal_checkpoint(TRUNCATE)")
	if info, err := os.Stat(path + "-wal"); err != nil || info.Size() != 0 {
		t.Errorf("the log after a checkpoint: %v, %v", info, err)
	}
	script(fill(1))
	rows(309)
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	rows(309)

	// A connection whose log cannot be written fails at the commit.
	c = other
	if err := c.GatherLog(); err != nil {
		t.Fatal(err)
	}
	if file, err = c.log(); err != nil {
		t.Fatal(err)
	}
	g = gatheredOf(file)
	system := g.system
	failing := libc.Xmalloc(c.tls, types.Size_t(unsafe.Sizeof(g.functions)))
	defer libc.Xfree(nil, failing)
	full := *systemOf(g)
	full.FxWrite = function(func(*libc.TLS, uintptr, uintptr, int32, int64) int32 { return sqlite3.SQLITE_FULL })
	put(failing, full)
	g.system = failing
	err = c.Script("PRAGMA synchronous = FULL;" + fill(1))
	g.system = system
	if e, ok := errors.AsType[*Error](err); !ok || e.Code != sqlite3.SQLITE_FULL {
		t.Errorf("a commit on a full disk: %v", err)
	}
	rows(309)
	script(fill(1))
	rows(310)
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
