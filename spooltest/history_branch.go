package spooltest

import (
	"maps"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// readBranches reads the branches of a thread with their messages.
func readBranches(v store.View) (dumps []BranchDump, err error) {
	branches, err := v.Branches()
	if err != nil {
		return nil, err
	}
	for _, b := range branches {
		messages, err := v.Messages(store.MessageQuery{Branch: b.ID})
		if err != nil {
			return nil, err
		}
		dumps = append(dumps, BranchDump{b, messages})
	}
	return dumps, nil
}

// kept checks that no message is lost: each message that was added is in the view or in one branch,
// after the same message as when it was added.
func (c *checker) kept(d ThreadDump) {
	where := d.Thread.Key().String()
	commits := c.of(d.Thread.Key())
	if len(commits) == 0 {
		return
	}
	after, times := make(map[spool.MessageID]spool.MessageID), make(map[spool.MessageID]int)
	for _, commit := range commits {
		for i, m := range commit.Messages {
			times[m.ID] = 0
			if i < len(commit.After) {
				after[m.ID] = commit.After[i]
			}
		}
	}
	homes := make(map[spool.MessageID]wire.BranchID)
	follow := func(home wire.BranchID, last spool.MessageID, messages []spool.Message) {
		for _, m := range messages {
			before, known := after[m.ID]
			if _, added := times[m.ID]; !added {
				c.wrongf("messages-kept", where, "there is the message %s, which nobody has added", m.ID)
			}
			if known && before != last {
				c.wrongf("messages-kept", where, "message %s stands after %s and was added after %q", m.ID, last, before)
			}
			times[m.ID]++
			homes[m.ID] = home
			last = m.ID
		}
	}
	follow(0, "", d.Messages)
	for _, b := range d.Branches {
		follow(b.Branch.ID, after[b.Branch.FromMessageID], b.Messages)
	}
	for _, id := range slices.Sorted(maps.Keys(times)) {
		switch n := times[id]; {
		case n == 0:
			c.wrongf("messages-kept", where, "message %s is gone", id)
		case n > 1:
			c.wrongf("messages-kept", where, "message %s is there %d times", id, n)
		}
	}
	for _, b := range d.Branches {
		c.branch(where, b, after[b.Branch.FromMessageID], homes)
	}
}

// branch checks the fields of a branch.
func (c *checker) branch(where string, b BranchDump, after spool.MessageID, homes map[spool.MessageID]wire.BranchID) {
	if b.Branch.BaseMessageID != after {
		c.wrongf("branch", where, "branch %d has the base %s, and begins after %s", b.Branch.ID, b.Branch.BaseMessageID,
			after)
	}
	if home := homes[after]; b.Branch.BaseBranchID != home {
		c.wrongf("branch", where, "branch %d names the branch %d, and its base %s is in branch %d", b.Branch.ID,
			b.Branch.BaseBranchID, after, home)
	}
	if len(b.Messages) == 0 || b.Branch.MessageCount != len(b.Messages) || b.Branch.FromMessageID != b.Messages[0].ID {
		c.wrongf("branch", where, "branch %d counts %d messages from %s on, and has %d", b.Branch.ID, b.Branch.MessageCount,
			b.Branch.FromMessageID, len(b.Messages))
	}
}
