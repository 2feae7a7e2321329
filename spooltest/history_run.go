package spooltest

import (
	"cmp"
	"encoding/json"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// runs checks the final states of a thread's runs, and their usage.
func (c *checker) runs(d ThreadDump) {
	where := d.Thread.Key().String()
	byID := make(map[spool.RunID]store.RunRow, len(d.Runs))
	active := 0
	cancelled := 0
	for _, r := range d.Runs {
		byID[r.ID] = r
		if r.Depth > 0 {
			c.usage(where, r)
			continue
		}
		switch {
		case r.QueuePosition > 0:
			c.waits(where, d, r)
		case r.State.Active():
			active++
			if r.ID != d.Thread.RunID {
				c.wrongf("one-active", where, "run %s is %s, and the thread belongs to %s", r.ID, r.State, d.Thread.RunID)
			}
			if c.Settled {
				c.wrongf("end-state", where, "run %s is still %s", r.ID, r.State)
			}
		case !r.State.Terminal():
			c.wrongf("end-state", where, "run %s is %s", r.ID, r.State)
		case r.EndedAt.IsZero() || r.StopReason == "":
			c.wrongf("end-state", where, "run %s is %s without a time or a reason", r.ID, r.State)
		}
		if r.State == wire.Cancelled {
			cancelled++
		}
		if r.ID == d.Thread.RunID && r.State != d.Thread.State {
			c.wrongf("one-active", where, "the thread is %s and its run %s is %s", d.Thread.State, r.ID, r.State)
		}
		c.usage(where, r)
	}
	if active > 1 {
		c.wrongf("one-active", where, "there are %d active runs", active)
	}
	for _, s := range c.Starts {
		if _, ok := byID[s.Run]; s.Thread == d.Thread.Key() && !ok {
			c.wrongf("end-state", where, "run %s was accepted and is not there", s.Run)
		}
	}
	if c.Settled && c.Stops[d.Thread.Key()] > 0 && cancelled == 0 {
		c.wrongf("stop", where, "%d stops were accepted, and no run was cancelled", c.Stops[d.Thread.Key()])
	}
	c.ledger(where, d)
	c.nested(where, d, byID)
}

// calls checks that each tool call has one result, at most one effect, and one answer for each
// question.
func (c *checker) calls(d ThreadDump) {
	key := d.Thread.Key()
	where := key.String()
	ended := make(map[spool.RunID]bool)
	for _, r := range d.Runs {
		ended[r.ID] = r.State.Terminal()
	}
	results := make(map[spool.ToolCallID]int)
	for _, m := range d.Messages {
		for _, p := range m.ToolResults() {
			results[p.ToolCallID]++
			if results[p.ToolCallID] == 2 {
				c.wrongf("tool-result", where, "call %s has two results", p.ToolCallID)
			}
		}
	}
	for _, m := range d.Messages {
		for _, p := range m.ToolCalls() {
			if results[p.ToolCallID] == 0 && ended[m.RunID] {
				c.wrongf("tool-result", where, "call %s of run %s, which has ended, has no result", p.ToolCallID, m.RunID)
			}
		}
	}
	for _, p := range d.Parks {
		if ended[p.RunID] && !p.Landed {
			c.wrongf("park", where, "run %s has ended, and its park %s is %s", p.RunID, p.ToolCallID, p.State)
		}
	}
	root := rootsOf(d)
	again := c.answers(where, d)
	c.approvals(where, d)
	c.expiries(where, d)
	effects := make(map[string]int)
	for _, e := range c.Executions {
		if e.Call.ID == "" || e.Idempotent || e.Call.Thread != key {
			continue
		}
		effects[e.Call.IdempotencyKey()]++
		if n := effects[e.Call.IdempotencyKey()]; n > 1+again[runCall{root(e.Call.RunID), e.Call.ID}] {
			c.wrongf("effect-once", where, "the call %s took effect %d times", e.Call.IdempotencyKey(), n)
		}
	}
}

// rootsOf returns a function that returns the dispatched run of a run, which is the run that the record
// names.
func rootsOf(d ThreadDump) func(id spool.RunID) spool.RunID {
	roots := make(map[spool.RunID]spool.RunID)
	for _, r := range d.Runs {
		roots[r.ID] = r.Root()
	}
	return func(id spool.RunID) spool.RunID { return cmp.Or(roots[id], id) }
}

type runCall struct {
	run  spool.RunID
	call spool.ToolCallID
}

// answers checks that each park is resolved once, and that the delivered answers are those in the
// record. It returns how often a person has asked to repeat each call with an unknown outcome.
func (c *checker) answers(where string, d ThreadDump) map[runCall]int {
	open := make(map[runCall]string)
	var extended *runCall // from the previous entry
	again := make(map[runCall]int)
	recorded := make(map[spool.ToolCallID]int)
	for _, e := range d.Entries {
		var p struct {
			ToolCallID    spool.ToolCallID
			Reason, About string
			Approved      bool
		}
		before := extended
		extended = nil
		if before != nil && e.Type != wire.EntryInputRequired {
			c.wrongf("asks-again", where, "seq %d stands between more time for %s and its question", e.Seq, before.call)
		}
		switch e.Type {
		case wire.EntryInputRequired, wire.EntryHITLResponse, wire.EntryInputExpired, wire.EntryInputExpiring,
			wire.EntryInputExtended:
			_ = json.Unmarshal(e.Payload, &p)
		default:
			continue
		}
		at := runCall{e.RunID, p.ToolCallID}
		reason, asked := open[at]
		if e.Type == wire.EntryInputRequired {
			if asked && (before == nil || *before != at) {
				c.wrongf("answer-once", where, "seq %d asks for %s, which is open", e.Seq, p.ToolCallID)
			}
			open[at] = cmp.Or(p.About, p.Reason)
			continue
		}
		if !asked {
			c.wrongf("answer-once", where, "seq %d, an %s, is about %s, which is not open", e.Seq, e.Type, p.ToolCallID)
		}
		switch e.Type {
		case wire.EntryInputExtended:
			extended = &at
			continue
		case wire.EntryInputExpiring:
			continue
		default:
		}
		delete(open, at)
		if e.Type == wire.EntryHITLResponse {
			recorded[p.ToolCallID]++
			if p.Approved && reason == wire.ParkOutcomeUnknown {
				again[at]++
			}
		}
	}
	delivered, unknown := make(map[spool.ToolCallID]int), make(map[spool.ToolCallID]int)
	for _, a := range c.Answers {
		switch {
		case a.Thread != d.Thread.Key():
		case a.Delivered:
			delivered[a.Call]++
			recorded[a.Call] += 0
		case a.Unknown:
			unknown[a.Call]++
		}
	}
	if len(c.Answers) == 0 {
		return again
	}
	for id, n := range recorded {
		if n < delivered[id] || n > delivered[id]+unknown[id] {
			c.wrongf("answer-once", where, "call %s: %d answers were delivered, and the record has %d", id, delivered[id], n)
		}
	}
	return again
}
