package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/spoolhq/spool/internal/archive"
)

// Every column of the tables moves, or is left out for a reason.
func TestArchiveCovers(t *testing.T) {
	t.Parallel()

	db, err := Open(filepath.Join(t.TempDir(), "spool.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	have := make(map[string][]string)
	err = db.pool.read(t.Context(), func(c *conn) error {
		return c.query(`SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c
			WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'`, func(r *row) error {
			table := r.Text()
			have[table] = append(have[table], r.Text())
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	wrong := archive.Uncovered(have, map[string]string{"row": "keyed_value"},
		"*.tenant", "*.thread_id", "thread.id", "keyed_value.kind", // the section names them
		"thread.lease_until", "job.claimed", "job.token", // no worker has it
		// the store makes them
		"job.id", "job.lane", "job_dead.id", "job_dead.ord", "thread.bytes_summed", "tally", "audit_last",
		"database_file", "schema_migration") // of this file only
	for _, text := range wrong {
		t.Error(text)
	}
}
