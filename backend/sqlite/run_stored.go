package sqlite

import (
	"encoding/json"

	"github.com/spoolhq/spool"
)

// storedRun has the stored values with which an update of a run is compared: the columns of indexes,
// and the values that the tally counts.
type storedRun struct {
	id       spool.RunID
	depth    int
	state    spool.State
	startKey string
	place    int64
	root     spool.RunID
	tokens   spool.TokenCount
	wait     int // the size of the user turn with which the run waits
}

func storedOf(r *spool.RunRow) storedRun {
	s := storedRun{
		id: r.ID, depth: r.Depth, state: r.State, startKey: r.StartKey, place: r.QueuePosition, root: r.RootID, tokens: r.TokenCount,
	}
	if r.Wait != nil {
		text, _ := json.Marshal(r.Wait) //nolint:errchkjson // it was or will be encoded with the run
		s.wait = len(text)
	}
	return s
}

// moved reports whether the update changes a column of an index.
func (r *storedRun) moved(next *storedRun) bool {
	return r.depth != next.depth || r.state != next.state || r.startKey != next.startKey || r.place != next.place || r.root != next.root
}

// Runs implements [spool.View]. Of a run that is read alone, it remembers the stored values for the update
// of the run.
func (t *tx) Runs(q spool.RunQuery) ([]spool.RunRow, error) {
	runs, err := t.view.Runs(q)
	if err == nil && q.ID != "" && q.Whole && len(runs) > 0 {
		t.remember(storedOf(&runs[0]))
	}
	return runs, err
}

func (t *tx) remember(r storedRun) {
	for i := range t.runs {
		if t.runs[i].id == r.id {
			t.runs[i] = r
			return
		}
	}
	t.runs = append(t.runs, r)
}

// stored returns the stored values of a run.
func (t *tx) stored(id spool.RunID) (storedRun, error) {
	for _, r := range t.runs {
		if r.id == id {
			return r, nil
		}
	}
	run, err := spool.FindRun(t, id)
	return storedOf(&run), err
}
