package sqlite

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// storedRun has the stored values with which an update of a run is compared: with those that all
// databases compare, the columns of indexes.
type storedRun struct {
	form.StoredRun

	startKey string
	root     spool.RunID
	expired  wire.Expired
}

func storedOf(r *store.RunRow) storedRun {
	return storedRun{StoredRun: form.StoredOf(r), startKey: r.StartKey, root: r.RootID, expired: r.Expired}
}

// moved reports whether the update changes a column of an index.
func (r *storedRun) moved(next *storedRun) bool {
	return r.Depth != next.Depth || r.State != next.State || r.startKey != next.startKey || r.Place != next.Place ||
		r.root != next.root ||
		r.expired != next.expired
}

// Runs implements [store.View]. Of a run that is read alone, it remembers the stored values for the update
// of the run.
func (t *tx) Runs(q wire.RunQuery) ([]store.RunRow, error) {
	runs, err := t.view.Runs(q)
	if err == nil && q.ID != "" && q.Whole && len(runs) > 0 {
		t.remember(storedOf(&runs[0]))
	}
	return runs, err
}

func (t *tx) remember(r storedRun) {
	for i := range t.runs {
		if t.runs[i].ID == r.ID {
			t.runs[i] = r
			return
		}
	}
	t.runs = append(t.runs, r)
}

// stored returns the stored values of a run.
func (t *tx) stored(id spool.RunID) (storedRun, error) {
	for _, r := range t.runs {
		if r.ID == id {
			return r, nil
		}
	}
	run, err := store.FindRun(t, id)
	return storedOf(&run), err
}
