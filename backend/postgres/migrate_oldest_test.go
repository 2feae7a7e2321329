package postgres

import (
	"testing"

	"github.com/spoolhq/spool"
)

// TestOldest names the step that programs must know since runs have fields that older ones would drop. A new field in
// the JSON of a run or a park needs such a step too.
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
	if err := have.usable(2); spool.CodeOf(err) != spool.Conflict {
		t.Errorf("a program with 2 steps: %v", err)
	}
	if err := have.usable(3); err != nil {
		t.Errorf("a program with 3 steps: %v", err)
	}
}
