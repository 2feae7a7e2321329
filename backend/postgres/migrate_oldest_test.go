package postgres

import (
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/testing/pgtest"
)

// TestDeltasOfOldPrograms: a program without step 5 deletes a thread without its deltas, and makes it again. The
// deltas go with the thread, and those of the new one begin anew.
func TestDeltasOfOldPrograms(t *testing.T) {
	t.Parallel()
	address := pgtest.Database(t, nil)
	db := openURL(t, address, nil)
	key := spool.ThreadKey{Tenant: "tenant", ID: "t"}
	add := func(d *spool.SnapshotDelta) {
		t.Helper()
		err := db.Update(t.Context(), key, 0, func(tx spool.Tx) error {
			return tx.Write(spool.Changes{Thread: &spool.Thread{State: spool.Idle}, Delta: d})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	var last, first spool.SnapshotDelta
	add(&spool.SnapshotDelta{})
	add(&last)
	execute(t, address, "DELETE FROM spool.thread")
	execute(t, address, `INSERT INTO spool.thread (tenant, id, state, model, title, owner, labels, created_at, updated_at, run_id, last_seq, fence, lease_until, bytes, bytes_summed)
		VALUES ('tenant', 't', 'IDLE', '', '', '', '{}', 1, 1, '', 0, 0, 0, 0, 0)`)
	add(&first)
	var stored []spool.SnapshotDelta
	err := db.View(t.Context(), key, func(v spool.View) (err error) {
		stored, err = v.Deltas(spool.DeltaQuery{})
		return err
	})
	if err != nil || last.Version != 2 || first.Version != 1 || len(stored) != 1 {
		t.Errorf("versions %d before and %d after, %d are stored: %v", last.Version, first.Version, len(stored), err)
	}
}

// TestOldest names the step that programs must know since commits have deltas, which older ones would not write. A new
// field in the JSON of a run or a park needs such a step too, because they would drop it.
func TestOldest(t *testing.T) {
	t.Parallel()

	all, err := loadMigrations()
	if err != nil {
		t.Fatal(err)
	}
	var have schema
	for _, m := range all {
		have = schema{version: m.version, oldest: max(have.oldest, m.oldest)}
	}
	if err := have.usable(4); spool.CodeOf(err) != spool.Conflict {
		t.Errorf("a program with 4 steps: %v", err)
	}
	if err := have.usable(5); err != nil {
		t.Errorf("a program with 5 steps: %v", err)
	}
}
