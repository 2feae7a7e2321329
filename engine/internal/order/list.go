// Package order keeps one order of a run stream and the record. A transition adds to both through a
// [List]. The package is pure.
package order

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// List collects what a transition adds to the segment's stream and to the record, in the order in which
// clients read it. The list numbers the items, and sets each entry's position between the items, so
// that no transition has to count the items that follow.
//
// A transaction may run twice. Each time it begins with [List.Begin].
type List struct {
	stream wire.StreamID
	fence  int64
	start  Mark
	at     Mark
	items  []wire.Item
	ends   bool // the last item ends the stream
}

// Mark is a position in the order.
type Mark struct {
	// N is the number of the last item before the position.
	N int64
	// Seq is the seq of the last entry before the position.
	Seq int64
}

// New returns an empty list that continues after the last item of a stream.
func New(stream wire.StreamID, fence int64, last Mark) *List {
	return &List{stream: stream, fence: fence, start: last, at: last}
}

// Begin empties the list. Seq is the seq of the record's last entry.
func (l *List) Begin(seq int64) {
	l.at, l.items, l.ends = l.start, l.items[:0], false
	l.After(seq)
}

// Items returns the items, the position after the last one, and whether that item ends the stream.
func (l *List) Items() (items []wire.Item, last Mark, ends bool) { return l.items, l.at, l.ends }

// Last returns the offset of the last item.
func (l *List) Last() wire.Offset { return wire.Offset{Fence: l.fence, N: l.at.N} }

// Item adds an item of an agent, in the form that [Wrap] returns.
func (l *List) Item(agent spool.AgentID, t wire.ItemType, payload any) {
	t, payload = Wrap(agent, t, payload)
	l.at.N++
	l.items = append(l.items, wire.NewItem(t, l.Last(), l.at.Seq, payload))
}

// End adds the item that ends the stream.
func (l *List) End(t wire.ItemType, payload any) {
	l.Item("", t, payload)
	l.ends = true
}

// Place sets the position of entries to right after the last item. The caller then appends them to the
// record and calls After.
func (l *List) Place(entries ...*wire.Entry) {
	for _, entry := range entries {
		entry.Stream, entry.After = l.stream, l.Last()
	}
}

// After makes all items that are added from now on follow the entry with the given seq.
func (l *List) After(seq int64) { l.at.Seq = seq }

// Wrap returns an agent's item in the form that the stream of the tree has: a [wire.ItemSubagentEvent]
// contains the content of a nested run. The dispatched run has the empty id.
func Wrap(agent spool.AgentID, t wire.ItemType, payload any) (wire.ItemType, any) {
	if agent != "" && t.Content() {
		return wire.ItemSubagentEvent, wire.WrapItem(agent, t, payload)
	}
	return t, payload
}

// EndAfter returns the earliest offset at which a stream can end if the messages contain the stream up
// to saved: STEP_FINISHED follows, and then the end. EndAfter returns the zero offset if nothing is
// saved.
func EndAfter(saved wire.Offset) wire.Offset {
	if !saved.IsZero() {
		saved.N += 2
	}
	return saved
}
