package record

import (
	"strings"
	"testing"

	"github.com/spoolhq/spool/wire"
)

// A gap in the numbers of a stream is noticed, and nothing else is mistaken for one.
func TestWhole(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, after, items string
		want               int
	}{
		{"nothing", "", "", 0},
		{"from the start", "", "4-1 4-2 4-3", 3},
		{"the first is lost", "", "4-2 4-3", 0},
		{"after a place", "4-7", "4-8 4-9", 2},
		{"the next is lost", "4-7", "4-9", 0},
		{"one in the middle is lost", "4-7", "4-8 4-10 4-11", 1},
		{"the end of a later worker", "4-7", "4-8 6-1", 2},
		{"a later worker's second", "4-7", "4-8 6-2", 1},
		{"a place that no item has", "3-9", "4-1 4-2", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			after, _ := wire.ParseOffset(c.after)
			var items []wire.Item
			for o := range strings.FieldsSeq(c.items) {
				at, ok := wire.ParseOffset(o)
				if !ok {
					t.Fatalf("%q is no offset", o)
				}
				items = append(items, wire.Item{Offset: at})
			}
			if got := Whole(after, items); got != c.want {
				t.Errorf("%d items are whole, want %d", got, c.want)
			}
		})
	}
}
