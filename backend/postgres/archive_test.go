package postgres

import (
	"testing"

	"github.com/spoolhq/spool/internal/archive"
)

// Every column of the tables moves, or is left out for a reason.
func TestArchiveCovers(t *testing.T) {
	t.Parallel()
	db := openFresh(t)
	have := make(map[string][]string)
	err := db.read(t.Context(),
		"SELECT table_name::text, column_name::text FROM information_schema.columns WHERE table_schema = ?", func(r *row) {
			table := r.Text()
			have[table] = append(have[table], r.Text())
		}, db.dialect.schema)
	if err != nil {
		t.Fatal(err)
	}
	wrong := archive.Uncovered(have, map[string]string{"row": "shared_row"},
		"*.tenant", "*.thread_id", "thread.id", "shared_row.kind", // the section names them
		"thread.lease_until", "job.claimed", "job.token", // no worker has it
		"job.id", "job_dead.id", "job.lane", "thread.bytes_summed", "tally", "audit_last", // the store makes them
		"schema_step", "probe", "stream", "stream_hour", "stream_item", "wake") // of this database only
	for _, text := range wrong {
		t.Error(text)
	}
}
