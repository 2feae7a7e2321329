package agui

import "github.com/spoolhq/spool"

// retracted takes in a snapshot of one run: of what its segment has said only that counts
// which the messages have. The client unlearns the rest with the end of the segment, which
// comes next. Between two segments, where calls of the run were closed, it is told at once:
// of a run that waited for answers, it is told the end.
func (t *Translator) retracted(s *spool.Snapshot) ([]Event, error) {
	if !tells(s, t.run) {
		return nil, nil
	}
	if !t.open {
		return t.unanswered()
	}
	if t.inSegment {
		t.unsaved = true
		return nil, nil
	}
	now, err := t.o.Load()
	if err != nil {
		return nil, err
	}
	return []Event{Messages{now.All()}}, nil
}

// tells reports whether a snapshot of one run is of this one.
func tells(s *spool.Snapshot, run spool.RunID) bool {
	if s.Stream != nil {
		return s.Stream.RunID == run
	}
	_, ok := runOf(s, run)
	return ok
}
