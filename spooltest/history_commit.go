package spooltest

import (
	"encoding/json"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// ticket checks that a commit that queues a run also adds a job for it, because a second transaction
// may never come. A commit that starts a run for a worker has claimed the job for that worker, so that no other one
// gets it. So has one that begins a segment of a run that waited, and it removes the job that waited with it.
func (c *checker) ticket(n int, where string, commit Commit, before, r store.RunRow) {
	if r.QueuePosition > 0 || r.Depth > 0 {
		return
	}
	waits := slices.ContainsFunc(commit.Jobs, func(j wire.Job) bool { return j.RunID == r.ID })
	claimed := slices.ContainsFunc(commit.Claimed, func(j store.ClaimedJob) bool { return j.RunID == r.ID })
	replaces := before.State == wire.Queued && slices.ContainsFunc(commit.Claimed, func(j store.ClaimedJob) bool {
		return j.RunID == r.ID && slices.Contains(commit.CancelJobs, j.Key)
	})
	begins := before.ID == "" && !r.EnqueuedAt.Before(commit.At) // else it is of a database that is older than the history
	waited := before.ID == "" || before.QueuePosition > 0 || before.State == wire.WaitingForInput
	switch {
	case r.State == wire.Queued && waited && !waits:
		c.wrongf("job", where, "commit %d queues run %s without a job", n, r.ID)
	case r.State == wire.Running && begins && (waits || !claimed):
		c.wrongf("job", where, "commit %d starts run %s for a worker that has not claimed its only job", n, r.ID)
	case claimed && (r.State != wire.Running || !begins && !replaces):
		c.wrongf("job", where, "commit %d claims a job of run %s, which does not begin with it", n, r.ID)
	}
}

// home checks that everything that a commit writes belongs to the commit's thread.
func (c *checker) home(n int, where string, commit Commit) {
	for _, r := range commit.Runs {
		if of := (spool.ThreadKey{Tenant: r.Tenant, ID: r.ThreadID}); of != commit.Thread && of != (spool.ThreadKey{}) {
			c.wrongf("tenant", where, "commit %d writes run %s of %s/%s", n, r.ID, r.Tenant, r.ThreadID)
		}
	}
	jobs := slices.Clone(commit.Jobs)
	for _, j := range commit.Claimed {
		jobs = append(jobs, j.Job)
	}
	for _, j := range jobs {
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
func (c *checker) clock(n int, where string, commit Commit, before, r store.RunRow) {
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
		c.wrongf("wall-time", where, "commit %d charges %s to the budget of run %s, which executed for %s", n, spent, r.ID,
			counted)
	}
}

// lost reports whether a commit ends the segment of a dead worker.
func lost(commit Commit, run spool.RunID) bool {
	return slices.ContainsFunc(commit.Entries, func(e wire.Entry) bool {
		if e.Type != wire.EntryRunEnded || e.RunID != run {
			return false
		}
		var p wire.RunEnded
		return json.Unmarshal(e.Payload, &p) == nil && p.Status == wire.SegmentLost
	})
}
