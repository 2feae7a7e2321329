package record

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Saved says how much of a segment's stream the thread's messages contain. Each agent of the tree saves
// its own steps.
type Saved struct {
	Main   wire.Offset
	Nested map[spool.AgentID]wire.Offset
}

// SavedOf returns how much of the latest segment's stream the runs of a tree have saved.
func SavedOf(v store.View, run store.RunRow) (Saved, error) {
	if run.Children == 0 {
		return SavedBy(run, nil), nil
	}
	nested, err := Nested(v, run.ID)
	return SavedBy(run, nested), err
}

// SavedBy returns the same as [SavedOf] from nested runs that the caller has read.
func SavedBy(run store.RunRow, nested []store.RunRow) Saved {
	s := Saved{Main: run.Saved}
	for _, r := range nested {
		if r.Segments != run.Segments || r.Saved.IsZero() {
			continue
		}
		if s.Nested == nil {
			s.Nested = make(map[spool.AgentID]wire.Offset)
		}
		s.Nested[r.AgentID()] = r.Saved
	}
	return s
}

// Last returns the offset of the last saved item.
func (s Saved) Last() wire.Offset {
	last := s.Main
	for _, offset := range s.Nested {
		if offset.Compare(last) > 0 {
			last = offset
		}
	}
	return last
}

// Unread returns the position of a client that has the saved part of a stream, and cannot read the stream. If items
// before the last saved one are not saved, because agents work side by side, the position is before the first item
// of the last fence, where no client that reads the stream stands. Then last is the offset of the last saved item, and
// otherwise it is zero.
func (s Saved) Unread() (at, last wire.Offset) {
	last = s.Last()
	if last == s.Main {
		return last, wire.Offset{}
	}
	return wire.Offset{Fence: last.Fence}, last
}

// IsUnread reports whether an offset is of a client that has saved items of a stream, and needs a snapshot to go on
// with the stream: see [Saved.Unread].
func IsUnread(o wire.Offset) bool { return o.Fence > 0 && o.N == 0 }

// Has reports whether the messages contain the content of an item.
func (s Saved) Has(item wire.Item) bool {
	if !item.Type.Content() {
		return false
	}
	if item.Type != wire.ItemSubagentEvent {
		return item.Offset.Compare(s.Main) <= 0
	}
	if len(s.Nested) == 0 || item.Offset.Compare(s.Last()) > 0 {
		return false
	}
	var e wire.SubagentEvent
	if item.Decode(&e) != nil {
		return false
	}
	saved, ok := s.Nested[e.SubagentID]
	return ok && item.Offset.Compare(saved) <= 0
}
