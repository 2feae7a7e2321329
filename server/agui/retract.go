package agui

import "github.com/spoolhq/spool"

// retracted applies the snapshot of one run: only what the messages have counts of what the run's segment
// said. In a segment, the client unlearns the rest when the segment ends, which comes next. Between two
// segments, where waiting calls of the run got their results, the client gets the messages at once. If the
// run waited for answers, the client gets the run's end.
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

// tells reports whether the snapshot of one run is about this run.
func tells(s *spool.Snapshot, run spool.RunID) bool {
	if s.Stream != nil {
		return s.Stream.RunID == run
	}
	_, ok := runOf(s, run)
	return ok
}
