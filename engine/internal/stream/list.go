package stream

import "github.com/spoolhq/spool"

// List is what a transition adds to the segment's stream and to the record, in the order in
// which it is read. It numbers the items, and it gives each entry its place among them, so
// that no transition counts what comes behind it.
//
// A transaction may run twice: it begins with [List.Begin] each time.
type List struct {
	id    spool.StreamID
	fence int64
	start mark
	at    mark
	items []spool.Item
	ends  bool // the last item ends the stream
}

// mark is a place in the order: the number of an item, and the entry that it stands behind.
type mark struct{ n, seq int64 }

// Begin empties the list. The record's last entry is seq.
func (l *List) Begin(seq int64) {
	l.at, l.items, l.ends = l.start, l.items[:0], false
	l.Behind(seq)
}

// Stream returns the id of the stream.
func (l *List) Stream() spool.StreamID { return l.id }

// Last returns the offset of the last item.
func (l *List) Last() spool.Offset { return spool.Offset{Fence: l.fence, N: l.at.n} }

// Item adds an item of an agent: see [Wrap].
func (l *List) Item(agent spool.AgentID, t spool.ItemType, payload any) {
	t, payload = Wrap(agent, t, payload)
	l.at.n++
	l.items = append(l.items, spool.NewItem(t, l.Last(), l.at.seq, payload))
}

// End adds the item that ends the stream.
func (l *List) End(t spool.ItemType, payload any) {
	l.Item("", t, payload)
	l.ends = true
}

// Place puts entries behind the last item. The caller appends them to the record, and then
// calls Behind.
func (l *List) Place(entries ...*spool.Entry) {
	for _, entry := range entries {
		entry.Stream, entry.After = l.id, l.Last()
	}
}

// Behind puts the items that follow behind an entry.
func (l *List) Behind(seq int64) { l.at.seq = max(l.at.seq, seq) }

// Wrap returns the item by which the stream of a tree has an item of one of its agents:
// content of a nested run is carried by a [spool.ItemSubagentEvent]. The dispatched run has
// the empty id.
func Wrap(agent spool.AgentID, t spool.ItemType, payload any) (spool.ItemType, any) {
	if agent != "" && t.Content() {
		return spool.ItemSubagentEvent, spool.WrapItem(agent, t, payload)
	}
	return t, payload
}

// EndBehind returns the earliest offset at which a stream can end of which everything up to
// saved is in the messages: STEP_FINISHED follows what is saved, and then comes the end. It
// returns zero where nothing is saved.
func EndBehind(saved spool.Offset) spool.Offset {
	if !saved.IsZero() {
		saved.N += 2
	}
	return saved
}
