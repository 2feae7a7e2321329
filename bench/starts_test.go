package main

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestBareStartsWriteTheSame compares the rows that the two sides leave, as otherwise the
// bare one could fall behind Spool's tables without anybody noticing.
func TestBareStartsWriteTheSame(t *testing.T) {
	t.Parallel()

	b := &bench{ctx: t.Context(), dir: t.TempDir()}
	rows := make(map[string]string)
	for _, role := range []string{"spool", "bare-starts"} {
		file := filepath.Join(b.dir, role+".db")
		c, err := b.spawn(role, options{File: file})
		if err != nil {
			t.Fatal(err)
		}
		_, err = driveStarts(c, 1, time.Millisecond)
		if stopped := c.stop(); err != nil || stopped != nil {
			t.Fatal(err, stopped)
		}
		rows[role] = firstRows(t, file)
	}
	if rows["spool"] != rows["bare-starts"] {
		t.Errorf("Spool wrote\n%s\nbare wrote\n%s", rows["spool"], rows["bare-starts"])
	}
}

var varying = regexp.MustCompile(`(thr|run|msg)_[0-9a-z]{26}|[0-9]{15,16}|\b[A-Z2-7]{26}\b|\b20[0-9-]{8}T[0-9:.]+Z`)

// firstRows returns the first row of each table, without what differs between any two.
func firstRows(t *testing.T, file string) string {
	t.Helper()

	db, err := sql.Open("sqlite", "file:"+file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var out strings.Builder
	for _, table := range []string{
		"thread", "run", "message", "entry", "park", "effect", "usage", "delta", "job", "job_dead", "tally",
	} {
		fmt.Fprintf(&out, "%s: %s\n", table, varying.ReplaceAllString(firstRow(t, db, table), "$1"))
	}
	// A time in a delta has as many digits as it needs, so the bytes of two threads differ.
	var bytes, delta int64
	if err := db.QueryRowContext(t.Context(), `SELECT t.bytes, length(CAST(d.body AS BLOB)) FROM thread t JOIN delta d
		ON d.tenant = t.tenant AND d.thread_id = t.id LIMIT 1`).Scan(&bytes, &delta); err != nil {
		t.Fatal(err)
	}
	return strings.Replace(out.String(), fmt.Sprintf(" bytes=%d ", bytes), fmt.Sprintf(" bytes=%d+delta ", bytes-delta), 1)
}

func firstRow(t *testing.T, db *sql.DB, table string) string {
	t.Helper()

	rows, err := db.QueryContext(context.Background(), "SELECT * FROM "+table+" LIMIT 1") //nolint:unqueryvet // all columns are compared
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	if !rows.Next() {
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		return "none"
	}
	values := make([]any, len(names))
	for i := range values {
		values[i] = new(any)
	}
	if err := rows.Scan(values...); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for i, name := range names {
		fmt.Fprintf(&out, "%s=%v ", name, *values[i].(*any)) //nolint:errcheck,forcetypeassert // made above
	}
	return out.String()
}
