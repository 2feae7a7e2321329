package record

import "github.com/spoolhq/spool"

// Saved says how much of a segment's stream is in the thread's messages. Each agent of the tree saves
// its own steps.
type Saved struct {
	Main   spool.Offset
	Nested map[spool.AgentID]spool.Offset
}

// SavedOf returns what the runs of a tree have saved of the latest segment's stream.
func SavedOf(v spool.View, run spool.RunRow) (Saved, error) {
	s := Saved{Main: run.Saved}
	if run.Children == 0 {
		return s, nil
	}
	runs, err := v.Nested(run.ID)
	for _, r := range runs {
		if r.Segments != run.Segments || r.Saved.IsZero() {
			continue
		}
		if s.Nested == nil {
			s.Nested = make(map[spool.AgentID]spool.Offset)
		}
		s.Nested[r.AgentID()] = r.Saved
	}
	return s, err
}

// Last returns the offset of the last item that is saved.
func (s Saved) Last() spool.Offset {
	last := s.Main
	for _, offset := range s.Nested {
		if offset.Compare(last) > 0 {
			last = offset
		}
	}
	return last
}

// Has reports whether the messages have the content of an item.
func (s Saved) Has(item spool.Item) bool {
	if !item.Type.Content() {
		return false
	}
	if item.Type != spool.ItemSubagentEvent {
		return item.Offset.Compare(s.Main) <= 0
	}
	if len(s.Nested) == 0 || item.Offset.Compare(s.Last()) > 0 {
		return false
	}
	var e spool.SubagentEvent
	if item.Decode(&e) != nil {
		return false
	}
	saved, ok := s.Nested[e.SubagentID]
	return ok && item.Offset.Compare(saved) <= 0
}
