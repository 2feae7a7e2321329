package view_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// TestMissedFixtures says of which runs a view does not know how they are, and what it takes from another snapshot,
// in the cases that clients in every language share.
func TestMissedFixtures(t *testing.T) {
	t.Parallel()

	type shownRun struct {
		ID      spool.RunID `json:"id"`
		State   wire.State  `json:"state"`
		EndedAt time.Time   `json:"endedAt,omitzero"`
	}
	var file struct {
		Missed []struct {
			viewCase

			Untold []spool.RunID
			Told   *wire.Snapshot
			Shown  []shownRun
		}
	}
	fixture(t, "missed", &file)
	for _, c := range file.Missed {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()

			v := c.applied(t)
			untold := []spool.RunID{}
			for _, r := range v.Untold() {
				untold = append(untold, r.ID)
			}
			if diff := cmp.Diff(c.Untold, untold); diff != "" {
				t.Errorf("the runs of which nothing tells (-fixture +view):\n%s", diff)
			}
			before, err := json.Marshal(v.Runs())
			if err != nil {
				t.Fatal(err)
			}
			changed := v.Tell(c.Told)
			after, err := json.Marshal(v.Runs())
			if err != nil {
				t.Fatal(err)
			}
			if changed != (string(before) != string(after)) {
				t.Errorf("Tell says %t, before %s, after %s", changed, before, after)
			}
			var shown []shownRun
			for _, r := range v.Runs() {
				shown = append(shown, shownRun{r.ID, r.State, r.EndedAt})
			}
			if diff := cmp.Diff(c.Shown, shown); diff != "" {
				t.Errorf("shown (-fixture +view):\n%s", diff)
			}
		})
	}
}
