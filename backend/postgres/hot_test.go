package postgres

import (
	"testing"
	"time"

	"github.com/spoolhq/spool/internal/testing/pgtest"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// A step leaves the indexes of the thread and of the run alone, so that it leaves little for a vacuum.
func TestStepsLeaveIndexesAlone(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t, tables)
	db := openURL(t, url, nil)
	update := func(fn func(tx store.Tx) error) {
		t.Helper()
		if err := db.Update(t.Context(), handKey, 0, fn); err != nil {
			t.Fatal(err)
		}
	}
	update(byHand("r1")[0].fn)
	const steps = 40
	for range steps {
		update(func(tx store.Tx) error {
			thread, err := tx.Thread()
			if err != nil {
				return err
			}
			run, err := store.FindRun(tx, "r1")
			if err != nil {
				return err
			}
			thread.LeaseUntil = tx.Now().Add(time.Minute)
			run.Steps++
			run.InputTokens++
			run.WallTime += time.Second
			return tx.Write(store.Changes{
				Thread: &thread, Runs: []store.RunRow{run}, Entries: []*wire.Entry{wire.NewEntry("A", "r1", nil)},
			})
		})
	}
	_ = db.Close() // the server publishes what a connection has done at its end

	db = openURL(t, url, nil)
	for _, table := range []string{"thread", "run", "tally"} {
		ctx := testwait.Context(t, "the numbers of "+table)
		updates, hot := int64(-1), int64(-1)
		for updates < steps {
			err := db.read(ctx,
				"SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE schemaname = 'spool' AND relname = ?",
				func(r *row) { updates, hot = r.Int64(), r.Int64() }, table)
			if err != nil {
				t.Fatal(err)
			}
		}
		if hot < updates*9/10 {
			t.Errorf("%s: %d updates, of which %d left the indexes alone", table, updates, hot)
		}
	}
}
