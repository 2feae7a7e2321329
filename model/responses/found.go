package responses

import (
	"encoding/json"
	"strings"

	"github.com/spoolhq/spool"
)

// item is an item of an answer.
type item struct {
	output

	// id is the id of a tool call, and tool the tool that it calls.
	id   spool.ToolCallID
	tool string
	args strings.Builder
	// emitted is how many bytes of the text were emitted, and summary the part that the last of them belong to.
	emitted, summary int
	// began is how many characters of the answer stand before the text, and annotations are its sources that came apart
	// from it.
	began       int
	annotations []json.RawMessage
	done        bool
}

// found has the items of an answer. An event names its item by an id and by an index in the output. Servers that
// imitate the interface leave indexes out, repeat or reorder them, so the id counts. Other servers give an item another
// id in each event, so there the index counts.
type found struct {
	items   []*item // in the order in which they came
	byIndex map[int64]*item
	byID    map[string]*item
	// sameIDs is true once an id has come twice. Then an unknown id belongs to another item.
	sameIDs bool
}

// known returns the item with an id, or nil.
func (a *answer) known(id string) *item {
	it := a.byID[id]
	a.sameIDs = a.sameIDs || it != nil
	return it
}

// placed returns the item with an index, or nil. Without an index, it is the last item.
func (a *answer) placed(index *int64) *item {
	switch {
	case index != nil:
		return a.byIndex[*index]
	case len(a.items) > 0:
		return a.items[len(a.items)-1]
	default:
		return nil
	}
}

// insert adds an item, in place of an earlier one with the same index.
func (a *answer) insert(id string, index *int64) *item {
	it := new(item)
	place := int64(len(a.items))
	if index != nil {
		place = *index
	}
	a.items = append(a.items, it)
	a.byIndex[place] = it
	if id != "" {
		a.byID[id] = it
	}
	a.bytes += itemWeight
	return it
}

// at returns the item that a piece belongs to.
func (a *answer) at(e *event) *item {
	if it := a.known(e.ItemID); it != nil {
		return it
	}
	if it := a.placed(e.OutputIndex.N); it != nil && !it.done && (e.ItemID == "" || !a.sameIDs) {
		return it
	}
	return a.insert(e.ItemID, e.OutputIndex.N)
}

// begun returns the item that an event begins. Pieces of the item may have come before.
func (a *answer) begun(o output, index *int64) *item {
	if it := a.known(o.ID); it != nil {
		return it
	}
	if it := a.placed(index); it != nil && !it.done && (it.Type == "" || o.ID == "" && index != nil) {
		if o.ID != "" {
			a.byID[o.ID] = it
		}
		return it
	}
	return a.insert(o.ID, index)
}

// itemOf returns the item that an event completes.
func (a *answer) itemOf(o output, index *int64) *item {
	if it := a.known(o.ID); it != nil {
		return it
	}
	if it := a.placed(index); it != nil && !it.done && (it.Type == "" || it.Type == o.Type) && (o.ID == "" || !a.sameIDs) {
		return it
	}
	return a.insert(o.ID, index)
}

// listed returns the item at a place of the whole output.
func (a *answer) listed(o output, place int64) *item {
	if it := a.known(o.ID); it != nil {
		return it
	}
	if it := a.byIndex[place]; it != nil && (it.Type == "" || it.Type == o.Type) && (o.ID == "" || !a.sameIDs) {
		return it
	}
	return a.insert(o.ID, &place)
}
