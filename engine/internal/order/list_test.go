package order

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// lines returns a line for each item of a list: the offset, the entry before it, the type.
func lines(l *List) (lines []string) {
	items, _, _ := l.Items()
	for _, item := range items {
		lines = append(lines, item.Offset.String()+" after "+string(rune('0'+item.Seq))+" "+string(item.Type))
	}
	return lines
}

func custom(l *List) { l.Item("", wire.ItemCustom, wire.Custom{Name: "note"}) }

// entry adds an entry, which the record gives a seq.
func entry(l *List, seq int64) *wire.Entry {
	e := &wire.Entry{}
	l.Place(e)
	l.After(seq)
	return e
}

// Items and entries have the order in which a transition has added them.
func TestListNumbers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		add   func(l *List) []*wire.Entry
		items []string
		after []string // the items before the entries
	}{
		{"nothing", func(*List) []*wire.Entry { return nil }, nil, nil},
		{
			"items", func(l *List) []*wire.Entry { custom(l); custom(l); return nil },
			[]string{"3-8 after 4 CUSTOM", "3-9 after 4 CUSTOM"},
			nil,
		},
		{"an entry before an item", func(l *List) []*wire.Entry {
			e := entry(l, 5)
			custom(l)
			return []*wire.Entry{e}
		}, []string{"3-8 after 5 CUSTOM"}, []string{"3-7"}},
		{"an entry among items", func(l *List) []*wire.Entry {
			custom(l)
			e := entry(l, 5)
			custom(l)
			return []*wire.Entry{e}
		}, []string{"3-8 after 4 CUSTOM", "3-9 after 5 CUSTOM"}, []string{"3-8"}},
		{"the end before its entry", func(l *List) []*wire.Entry {
			l.End(wire.ItemRunFinished, wire.StreamFinished{})
			return []*wire.Entry{entry(l, 5)}
		}, []string{"3-8 after 4 RUN_FINISHED"}, []string{"3-8"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := New("r:2", 3, Mark{N: 7, Seq: 2})
			for range 2 { // a transaction may run twice
				l.Begin(4)
				var after []string
				for _, e := range c.add(l) {
					if e.Stream != "r:2" {
						t.Errorf("an entry is in stream %q", e.Stream)
					}
					after = append(after, e.After.String())
				}
				if diff := cmp.Diff(c.items, lines(l)); diff != "" {
					t.Errorf("items (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(c.after, after); diff != "" {
					t.Errorf("entries (-want +got):\n%s", diff)
				}
				items, last, ends := l.Items()
				if last.N != 7+int64(len(items)) || l.Last() != (wire.Offset{Fence: 3, N: last.N}) {
					t.Errorf("the last item is %d, and the list stands at %s", last.N, l.Last())
				}
				if want := strings.HasPrefix(c.name, "the end"); ends != want {
					t.Errorf("the list ends the stream: %t", ends)
				}
			}
		})
	}
}

// Content of a nested run is wrapped in an item of the tree. Other items name their agent themselves.
func TestWrap(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		agent   spool.AgentID
		of      wire.ItemType
		payload any
		want    wire.ItemType
	}{
		{"", wire.ItemTextContent, wire.Delta{}, wire.ItemTextContent},
		{"n1", wire.ItemTextContent, wire.Delta{}, wire.ItemSubagentEvent},
		{"n1", wire.ItemToolResult, wire.ToolResulted{}, wire.ItemSubagentEvent},
		{"n1", wire.ItemStepFinished, wire.StepFinished{}, wire.ItemStepFinished},
		{"n1", wire.ItemInputRequired, wire.InputRequired{}, wire.ItemInputRequired},
	} {
		if got, _ := Wrap(c.agent, c.of, c.payload); got != c.want {
			t.Errorf("%s of %q is carried by %s, want %s", c.of, c.agent, got, c.want)
		}
	}
}

// STEP_FINISHED and the end follow the saved items.
func TestEndAfter(t *testing.T) {
	t.Parallel()
	if got := EndAfter(wire.Offset{}); !got.IsZero() {
		t.Errorf("the end stands at %s where nothing is saved", got)
	}
	if got := EndAfter(wire.Offset{Fence: 2, N: 5}); got != (wire.Offset{Fence: 2, N: 7}) {
		t.Errorf("the end stands at %s", got)
	}
}
