package postgres

import (
	"testing"

	"github.com/spoolhq/spool"
)

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
