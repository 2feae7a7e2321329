package engine

import "github.com/spoolhq/spool"

// savedUpTo says how much of a segment's stream is in the thread's messages. Each agent of
// the tree has saved steps of its own.
type savedUpTo struct {
	main   spool.Offset
	nested map[spool.AgentID]spool.Offset
}

// savedOf returns what the runs of a tree have saved of the latest segment's stream.
func savedOf(v spool.View, run spool.Run) (savedUpTo, error) {
	s := savedUpTo{main: run.Saved}
	if run.Children == 0 {
		return s, nil
	}
	runs, err := v.Nested(run.ID)
	for _, r := range runs {
		if r.Segments != run.Segments || r.Saved.IsZero() {
			continue
		}
		if s.nested == nil {
			s.nested = make(map[spool.AgentID]spool.Offset)
		}
		s.nested[r.AgentID()] = r.Saved
	}
	return s, err
}

// last returns the offset of the last item that is saved.
func (s savedUpTo) last() spool.Offset {
	last := s.main
	for _, offset := range s.nested {
		if offset.Compare(last) > 0 {
			last = offset
		}
	}
	return last
}

// deadIn returns which items of a page no message will ever have. Behind the segment's
// RUN_ENDED that is all content: what was saved of it is in the messages. A stream that has
// ended before the record says so was perhaps read later than the messages, and then what
// its steps have saved is in neither.
func deadIn(l latest, page spool.StreamPage) func(spool.Item) bool {
	switch {
	case l.end != nil:
		return func(item spool.Item) bool { return item.Type.Content() }
	case page.Ended:
		return hearOut(page.Items).lost
	default:
		return func(spool.Item) bool { return false }
	}
}

// has reports whether the messages have what an item says.
func (s savedUpTo) has(item spool.Item) bool {
	if !item.Type.Content() {
		return false
	}
	if item.Type != spool.ItemSubagentEvent {
		return item.Offset.Compare(s.main) <= 0
	}
	if len(s.nested) == 0 || item.Offset.Compare(s.last()) > 0 {
		return false
	}
	var e spool.SubagentEvent
	if item.Decode(&e) != nil {
		return false
	}
	saved, ok := s.nested[e.SubagentID]
	return ok && item.Offset.Compare(saved) <= 0
}
