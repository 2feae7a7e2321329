package spooltest

import (
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// expiries checks that parks expire no sooner than the record says, that each period has at most one
// warning, and that a run does not continue after a park has failed it. It also checks the marks of runs and threads.
func (c *checker) expiries(where string, d ThreadDump) {
	type wait struct {
		until  time.Time
		warned bool
	}
	waits := make(map[runCall]wait)
	fails := make(map[spool.RunID]spool.ToolCallID)
	marks := make(map[spool.RunID]wire.Expired)
	for _, e := range d.Entries {
		var p struct {
			ToolCallID spool.ToolCallID
			ExpiresAt  time.Time
			OnExpiry   spool.ExpiryAction
			Status     wire.SegmentStatus
			Expired    wire.Expired
		}
		switch e.Type {
		case wire.EntryRunEnded:
			_ = json.Unmarshal(e.Payload, &p)
			if want := marks[e.RunID]; p.Status == wire.SegmentFinished && !sameMark(p.Expired, want) {
				c.wrongf("expiry", where, "seq %d ends run %s with the mark %v, want %v", e.Seq, e.RunID, p.Expired, want)
			}
			continue
		case wire.EntryInputRequired, wire.EntryInputExtended, wire.EntryInputExpiring, wire.EntryInputExpired:
			_ = json.Unmarshal(e.Payload, &p)
		case wire.EntryRunStarted:
			if call, ok := fails[e.RunID]; ok {
				c.wrongf("expiry", where, "seq %d goes on with run %s, which %s has failed", e.Seq, e.RunID, call)
			}
			continue
		default:
			continue
		}
		at := runCall{e.RunID, p.ToolCallID}
		w := waits[at]
		switch e.Type {
		case wire.EntryInputExpiring:
			if w.warned {
				c.wrongf("expiry", where, "seq %d warns of %s once more", e.Seq, at.call)
			}
			w.warned = true
		case wire.EntryInputExpired:
			if e.CreatedAt.Before(w.until) {
				c.wrongf("expiry", where, "seq %d ends %s at %s, before %s", e.Seq, at.call, e.CreatedAt, w.until)
			}
			marks[e.RunID] = marks[e.RunID].And(w.until)
			if p.OnExpiry == spool.ExpireFail {
				fails[e.RunID] = at.call
			}
		default:
			w = wait{until: p.ExpiresAt}
		}
		waits[at] = w
	}
	for _, r := range d.Runs {
		if !sameMark(r.Expired, marks[r.ID]) {
			c.wrongf("expiry", where, "run %s has the mark %v, want %v", r.ID, r.Expired, marks[r.ID])
		}
		if r.ID == d.Thread.RunID && !sameMark(d.Thread.Expired, r.Expired) {
			c.wrongf("expiry", where, "the thread has the mark %v, and its run %v", d.Thread.Expired, r.Expired)
		}
		if call, ok := fails[r.ID]; ok && r.State == wire.Completed {
			c.wrongf("expiry", where, "run %s has completed, although %s has failed it", r.ID, call)
		}
	}
}

// sameMark compares marks whose times may be of a store, or of a text.
func sameMark(a, b wire.Expired) bool {
	return a.Questions == b.Questions && a.Since.Equal(b.Since)
}
