package lite

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

func openFile(t *testing.T) *Conn {
	t.Helper()
	c, err := Open("file:" + filepath.Join(t.TempDir(), "lite.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func prepare(t *testing.T, c *Conn, query string) *Stmt {
	t.Helper()
	s, err := c.Prepare(query)
	if err != nil || s == nil {
		t.Fatalf("prepare %q: %v, %v", query, s, err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestValues: what is bound is what is read, also where it does not fit into the room of its
// connection, and also when the statement is run again.
func TestValues(t *testing.T) {
	t.Parallel()

	c := openFile(t)
	s := prepare(t, c, "SELECT ?, ?, ?, ?, ?")
	if s.Params() != 5 || s.Columns() != 5 {
		t.Errorf("%d values and %d columns", s.Params(), s.Columns())
	}
	for _, size := range []int{0, 1, roomBytes / 3, roomBytes / 2, roomBytes - 1, roomBytes, 3 * roomBytes, 5} {
		text := strings.Repeat("å", size)
		other := strings.Repeat("x", size)
		bind := errors.Join(s.BindText(text), s.BindBytes([]byte(other)), s.BindInt(int64(-size)), s.BindNull(),
			s.BindText(text))
		more, err := s.Step()
		if bind != nil || err != nil || !more {
			t.Fatalf("%d: %v, %v, %v", size, bind, err, more)
		}
		if s.Text(0) != text || string(s.Bytes(1)) != other || s.Int(2) != int64(-size) || s.Text(4) != text {
			t.Errorf("%d: what is read is not what was bound", size)
		}
		for i, want := range []Kind{Text, Text, Int, Null, Text} {
			if got := s.Kind(i); got != want {
				t.Errorf("%d: column %d is of kind %d, want %d", size, i, got, want)
			}
		}
		if more, err = s.Step(); more || err != nil {
			t.Errorf("%d: a second row: %v, %v", size, more, err)
		}
		s.Reset()
		if len(s.aside) != 0 || c.used != 0 {
			t.Errorf("%d: %d texts are still allocated, and %d bytes used", size, len(s.aside), c.used)
		}
	}
	if s.Runs() != 8 {
		t.Errorf("%d runs", s.Runs())
	}
}

func TestScriptsAndErrors(t *testing.T) {
	t.Parallel()

	c := openFile(t)
	for _, text := range []string{"", "-- nothing", "SELECT 1; SELECT 2"} {
		if s, err := c.Prepare(text); s != nil || err != nil {
			t.Errorf("prepare %q: %v, %v", text, s, err)
		}
	}
	if err := c.Script("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT UNIQUE); INSERT INTO t VALUES (1, 'x'), (2, 'y')"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Prepare("SELECT nobody FROM t"); err == nil ||
		!strings.Contains(err.Error(), "no such column: nobody") {
		t.Errorf("a column that is not there: %v", err)
	}
	s := prepare(t, c, "INSERT INTO t VALUES (?, ?)")
	for id, want := range map[int64]int{1: sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, 3: sqlite3.SQLITE_CONSTRAINT_UNIQUE} {
		if err := errors.Join(s.BindInt(id), s.BindText("y")); err != nil {
			t.Fatal(err)
		}
		_, err := s.Step()
		s.Reset()
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Code != want && e.Code != sqlite3.SQLITE_CONSTRAINT_ROWID {
			t.Errorf("a row that is there: %v", err)
		}
	}
	update := prepare(t, c, "UPDATE t SET b = b")
	if _, err := update.Step(); err != nil || c.Changed() != 2 {
		t.Errorf("an update of both: %d, %v", c.Changed(), err)
	}
	update.Reset()
	if _, err := Open("file:" + filepath.Join(t.TempDir(), "none", "x.db")); err == nil {
		t.Error("a file in a folder that is not there was opened")
	}
}

// TestSlots: the pages of SQLite come from slots, which are used again.
func TestSlots(t *testing.T) {
	t.Parallel()

	c := openFile(t)
	if err := c.Script("CREATE TABLE t (a); INSERT INTO t SELECT hex(randomblob(4000)) FROM (SELECT 1 UNION SELECT 2 UNION SELECT 3)"); err != nil {
		t.Fatal(err)
	}
	slots.mu.Lock()
	all := slots.sizes[2].all
	slots.mu.Unlock()
	if all == 0 {
		t.Error("no page of SQLite is in a slot")
	}

	tls := libc.NewTLS()
	defer tls.Close()
	page := slots.sizes[2].n
	for _, way := range [][]int32{
		{page, sqlitePage, 2 * sqlitePage, 3 * sqlitePage, page}, // from slot to slot
		{100, smallest, 200}, {5 * sqlitePage, 3 * sqlitePage, 5 * sqlitePage, 6 * sqlitePage}, // into one and out of it
	} {
		p := malloc(tls, way[0])
		put(p, int64(7))
		for i, n := range way[1:] {
			p = realloc(tls, p, n)
			if get[int64](p) != 7 || size(tls, p) != n {
				t.Errorf("%d bytes were moved to a piece of %d, which has %d and %d bytes", way[i], n, get[int64](p), size(tls, p))
			}
		}
		free(tls, p)
	}
}

// TestSlotsAreKept: a piece that is freed is the next one of its length, with what was in it. Memory that
// the system has given again would have nothing in it.
func TestSlotsAreKept(t *testing.T) { //nolint:paralleltest // another test could take the slot in between
	c := openFile(t)
	for _, n := range []int32{
		smallest, sqlitePage / 2, sqlitePage, 2*sqlitePage - sizeBytes, 2 * sqlitePage, 4*sqlitePage - sizeBytes,
	} {
		p := malloc(c.tls, n)
		put(p+word, int64(n))
		free(c.tls, p)
		if again := malloc(c.tls, n); again != p || get[int64](again+word) != int64(n) {
			t.Errorf("%d bytes were given back to the system", n)
		}
		free(c.tls, p)
	}
}
