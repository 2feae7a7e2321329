package spooltest

import (
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
)

// expiries checks that parks expire no sooner than the record says, that each period has at most one
// warning, and that a run does not continue after a park has failed it.
func (c *checker) expiries(where string, d ThreadDump) {
	type wait struct {
		until  time.Time
		warned bool
	}
	waits := make(map[runCall]wait)
	fails := make(map[spool.RunID]spool.ToolCallID)
	for _, e := range d.Entries {
		var p struct {
			ToolCallID spool.ToolCallID
			ExpiresAt  time.Time
			OnExpiry   spool.ExpiryAction
		}
		switch e.Type {
		case spool.EntryInputRequired, spool.EntryInputExtended, spool.EntryInputExpiring, spool.EntryInputExpired:
			_ = json.Unmarshal(e.Payload, &p)
		case spool.EntryRunStarted:
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
		case spool.EntryInputExpiring:
			if w.warned {
				c.wrongf("expiry", where, "seq %d warns of %s once more", e.Seq, at.call)
			}
			w.warned = true
		case spool.EntryInputExpired:
			if e.CreatedAt.Before(w.until) {
				c.wrongf("expiry", where, "seq %d ends %s at %s, before %s", e.Seq, at.call, e.CreatedAt, w.until)
			}
			if p.OnExpiry == spool.ExpireFail {
				fails[e.RunID] = at.call
			}
		default:
			w = wait{until: p.ExpiresAt}
		}
		waits[at] = w
	}
	for _, r := range d.Runs {
		if call, ok := fails[r.ID]; ok && r.State == spool.Completed {
			c.wrongf("expiry", where, "run %s has completed, although %s has failed it", r.ID, call)
		}
	}
}
