// Package order has the one order of a run stream and the record: the [List] of what a
// transition adds to both. It is pure.
package order

import "github.com/spoolhq/spool"

// List is what a transition adds to the segment's stream and to the record, in the order in
// which clients read it. The list numbers the items, and gives each entry its place between
// them, so that no transition counts the items behind it.
//
// A transaction may run twice. It begins with [List.Begin] each time.
type List struct {
	stream spool.StreamID
	fence  int64
	start  Mark
	at     Mark
	items  []spool.Item
	ends   bool // the last item ends the stream
}

// Mark is a place in the order.
type Mark struct {
	// N is the number of an item.
	N int64
	// Seq is the entry that the item stands behind.
	Seq int64
}

// New returns an empty list behind the last item of a stream.
func New(stream spool.StreamID, fence int64, last Mark) *List {
	return &List{stream: stream, fence: fence, start: last, at: last}
}

// Begin empties the list. The record's last entry is seq.
func (l *List) Begin(seq int64) {
	l.at, l.items, l.ends = l.start, l.items[:0], false
	l.Behind(seq)
}

// Items returns the items, the place of the last one, and whether it ends the stream.
func (l *List) Items() (items []spool.Item, last Mark, ends bool) { return l.items, l.at, l.ends }

// Last returns the offset of the last item.
func (l *List) Last() spool.Offset { return spool.Offset{Fence: l.fence, N: l.at.N} }

// Item adds an item of an agent: see [Wrap].
func (l *List) Item(agent spool.AgentID, t spool.ItemType, payload any) {
	t, payload = Wrap(agent, t, payload)
	l.at.N++
	l.items = append(l.items, spool.NewItem(t, l.Last(), l.at.Seq, payload))
}

// End adds the item that ends the stream.
func (l *List) End(t spool.ItemType, payload any) {
	l.Item("", t, payload)
	l.ends = true
}

// Place puts entries behind the last item. The caller then appends them to the record and calls
// Behind.
func (l *List) Place(entries ...*spool.Entry) {
	for _, entry := range entries {
		entry.Stream, entry.After = l.stream, l.Last()
	}
}

// Behind puts the items that are added from now on behind an entry.
func (l *List) Behind(seq int64) { l.at.Seq = seq }

// Wrap returns an agent's item as the stream of the tree has it: a [spool.ItemSubagentEvent] carries
// the content of a nested run. The dispatched run has the empty id.
func Wrap(agent spool.AgentID, t spool.ItemType, payload any) (spool.ItemType, any) {
	if agent != "" && t.Content() {
		return spool.ItemSubagentEvent, spool.WrapItem(agent, t, payload)
	}
	return t, payload
}

// EndBehind returns the earliest offset at which a stream can end. The messages have the stream up to
// saved; behind that come STEP_FINISHED and then the end. EndBehind returns zero if nothing is saved.
func EndBehind(saved spool.Offset) spool.Offset {
	if !saved.IsZero() {
		saved.N += 2
	}
	return saved
}
