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

// Run implements [spool.View]. It remembers the stored values for the update of the run.
func (t *tx) Run(id spool.RunID) (spool.RunRow, error) {
	run, err := t.view.Run(id)
	if err == nil {
		t.remember(storedOf(&run))
	}
	return run, err
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
	run, err := t.Run(id)
	return storedOf(&run), err
}
