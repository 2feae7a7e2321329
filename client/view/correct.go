package view

import (
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// correct takes what the snapshot of one run has: the messages of this run and of those nested in it.
func (t *Thread) correct(s *wire.Snapshot) {
	t.row, t.queue = s.Thread, s.Queue
	for _, r := range slices.Backward(s.Runs) {
		t.putRun(r)
	}
	turn := slices.IndexFunc(t.messages, func(m spool.Message) bool { return m.ID == *s.AfterMessageID })
	run := runOf(s, t.messages, turn)
	t.endedIn(s, run)
	of := t.family(run)
	kept := slices.Clone(t.messages[:turn+1])
	at := len(kept)
	if turn < 0 && *s.AfterMessageID != "" {
		at = -1 // the view does not go back so far: the messages stay where they were, or come last
	}
	for _, m := range t.messages[turn+1:] {
		if slices.ContainsFunc(s.Messages, func(corrected spool.Message) bool { return corrected.ID == m.ID }) {
			continue // the message of a steer, which has the same id in the snapshot
		}
		turn := m.Role == spool.RoleUser && m.AgentID == ""
		if turn || !of[m.RunID] && !of[spool.RunID(m.AgentID)] {
			kept = append(kept, m)
		} else if at < 0 {
			at = len(kept)
		}
	}
	if at < 0 {
		at = len(kept)
	}
	t.messages = slices.Insert(kept, at, s.Messages...)
	t.catchUp(s)
}

// runOf returns the run that a snapshot of one run is about, "" if nothing tells.
func runOf(s *wire.Snapshot, shown []spool.Message, turn int) spool.RunID {
	switch {
	case turn >= 0 && shown[turn].RunID != "":
		return shown[turn].RunID
	case s.Stream != nil:
		return s.Stream.RunID
	}
	for _, m := range s.Messages {
		if m.AgentID == "" {
			return m.RunID
		}
	}
	return ""
}

// family returns a run and the runs nested in it, at any depth.
func (t *Thread) family(root spool.RunID) map[spool.RunID]bool {
	if root == "" {
		return nil
	}
	of := map[spool.RunID]bool{root: true}
	for grown := true; grown; {
		grown = false
		for _, r := range t.runs {
			if of[r.ParentID] && !of[r.ID] {
				of[r.ID], grown = true, true
			}
		}
	}
	return of
}
