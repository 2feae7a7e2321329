package spooltest

import (
	"encoding/json"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// steersOf returns the STEERED entries of a record, with their payloads.
func steersOf(entries []wire.Entry) (found []wire.Entry, payloads []wire.Steered) {
	for _, e := range entries {
		var p wire.Steered
		if e.Type == wire.EntrySteered && json.Unmarshal(e.Payload, &p) == nil {
			found, payloads = append(found, e), append(payloads, p)
		}
	}
	return found, payloads
}

// steers checks that each steer was put into a run once, was withdrawn, or became a turn of its own.
func (c *checker) steers(d ThreadDump) {
	where := d.Thread.Key().String()
	messages := make(map[spool.MessageID]spool.Message)
	own := make(map[spool.RunID]bool) // runs with a turn
	note := func(all []spool.Message) {
		for _, m := range all {
			messages[m.ID] = m
			own[m.RunID] = own[m.RunID] || ofUser(m)
		}
		c.steeredBetween(where, d, all)
	}
	note(d.Messages)
	for _, b := range d.Branches {
		note(b.Messages)
	}
	byID := make(map[spool.RunID]store.RunRow, len(d.Runs))
	for _, r := range d.Runs {
		byID[r.ID] = r
	}
	times := make(map[spool.RunID]int)
	entries, payloads := steersOf(d.Entries)
	for i, p := range payloads {
		e, steer := entries[i], byID[p.SteerRunID]
		times[p.SteerRunID]++
		m, there := messages[p.MessageID]
		switch {
		case e.RunID != p.RunID || p.RunID == p.SteerRunID:
			c.wrongf("steer", where, "seq %d of run %s puts steer %s into run %s", e.Seq, e.RunID, p.SteerRunID, p.RunID)
		case !there || m.RunID != p.RunID || !ofUser(m) || m.AfterSeq != e.Seq-1 || m.ClientMessageID != p.ClientMessageID:
			c.wrongf("steer", where, "seq %d tells of the message %s, which is %+v", e.Seq, p.MessageID, m)
		case steer.State != wire.Completed || steer.StopReason != wire.StopSteered || steer.Segments > 0 || steer.Steps > 0:
			c.wrongf("steer", where, "seq %d takes the message of run %s, which is %s with %q", e.Seq, steer.ID, steer.State,
				steer.StopReason)
		case steer.Wait == nil || steer.Wait.Delivered == nil ||
			*steer.Wait.Delivered != (wire.Delivered{RunID: p.RunID, MessageID: p.MessageID}):
			c.wrongf("steer", where, "seq %d takes the message of run %s, which says %+v", e.Seq, steer.ID, steer.Wait)
		}
	}
	for _, r := range d.Runs {
		if r.Depth > 0 || r.Wait == nil || r.Wait.WhenBusy != spool.BusySteer {
			continue
		}
		delivered := r.Wait.Delivered != nil || r.StopReason == wire.StopSteered
		switch n := times[r.ID]; {
		case n > 1 || delivered && n != 1:
			c.wrongf("steer-once", where, "the record has %d deliveries of steer %s", n, r.ID)
		case n == 1 && own[r.ID]:
			c.wrongf("steer-once", where, "steer %s was put into a run, and has a turn of its own", r.ID)
		case n == 0 && !own[r.ID] && r.QueuePosition == 0 && r.State != wire.Cancelled:
			c.wrongf("steer-lost", where, "steer %s is %s, and its message is nowhere", r.ID, r.State)
		}
	}
}

// steeredBetween checks that no message of a steer stands between a call of its run and the result.
func (c *checker) steeredBetween(where string, d ThreadDump, messages []spool.Message) {
	steered := make(map[spool.MessageID]bool)
	_, payloads := steersOf(d.Entries)
	for _, p := range payloads {
		steered[p.MessageID] = true
	}
	if len(steered) == 0 {
		return
	}
	open := make(map[runCall]bool)
	for _, m := range messages {
		if m.AgentID != "" {
			continue
		}
		for _, p := range m.ToolCalls() {
			open[runCall{m.RunID, p.ToolCallID}] = true
		}
		for _, p := range m.ToolResults() {
			delete(open, runCall{m.RunID, p.ToolCallID})
		}
		for call := range open {
			if steered[m.ID] && call.run == m.RunID {
				c.wrongf("steer-place", where, "message %s of a steer stands between call %s and its result", m.ID, call.call)
			}
		}
	}
}

// steered checks the steers that a commit puts into a run: in the order of the queue, all of it in one commit, and
// never into a run that was stopped. Before has the positions in the queue before the commit.
func (c *checker) steered(n int, where string, commit Commit, before map[spool.RunID]int64, runs []store.RunRow) {
	_, payloads := steersOf(commit.Entries)
	if len(payloads) == 0 || commit.Deleted {
		return
	}
	byID := make(map[spool.RunID]store.RunRow, len(runs))
	for _, r := range runs {
		byID[r.ID] = r
	}
	last := int64(0)
	for _, p := range payloads {
		into, steer := byID[p.RunID], byID[p.SteerRunID]
		switch {
		case commit.Fence == 0 || commit.RunID != p.RunID || into.State != wire.Running || !into.StopAt.IsZero():
			c.wrongf("steer", where, "commit %d puts steer %s into run %s, which is %s", n, p.SteerRunID, p.RunID, into.State)
		case steer.State != wire.Completed || messageAt(commit.Messages, p.MessageID) < 0:
			c.wrongf("steer", where, "commit %d puts only a part of steer %s into a run", n, p.SteerRunID)
		case before[p.SteerRunID] <= last:
			c.wrongf("steer-order", where, "commit %d delivers steer %s, with position %d, after position %d", n, p.SteerRunID,
				before[p.SteerRunID], last)
		}
		last = before[p.SteerRunID]
	}
	for _, r := range runs {
		if r.QueuePosition > 0 && before[r.ID] > 0 && r.QueuePosition < last {
			c.wrongf("steer-order", where, "commit %d delivers a steer before run %s, which came first", n, r.ID)
		}
	}
}

// placedSteer is a STEERED entry with its payload.
type placedSteer struct {
	wire.Entry

	payload wire.Steered
}

// steersIn returns the STEERED entries of a stream.
func (v *view) steersIn(id wire.StreamID) []placedSteer {
	if v.steers == nil {
		v.steers = make(map[wire.StreamID][]placedSteer)
		for _, d := range v.Threads {
			if d.Thread.Key() != v.Thread {
				continue
			}
			entries, payloads := steersOf(d.Entries)
			for i, e := range entries {
				v.steers[e.Stream] = append(v.steers[e.Stream], placedSteer{e, payloads[i]})
			}
		}
	}
	return v.steers[id]
}

// steeredItem checks that an item of a stream does not come too early or too late: the messages of steers have
// their place among the items. An item may come late if its entry did not wait for it any more. Then the message has
// come too, and the connection may have ended between the two. So an item may come late on the connection after that.
func (v *view) steeredItem(id wire.StreamID, item wire.Item) {
	if v.told == nil {
		return
	}
	for _, s := range v.steersIn(id) {
		before := item.Offset.Compare(s.After) <= 0
		if before && v.seq >= s.Seq {
			continue
		}
		told := v.told[s.payload.MessageID]
		if before {
			told = v.here[s.payload.MessageID]
		}
		if told == before && !v.streams[id].lost {
			v.wrongf("steer-place", v.where, "item %s of %s comes, message %s of a steer after %s, and it was told: %t",
				item.Offset, id, s.payload.MessageID, s.After, told)
		}
	}
}

// cutRuns returns the runs that have lost a part of their messages, and not their own turn: the message of a steer
// was edited, or everything from it on was replaced by a branch.
func (v *view) cutRuns() map[spool.RunID]bool {
	if v.cut != nil {
		return v.cut
	}
	v.cut = make(map[spool.RunID]bool)
	runs, first := make(map[spool.MessageID]spool.RunID), make(map[spool.RunID]spool.MessageID)
	for _, commit := range v.of(v.Thread) {
		for _, m := range commit.Messages {
			runs[m.ID] = m.RunID
			if first[m.RunID] == "" {
				first[m.RunID] = m.ID
			}
		}
		seen := make(map[spool.RunID]bool)
		for _, id := range commit.Dropped { // of several branches, each in its order
			run := runs[id]
			v.cut[run] = v.cut[run] || !seen[run] && id != first[run]
			seen[run] = true
		}
	}
	return v.cut
}
