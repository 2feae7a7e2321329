package spooltest

import (
	"encoding/json"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// record checks the order of a thread's record.
func (c *checker) record(d ThreadDump) {
	where := d.Thread.Key().String()
	for i, e := range d.Entries {
		if e.Seq != int64(i+1) {
			c.wrongf("seq-gap", where, "entry %d of the record has seq %d", i+1, e.Seq)
			break
		}
	}
	if n := int64(len(d.Entries)); d.Thread.LastSeq != n {
		c.wrongf("seq-gap", where, "the record has %d entries, and its last seq is %d", n, d.Thread.LastSeq)
	}
	c.segments(where, d)
}

// segments checks that segments begin and end in turn, that their numbers count up by one, and that a
// run has none after its last one.
func (c *checker) segments(where string, d ThreadDump) {
	var open *wire.RunStarted
	last := make(map[spool.RunID]int)
	for _, e := range d.Entries {
		switch e.Type {
		case wire.EntryRunStarted:
			var p wire.RunStarted
			_ = json.Unmarshal(e.Payload, &p)
			if open != nil {
				c.wrongf("segment-pairs", where, "seq %d starts %s while %s is open", e.Seq, p.StreamID, open.StreamID)
			}
			if p.Segment != last[p.RunID]+1 || p.StreamID != wire.NewStreamID(p.RunID, p.Segment) {
				c.wrongf("segment-numbers", where, "seq %d starts segment %d as %s after segment %d", e.Seq, p.Segment, p.StreamID,
					last[p.RunID])
			}
			last[p.RunID] = p.Segment
			open = &p
		case wire.EntryRunEnded:
			var p wire.RunEnded
			_ = json.Unmarshal(e.Payload, &p)
			if open == nil || open.StreamID != p.StreamID {
				c.wrongf("segment-pairs", where, "seq %d ends %s, which is not open", e.Seq, p.StreamID)
			}
			open = nil
		default:
		}
	}
	for _, r := range d.Runs {
		if r.Depth == 0 && r.Segments != last[r.ID] {
			c.wrongf("segment-numbers", where, "run %s has had %d segments, and the record tells of %d", r.ID, r.Segments,
				last[r.ID])
		}
	}
	if open != nil && !d.Thread.State.Active() {
		c.wrongf("segment-pairs", where, "%s was never ended", open.StreamID)
	}
}

// commits checks the writes in order.
func (c *checker) commits() {
	type run struct {
		store.RunRow

		ended bool
	}
	type known struct {
		fence int64
		runs  map[spool.RunID]*run
	}
	threads := make(map[spool.ThreadKey]*known)
	for n, commit := range c.Commits {
		if commit.Thread == (spool.ThreadKey{}) {
			continue
		}
		where := commit.Thread.String()
		k := threads[commit.Thread]
		if k == nil || commit.Deleted {
			k = &known{runs: make(map[spool.RunID]*run)}
			threads[commit.Thread] = k
		}
		if commit.Fence > 0 && commit.Fence < k.fence {
			c.wrongf("fence", where, "commit %d has the fence %d after one of %d", n, commit.Fence, k.fence)
		}
		if commit.FenceAfter < k.fence {
			c.wrongf("fence", where, "commit %d takes the fence from %d to %d", n, k.fence, commit.FenceAfter)
		}
		k.fence = max(k.fence, commit.FenceAfter)

		c.home(n, where, commit)

		ended, places := make(map[spool.RunID]bool), make(map[spool.RunID]int64)
		for id, r := range k.runs {
			ended[id], places[id] = r.ended, r.QueuePosition
		}
		for _, r := range commit.Runs {
			before := k.runs[r.ID]
			if before == nil {
				before = &run{}
				k.runs[r.ID] = before
			} else if before.State != r.State && !before.State.CanBecome(r.State) {
				c.wrongf("transition", where, "commit %d takes run %s from %s to %s", n, r.ID, before.State, r.State)
			}
			if !before.StopAt.IsZero() && r.State.Terminal() && r.State != wire.Cancelled {
				c.wrongf("stop", where, "run %s was stopped and ended as %s", r.ID, r.State)
			}
			c.budgets(n, where, r)
			c.ticket(n, where, commit, before.RunRow, r)
			c.clock(n, where, commit, before.RunRow, r)
			before.RunRow, before.ended = r, r.State.Terminal()
		}
		for _, e := range commit.Entries {
			if e.RunID != "" && ended[e.RunID] {
				c.wrongf("after-end", where, "commit %d adds the entry %s to run %s, which has ended", n, e.Type, e.RunID)
			}
		}
		for _, m := range commit.Messages {
			_, summary := m.Content.Summary() // that of a redriven run names the run whose turn it keeps
			if m.RunID != "" && ended[m.RunID] && !summary {
				c.wrongf("after-end", where, "commit %d adds a message to run %s, which has ended", n, m.RunID)
			}
		}
		active := 0
		for _, r := range k.runs {
			if r.Depth == 0 && r.Active() {
				active++
			}
		}
		known := runsOf(k.runs, func(r *run) store.RunRow { return r.RunRow })
		c.line(n, where, commit, places, known)
		c.steered(n, where, commit, places, known)
		c.nestedCommit(n, where, known)
		if active > 1 {
			c.wrongf("one-active", where, "commit %d leaves %d active runs", n, active)
		}
	}
}
