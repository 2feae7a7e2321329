package spooltest

import (
	"encoding/json"
	"reflect"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// nested checks nested runs: that each belongs to the run that spawned it, that it has ended if its
// parents have, and that its data has the right agent id.
func (c *checker) nested(where string, d ThreadDump, byID map[spool.RunID]store.RunRow) {
	type spawned struct {
		parent spool.RunID
		call   spool.ToolCallID
	}
	seen := make(map[spawned]spool.RunID)
	for _, r := range d.Runs {
		if r.RootID == "" {
			if r.Depth != 0 || r.ParentID != "" {
				c.wrongf("nested", where, "run %s of depth %d has no root", r.ID, r.Depth)
			}
			continue
		}
		parent, root := byID[r.ParentID], byID[r.RootID]
		if parent.ID == "" || parent.Root() != r.RootID || r.Depth != parent.Depth+1 || root.RootID != "" {
			c.wrongf("nested", where, "run %s of depth %d is below %s in %s", r.ID, r.Depth, r.ParentID, r.RootID)
		}
		by := spawned{r.ParentID, r.CallID}
		if other, twice := seen[by]; twice {
			c.wrongf("nested", where, "call %s of run %s has spawned %s and %s", r.CallID, r.ParentID, other, r.ID)
		}
		seen[by] = r.ID
		switch {
		case !r.State.Terminal():
			if c.Settled || root.State.Terminal() {
				c.wrongf("nested-end", where, "run %s is still %s, and %s is %s", r.ID, r.State, root.ID, root.State)
			}
		case r.EndedAt.IsZero() || r.StopReason == "":
			c.wrongf("nested-end", where, "run %s is %s without a time or a reason", r.ID, r.State)
		case root.State.Terminal() && r.EndedAt.After(root.EndedAt):
			c.wrongf("nested-end", where, "run %s has ended after %s", r.ID, root.ID)
		}
		c.usage(where, r)
	}
	for _, m := range d.Messages {
		if r, known := byID[m.RunID]; known && r.AgentID() != m.AgentID {
			c.wrongf("nested", where, "message %s of run %s stands under the agent %q", m.ID, m.RunID, m.AgentID)
		}
	}
	for _, p := range d.Parks {
		if caller, known := byID[p.CallerID()]; known && caller.State.Terminal() && !p.Landed {
			c.wrongf("park", where, "run %s has ended, and its park %s is %s", caller.ID, p.ToolCallID, p.State)
		}
	}
	c.reports(where, d)
}

// reports checks that the result of a spawn call matches the end of its nested run.
func (c *checker) reports(where string, d ThreadDump) {
	for _, r := range d.Runs {
		if r.RootID == "" || !r.State.Terminal() {
			continue
		}
		for _, m := range d.Messages {
			for _, p := range m.ToolResults() {
				if m.RunID != r.ParentID || p.ToolCallID != r.CallID {
					continue
				}
				var told struct {
					AgentID   spool.AgentID
					Result    json.RawMessage
					Error     string
					Cancelled bool
				}
				_ = json.Unmarshal(p.Result, &told)
				want := r.State == wire.Completed && r.Result != nil && tells(told.Result, r.Result.Text) ||
					r.State == wire.Failed && told.Error == r.Error
				if p.ToolName != spool.SpawnTool || !told.Cancelled && (told.AgentID != r.AgentID() || !want) {
					c.wrongf("nested", where, "run %s is %s with %+v, and its call told %s", r.ID, r.State, r.Result, p.Result)
				}
			}
		}
	}
}

// nestedCommit checks what one commit has done to nested runs. Known has all of them.
func (c *checker) nestedCommit(n int, where string, known []store.RunRow) {
	runs := make(map[spool.RunID]store.RunRow, len(known))
	for _, r := range known {
		runs[r.ID] = r
	}
	for _, r := range known {
		switch {
		case r.RootID == "":
			continue
		case r.State == wire.Queued || r.State == wire.Idle:
			c.wrongf("nested", where, "commit %d leaves the nested run %s %s", n, r.ID, r.State)
		}
		if root, known := runs[r.RootID]; known && root.State.Terminal() && !r.State.Terminal() {
			c.wrongf("nested-end", where, "commit %d leaves the nested run %s %s below %s, which is %s", n, r.ID, r.State,
				root.ID, root.State)
		}
	}
}

// tells reports whether the result of a spawn call is the text of a nested run, or the JSON value that the text
// is.
func tells(result json.RawMessage, text string) bool {
	var got, want any
	if json.Unmarshal(result, &got) != nil {
		return false
	}
	if _, isText := got.(string); isText {
		return got == text
	}
	return json.Unmarshal([]byte(text), &want) == nil && reflect.DeepEqual(got, want)
}
