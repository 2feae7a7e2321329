package order

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
)

// lines returns a line for each item of a list: the offset, the entry before it, the type.
func lines(l *List) (lines []string) {
	items, _, _ := l.Items()
	for _, item := range items {
		lines = append(lines, item.Offset.String()+" after "+string(rune('0'+item.Seq))+" "+string(item.Type))
	}
	return lines
}

func custom(l *List) { l.Item("", spool.ItemCustom, spool.Custom{Name: "note"}) }

// entry adds an entry, which the record gives a seq.
func entry(l *List, seq int64) *spool.Entry {
	e := &spool.Entry{}
	l.Place(e)
	l.After(seq)
	return e
}

// Items and entries have the order in which a transition has added them.
func TestListNumbers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		add   func(l *List) []*spool.Entry
		items []string
		after []string // the items before the entries
	}{
		{"nothing", func(*List) []*spool.Entry { return nil }, nil, nil},
		{"items", func(l *List) []*spool.Entry { custom(l); custom(l); return nil }, []string{"3-8 after 4 CUSTOM", "3-9 after 4 CUSTOM"}, nil},
		{"an entry before an item", func(l *List) []*spool.Entry {
			e := entry(l, 5)
			custom(l)
			return []*spool.Entry{e}
		}, []string{"3-8 after 5 CUSTOM"}, []string{"3-7"}},
		{"an entry among items", func(l *List) []*spool.Entry {
			custom(l)
			e := entry(l, 5)
			custom(l)
			return []*spool.Entry{e}
		}, []string{"3-8 after 4 CUSTOM", "3-9 after 5 CUSTOM"}, []string{"3-8"}},
		{"the end before its entry", func(l *List) []*spool.Entry {
			l.End(spool.ItemRunFinished, spool.StreamFinished{})
			return []*spool.Entry{entry(l, 5)}
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
				if last.N != 7+int64(len(items)) || l.Last() != (spool.Offset{Fence: 3, N: last.N}) {
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
		of      spool.ItemType
		payload any
		want    spool.ItemType
	}{
		{"", spool.ItemTextContent, spool.Delta{}, spool.ItemTextContent},
		{"n1", spool.ItemTextContent, spool.Delta{}, spool.ItemSubagentEvent},
		{"n1", spool.ItemToolResult, spool.ToolResulted{}, spool.ItemSubagentEvent},
		{"n1", spool.ItemStepFinished, spool.StepFinished{}, spool.ItemStepFinished},
		{"n1", spool.ItemInputRequired, spool.InputRequired{}, spool.ItemInputRequired},
	} {
		if got, _ := Wrap(c.agent, c.of, c.payload); got != c.want {
			t.Errorf("%s of %q is carried by %s, want %s", c.of, c.agent, got, c.want)
		}
	}
}

// STEP_FINISHED and the end follow the saved items.
func TestEndAfter(t *testing.T) {
	t.Parallel()
	if got := EndAfter(spool.Offset{}); !got.IsZero() {
		t.Errorf("the end stands at %s where nothing is saved", got)
	}
	if got := EndAfter(spool.Offset{Fence: 2, N: 5}); got != (spool.Offset{Fence: 2, N: 7}) {
		t.Errorf("the end stands at %s", got)
	}
}
