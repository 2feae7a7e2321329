package spooltest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// part applies a snapshot of one run. It drops the content of that run that is in no message, and
// leaves all other runs unchanged.
func (v *view) part(snap *wire.Snapshot) {
	seq := max(snap.LastEventSeq, 0)
	if v.live && seq != v.seq {
		v.wrongf("client-seq", v.where, "the snapshot of a run stands at seq %d, and the client at %d", seq, v.seq)
	}
	v.seq, v.live = seq, true
	v.payload = nil
	if snap.Thread.State != "" {
		v.becomes(snap.Thread.State, func(c Commit) bool {
			of := func(r wire.Run) bool { return r.ID == c.RunID }
			return c.State == snap.Thread.State && slices.ContainsFunc(snap.Runs, of)
		})
	}
	run, _, _ := v.begun.Split()
	if snap.Stream != nil {
		run = snap.Stream.RunID
		s := v.stream(snap.Stream.StreamID)
		s.started = true
		for _, item := range snap.Stream.Items {
			if item.Type.Content() {
				v.wrongf("client-text", v.where, "the snapshot of run %s has the unsaved item %s", run, item.Data)
			}
		}
		if o := snap.Stream.Offset; o == nil || !s.at.IsZero() && *o != s.at {
			v.wrongf("client-items", v.where, "the snapshot of %s stands at %v, and the client at %s", snap.Stream.StreamID, o,
				s.at)
		} else {
			s.at, s.ended = *o, snap.Stream.End != nil
		}
	} else {
		v.stream(v.begun).at = wire.Offset{} // the stream has expired, and the client has no position in it
	}
	for _, s := range v.streams {
		s.now = nil
	}
	gone := v.dropped() // the history of such a run is unknown
	for _, r := range snap.Runs {
		if r.ID == run || r.Depth > 0 {
			v.shown[r.ID], v.partial[r.ID] = nil, gone[r.ID]
		}
	}
	v.take(snap.Messages)
}

// take applies saved messages.
func (v *view) take(messages []spool.Message) {
	for _, m := range messages {
		if m.Role == spool.RoleAssistant {
			v.shown[m.RunID] = append(v.shown[m.RunID], saidBy(m))
		}
		for _, p := range m.ToolResults() {
			v.results[runCall{m.RunID, p.ToolCallID}] = true
		}
	}
}

// nothingUnsaved checks that a client that has seen the end of a segment shows none of its unsaved
// content.
func (v *view) nothingUnsaved(id wire.StreamID, s *streamView) {
	for _, who := range slices.Sorted(maps.Keys(s.now)) {
		now := s.now[who]
		if now.empty() && len(now.results) == 0 {
			continue
		}
		name := fmt.Sprintf("%s%s", id, map[bool]string{true: " of " + string(who)}[who != ""])
		v.wrongf("client-text", v.where, "%s has ended, and shows the unsaved %s", name, quoted([]said{now}))
	}
	s.now = nil
}

// closed checks that every call that the client shows has its saved result.
func (v *view) closed(d ThreadDump) {
	if v.Left {
		return
	}
	gone := v.dropped() // a dropped run may have been restored, which the client learns from the record
	ended := make(map[spool.RunID]bool, len(d.Runs))
	for _, r := range d.Runs {
		ended[r.ID] = r.State.Terminal() && !v.partial[r.ID] && !gone[r.ID]
	}
	for _, m := range d.Messages {
		for _, p := range m.ToolResults() {
			if ended[m.RunID] && !v.results[runCall{m.RunID, p.ToolCallID}] {
				v.wrongf("client-text", v.where, "call %s of run %s shows no result, and %s was saved", p.ToolCallID, m.RunID,
					p.Result)
			}
		}
	}
}

// dropped returns the runs of which a message was ever removed from the view.
func (v *view) dropped() map[spool.RunID]bool {
	runs, of := make(map[spool.RunID]bool), make(map[spool.MessageID]spool.RunID)
	for _, commit := range v.of(v.Thread) {
		for _, m := range commit.Messages {
			of[m.ID] = m.RunID
		}
		for _, id := range commit.Dropped {
			runs[of[id]] = true
		}
	}
	for _, d := range v.Threads { // for a history without commits
		for _, b := range d.Branches {
			for _, m := range b.Messages {
				runs[m.RunID] = runs[m.RunID] || d.Thread.Key() == v.Thread
			}
		}
	}
	return runs
}
