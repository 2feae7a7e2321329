package spooltest

import (
	"encoding/json"
	"slices"

	"github.com/spoolhq/spool"
)

// ticket checks that a commit that queues a run also adds a job for it, because a second transaction
// may never come.
func (c *checker) ticket(n int, where string, commit Commit, before, r spool.RunRow) {
	queued := r.State == spool.Queued && r.QueuePosition == 0 && r.Depth == 0
	if waited := before.ID == "" || before.QueuePosition > 0 || before.State == spool.WaitingForInput; !queued || !waited {
		return
	}
	of := func(j spool.Job) bool { return j.RunID == r.ID }
	if !slices.ContainsFunc(commit.Jobs, of) {
		c.wrongf("job", where, "commit %d queues run %s without a job", n, r.ID)
	}
}

// home checks that everything that a commit writes belongs to the commit's thread.
func (c *checker) home(n int, where string, commit Commit) {
	for _, r := range commit.Runs {
		if of := (spool.ThreadKey{Tenant: r.Tenant, ID: r.ThreadID}); of != commit.Thread && of != (spool.ThreadKey{}) {
			c.wrongf("tenant", where, "commit %d writes run %s of %s/%s", n, r.ID, r.Tenant, r.ThreadID)
		}
	}
	for _, j := range commit.Jobs {
		if of := (spool.ThreadKey{Tenant: j.Tenant, ID: j.ThreadID}); of != commit.Thread && of != (spool.ThreadKey{}) {
			c.wrongf("tenant", where, "commit %d adds a job of %s/%s", n, j.Tenant, j.ThreadID)
		}
	}
}

// foreign checks that a client gets only frames about its own thread.
func (c *checker) foreign(client *Client) {
	where := client.Thread.String() + " to " + client.Name
	for _, f := range client.Frames {
		switch {
		case f.Event != nil && f.Event.ThreadID != "" && f.Event.ThreadID != client.Thread.ID:
			c.wrongf("tenant", where, "it is told of the thread %s", f.Event.ThreadID)
		case f.Snapshot != nil && f.Snapshot.Thread.ID != "" && f.Snapshot.Thread.ID != client.Thread.ID:
			c.wrongf("tenant", where, "it has a snapshot of %s", f.Snapshot.Thread.ID)
		}
	}
}

// clock checks that the time in which a worker executes a run is counted once: never more than the time
// that has passed, and not less, unless the worker died.
func (c *checker) clock(n int, where string, commit Commit, before, r spool.RunRow) {
	if r.Depth > 0 || before.ID == "" || before.WorkerSince.IsZero() || !r.WorkerSince.IsZero() {
		return
	}
	passed := max(0, commit.At.Sub(before.WorkerSince))
	counted := r.WallTime - before.WallTime
	if counted > passed || counted < 0 || counted < passed && !lost(commit, r.ID) {
		c.wrongf("wall-time", where, "commit %d counts %s of run %s, which executed for %s", n, counted, r.ID, passed)
	}
	if before.Allowance == nil || r.Allowance == nil {
		return
	}
	if spent := r.Allowance.Spent.WallTime - before.Allowance.Spent.WallTime; spent != counted {
		c.wrongf("wall-time", where, "commit %d charges %s to the budget of run %s, which executed for %s", n, spent, r.ID, counted)
	}
}

// lost reports whether a commit ends the segment of a dead worker.
func lost(commit Commit, run spool.RunID) bool {
	return slices.ContainsFunc(commit.Entries, func(e spool.Entry) bool {
		if e.Type != spool.EntryRunEnded || e.RunID != run {
			return false
		}
		var p spool.RunEnded
		return json.Unmarshal(e.Payload, &p) == nil && p.Status == spool.SegmentLost
	})
}
