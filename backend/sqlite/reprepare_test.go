package sqlite

import (
	"context"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"unsafe"

	sqlite3 "modernc.org/sqlite/lib"
)

// reprepared returns how often SQLite has prepared each statement of a connection again,
// because a value was bound that the plan might depend on. The driver does not tell, so its
// fields are read.
func reprepared(t *testing.T, c *conn) map[string]int {
	t.Helper()
	field := func(of any, name string) reflect.Value {
		f := reflect.ValueOf(of).Elem().FieldByName(name)
		if !f.IsValid() {
			t.Fatalf("the driver's %T has no field %s any more", of, name)
		}
		return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
	}
	status := reflect.ValueOf(sqlite3.Xsqlite3_stmt_status)
	counts := make(map[string]int)
	for query, s := range c.stmts {
		handle := field(s.exec, "pstmt")
		if handle.Uint() == 0 { // several statements in one text
			continue
		}
		got := status.Call([]reflect.Value{
			field(c.raw, "tls"), handle,
			reflect.ValueOf(int32(sqlite3.SQLITE_STMTSTATUS_REPREPARE)), reflect.ValueOf(int32(0)),
		})
		counts[query] = int(got[0].Int())
	}
	return counts
}

// TestNoReprepare: no statement is prepared again when it is used again with other values.
// It cost 13 % of a run when the planner compared bound values with the conditions of
// partial indexes.
func TestNoReprepare(t *testing.T) {
	t.Parallel()

	db, err := Open(filepath.Join(t.TempDir(), "spool.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	useEverything(t, db)
	sum := func() map[string]int {
		counts := make(map[string]int)
		add := func(c *conn) {
			for query, n := range reprepared(t, c) {
				counts[query] += n
			}
		}
		for _, c := range append(db.pool.idle, db.starts.idle...) {
			add(c)
		}
		if err := db.queue(context.Background(), func(tx *tx) error {
			add(tx.c)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return counts
	}
	before := sum()
	useEverything(t, db)
	after := sum()
	if len(after) < 30 {
		t.Errorf("only %d statements were seen", len(after))
	}
	for _, query := range slices.Sorted(maps.Keys(after)) {
		if n := after[query] - before[query]; n > 0 {
			t.Errorf("prepared again %d times: %s", n, query)
		}
	}
}
