package postgres

import (
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/testing/pgtest"
	"github.com/spoolhq/spool/internal/testing/testwait"
)

// TestNoRowTwice loses the connection of a read behind its first row: the read must fail, and not begin again and
// return that row twice.
func TestNoRowTwice(t *testing.T) {
	t.Parallel()
	db := opened(t, pgtest.Database(t, tables), nil)
	ctx := testwait.Context(t, "the read")
	var rows []int64
	err := db.viewing(ctx, func(s link) error {
		return s.send(ctx, []statement{
			{sql: "SELECT 7::bigint", scan: each(&rows, (*row).Int64)},
			{sql: "SELECT pg_terminate_backend(pg_backend_pid())"},
		})
	})
	if spool.CodeOf(err) != spool.Unavailable || len(rows) != 1 {
		t.Errorf("read %v and returned %v, want one row and an error with the code unavailable", rows, err)
	}
}
