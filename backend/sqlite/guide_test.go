package sqlite_test

import (
	"database/sql"
	"os"
	"strings"
	"testing"
)

// The statement of docs/guides/tools.md refuses the calls of an older worker.
func TestFenceOfGuide(t *testing.T) {
	t.Parallel()

	page, err := os.ReadFile("../../docs/guides/tools.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "\n```sql\n")
	statement, _, found := strings.Cut(rest, "\n```\n")
	if !found {
		t.Fatal("the page has no statement")
	}
	db, err := sql.Open("sqlite", "file::memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // each connection has a database of its own
	if _, err := db.ExecContext(
		t.Context(), "CREATE TABLE run_fence (run TEXT PRIMARY KEY, fence INTEGER NOT NULL)",
	); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		run   string
		fence int
		wrote int64
	}{{"r1", 2, 1}, {"r1", 2, 1}, {"r1", 1, 0}, {"r1", 3, 1}, {"r1", 2, 0}, {"r2", 1, 1}} {
		done, err := db.ExecContext(t.Context(), strings.ReplaceAll(statement, "$", "?"), c.run, c.fence)
		if err != nil {
			t.Fatal(err)
		}
		if wrote, err := done.RowsAffected(); wrote != c.wrote || err != nil {
			t.Errorf("%s, fence %d: %d rows, %v, want %d", c.run, c.fence, wrote, err, c.wrote)
		}
	}
}
