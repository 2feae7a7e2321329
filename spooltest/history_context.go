package spooltest

import (
	"encoding/json"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// summaries checks that the record has one entry for each summary, and that everything to which a
// summary refers comes before it.
func (c *checker) summaries(d ThreadDump) {
	where := d.Thread.Key().String()
	at := make(map[spool.MessageID]int, len(d.Messages))
	for i, m := range d.Messages {
		part, ok := m.Content.Summary()
		if ok {
			through, known := at[part.ThroughMessageID]
			switch {
			case m.Role != spool.RoleSystem || part.Text == "":
				c.wrongf("summary", where, "message %s is a summary of the role %s with the text %q", m.ID, m.Role, part.Text)
			case !known:
				c.wrongf("summary", where, "summary %s speaks of messages up to %s, which is not before it", m.ID,
					part.ThroughMessageID)
			case d.Messages[through].AgentID != m.AgentID:
				c.wrongf("summary", where, "summary %s speaks of another agent's messages", m.ID)
			}
		}
		at[m.ID] = i
	}
	for n, commit := range c.of(d.Thread.Key()) {
		told := make(map[spool.MessageID]int)
		for _, e := range commit.Entries {
			var p wire.ContextCompacted
			if e.Type == wire.EntryContextCompacted && json.Unmarshal(e.Payload, &p) == nil {
				told[p.MessageID]++
				if p.SummarizedMessages < 1 {
					c.wrongf("summary", where, "seq %d tells of a summary of %d messages", e.Seq, p.SummarizedMessages)
				}
			}
		}
		for _, m := range commit.Messages {
			if _, ok := m.Content.Summary(); ok {
				told[m.ID]--
			}
		}
		for id, difference := range told {
			if difference != 0 {
				c.wrongf("summary", where, "commit %d has the summary %s, or its entry, without the other", n, id)
			}
		}
	}
}
