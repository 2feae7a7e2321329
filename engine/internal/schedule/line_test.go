package schedule

import (
	"encoding/json"
	"testing"

	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// lineOf reads a line of the history.
func lineOf(t *testing.T, from store.Row) (line wire.ScheduleTick) {
	t.Helper()
	if err := json.Unmarshal(from.Value, &line); err != nil {
		t.Fatal(err)
	}
	return line
}
