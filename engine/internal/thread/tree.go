package thread

import (
	"slices"

	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// tree is what a transition reads about a dispatched run without a worker: the run, its nested runs,
// and their parks.
type tree struct {
	runs  []store.RunRow // the dispatched run first
	parks []store.Park   // the parks whose calls have no result yet
	// working is true if a step has a draft: its tools may have run.
	working bool
	// saved is the last offset of the latest segment's stream that the messages contain.
	saved wire.Offset
}

func readTree(tx *Tx) (t tree, err error) {
	var nested []store.RunRow
	if tx.Run.Children > 0 {
		if nested, err = record.Nested(tx.Store, tx.Run.ID); err != nil {
			return t, err
		}
	}
	t.runs = append([]store.RunRow{tx.Run}, nested...)
	t.working = slices.ContainsFunc(t.runs, func(r store.RunRow) bool { return r.Draft != nil && !r.State.Terminal() })
	t.saved = record.SavedBy(tx.Run, nested).Last()
	t.parks, err = tx.Parks()
	return t, err
}
