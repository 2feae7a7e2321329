package spooltest

import (
	"encoding/json"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// approvals checks that a call that needed approval has run only after the approval, and with the
// approved arguments. If another subject than the run's own was required, it checks that too. The
// record has the digests of the questions and answers; the tools know with what they were called.
func (c *checker) approvals(where string, d ThreadDump) {
	type approval struct {
		reason, digest string
		occurrence     int
		revision       wire.RevisionID
	}
	asked := make(map[runCall]wire.InputRequired)
	gated := make(map[runCall]bool)
	allowed := make(map[runCall][]approval)
	started := make(map[spool.RunID]store.RunRow, len(d.Runs))
	for _, r := range d.Runs {
		started[r.ID] = r
	}
	for _, e := range d.Entries {
		switch e.Type {
		case wire.EntryInputRequired:
			var p wire.InputRequired
			_ = json.Unmarshal(e.Payload, &p)
			at := runCall{e.RunID, p.ToolCallID}
			p = p.FromRecord()
			asked[at] = p
			gated[at] = gated[at] || p.Reason == wire.ParkApproval
		case wire.EntryHITLResponse:
			var p wire.HITLResponse
			_ = json.Unmarshal(e.Payload, &p)
			at := runCall{e.RunID, p.ToolCallID}
			if asked[at].DistinctApprover && !started[e.RunID].DistinctFrom(p.AnsweredBy) {
				c.wrongf("approved", where, "seq %d is the answer of %q to a run that %q has started", e.Seq, p.AnsweredBy,
					started[e.RunID].StartedBy)
			}
			if p.Arguments == nil && p.Digest != asked[at].Digest {
				c.wrongf("approved", where, "seq %d answers %s, which is not what was asked of %s", e.Seq, p.Digest, p.ToolCallID)
			}
			if p.Approved {
				allowed[at] = append(allowed[at], approval{asked[at].Reason, p.Digest, asked[at].Occurrence, asked[at].Revision})
			}
		default:
		}
	}
	root := rootsOf(d)
	for _, e := range c.Executions {
		at := runCall{root(e.Call.RunID), e.Call.ID}
		if e.Call.Thread != d.Thread.Key() || !gated[at] {
			continue
		}
		ran := store.Park{
			RunID: e.Call.RunID, Step: e.Call.Step, ToolCallID: at.call, ToolName: e.Call.Name, Args: e.Call.Args,
		}
		bound := false
		for _, a := range allowed[at] {
			ran.Reason, ran.Occurrence, ran.Revision = a.reason, a.occurrence, a.revision
			bound = bound || a.digest == "" || a.digest == ran.DigestOf(nil)
		}
		if !bound {
			c.wrongf("approved", where, "the call %s ran with %s, which nobody has approved", e.Call.IdempotencyKey(),
				e.Call.Args)
		}
	}
}
