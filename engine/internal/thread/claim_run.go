package thread

import (
	"fmt"
	"time"

	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// ClaimRequest is a worker's request to execute a job's run.
type ClaimRequest struct {
	Job wire.Job
	// Take replaces an unclaimed job of a queued run by a claimed one. Empty: the worker has claimed the job.
	Take store.Changes
	// CheckAgent returns an error if the worker's process lacks the agent.
	CheckAgent func(agent string) error
	// Revision returns the revision of the agent for the next segment of a run. It may be called again for the
	// same claim. Nil: segments have none.
	Revision func(run store.RunRow) (wire.RevisionID, error)
	// Isolate reserves the process's slot for an isolated run. It returns false if another run has the
	// slot. It may be called again for the same claim.
	Isolate func() bool
}

// Claimed is the outcome of a claim: a segment to execute, or the reason why there is none.
type Claimed struct {
	// Segment is the segment to execute, or nil.
	Segment *Segment
	// Decided is true if the run has to be ended by [FinishDecided], in the same transaction.
	Decided bool
	// Unsettled is the run that the worker has to end after the settle hook, or nil.
	Unsettled *Unsettled
	// Reason is why there is no segment, for the log and the job's result.
	Reason string
	// BusyFor is how long the current owner's lease still lasts, or zero if no worker has the run.
	BusyFor time.Duration
	// Lost is the stream that a dead worker left open, or nil.
	Lost *LostStream
}

// Segment is a run that a worker has claimed.
type Segment struct {
	Thread wire.Thread
	Run    store.RunRow
	// Seq is the sequence number of the RUN_STARTED entry.
	Seq int64
}

// ClaimRun is the transition to RUNNING. It leases the thread to a worker, opens the run's next segment,
// and closes the segment of a dead worker. It returns a Claimed without a segment for an obsolete
// ticket, and [ErrUnchanged] if the transaction has to be rolled back.
func ClaimRun(db store.Tx, r ClaimRequest, rules Rules) (Claimed, Follow, error) {
	tx, err := Open(db, rules)
	switch {
	case record.Missing(err):
		return Claimed{Reason: "the thread is gone"}, Follow{}, nil
	case err != nil:
		return Claimed{}, Follow{}, err
	case r.Job.RunID != "" && tx.Run.ID != r.Job.RunID:
		if run, err := store.FindRun(db, r.Job.RunID); err == nil && run.QueuePosition > 0 {
			return Claimed{Reason: "the run waits for its thread"}, Follow{}, nil
		}
		return Claimed{Reason: "another run has the thread"}, Follow{}, nil
	case tx.Run.State.Terminal():
		return Claimed{Reason: "the run has ended"}, Follow{}, nil
	case tx.Thread.Leased(tx.Now):
		return Claimed{Reason: "another worker has the run", BusyFor: tx.Thread.LeaseUntil.Sub(tx.Now)}, Follow{}, nil
	}
	for _, name := range []string{r.Job.Agent, tx.Run.Agent} {
		if err := r.CheckAgent(name); err != nil {
			return Claimed{}, Follow{}, err
		}
	}
	c, err := claimRun(tx, r)
	return c, tx.Follow, err
}

// claimRun brings the run up to date, decides how it continues, and writes the outcome. It ends no run:
// [FinishDecided] does, or the worker after the settle hook.
func claimRun(tx *Tx, r ClaimRequest) (Claimed, error) {
	f, err := catchUp(tx, r.Take)
	if err != nil {
		return Claimed{}, err
	}
	next := decide(tx, f, r.Job)
	switch {
	case next.do == doNothing, len(r.Take.Claimed) > 0 && next.do != doRun:
		return Claimed{Reason: next.reason}, ErrUnchanged
	case next.isolated && !r.Isolate():
		return Claimed{Reason: "another isolated run has the slot", BusyFor: isolationWait}, ErrUnchanged
	}
	if next.do == doRun && r.Revision != nil {
		if tx.Run.Revision, err = r.Revision(tx.Run); err != nil {
			return Claimed{}, err
		}
	}
	if err := carryOut(tx, next, r.Job, &f.changes); err != nil {
		return Claimed{}, err
	}
	c := Claimed{Reason: next.reason, Lost: f.lost}
	switch next.do {
	case doRun:
		started := f.changes.Entries[len(f.changes.Entries)-1]
		c.Segment = &Segment{Thread: tx.Thread, Run: tx.Run, Seq: started.Seq}
	case doFinish:
		c.Decided = !tx.Settles && tx.Run.Ending.Closed
		if !c.Decided {
			c.Unsettled = &Unsettled{Thread: tx.Thread, Run: tx.Run, Saved: f.tree.saved}
		}
	default:
	}
	return c, nil
}

// found is what a claim learns about a run besides the run's own row.
type found struct {
	expiry

	tree    tree
	lost    *LostStream   // the stream of a dead worker; nil if none died
	changes store.Changes // the changes that became due
}

// catchUp makes the changes that became due while no worker had the run: it expires parks, and closes
// the segment of a dead worker.
func catchUp(tx *Tx, take store.Changes) (f found, err error) {
	f.changes = take
	if tx.Run.State == wire.Queued && tx.Run.Ending == nil {
		return f, nil
	}
	if f.tree, err = readTree(tx); err != nil {
		return f, err
	}
	switch {
	case tx.Run.Ending != nil: // the run's worker died before the settle hook or while it ran
	case tx.Run.State == wire.WaitingForInput:
		f.expiry, err = expire(tx, f.tree.parks, &f.changes)
	default:
		if tx.Run.Isolated {
			tx.Run.IsolatedDeaths++
		} else {
			tx.Run.Deaths++
		}
		f.lost = closeLostSegment(tx, f.tree, WorkerDied, &f.changes)
	}
	return f, err
}

// decision says how a run continues.
type decision struct {
	do       action
	reason   string
	isolated bool          // for doRun
	ending   store.Ending  // for doFinish
	deaths   int           // how many dead workers end the run; the dead job has the number
	ticket   bool          // the run needs a ticket
	after    time.Duration // until the ticket is due
}

type action int

const (
	doRun     action = iota // the worker executes the next segment
	doNothing               // the job is obsolete
	doWait                  // a person has to answer first, or a tool
	doBackOff               // the run waits for a while, and then runs isolated
	doFinish                // the run ends
)

// Cancelled is the end of a run that somebody has stopped.
var Cancelled = store.Ending{State: wire.Cancelled, Reason: wire.StopCancelled}

// decide returns how a claimed run continues. It does not use the store and changes nothing.
func decide(tx *Tx, f found, j wire.Job) decision {
	run, stopped := &tx.Run, !tx.Run.StopAt.IsZero()
	end := func(reason string, ending store.Ending) decision {
		return decision{do: doFinish, reason: reason, ending: ending, ticket: tx.Settles, after: tx.Lease}
	}
	switch {
	case run.Ending != nil:
		return decision{do: doFinish, ending: *run.Ending}

	case run.State == wire.Queued && j.Kind == wire.JobExpiry:
		return decision{do: doNothing, reason: "the park was resolved"}
	case run.State == wire.Queued && j.Segment != 0 && j.Segment <= run.Segments:
		return decision{do: doNothing, reason: "a later ticket exists"}
	case run.State == wire.Queued && stopped: // before its first segment
		return end("the run was stopped before its turn", Cancelled)

	case len(f.open) > 0:
		return decision{do: doWait, reason: "the run waits for input"}
	case f.waits:
		return decision{do: doWait, reason: "the run waits for a tool"}
	case f.failing != nil:
		return end("nobody has answered in time", *f.failing)

	case f.lost != nil && stopped && !f.tree.working:
		return end(endedWithWorker, Cancelled)
	case f.lost != nil && run.IsolatedDeaths >= tx.Retry.Deaths:
		deaths := run.Deaths + run.IsolatedDeaths
		last := end(endedWithWorker, store.Ending{
			State: wire.Failed, Reason: wire.StopFailed, Error: fmt.Sprintf("%d workers died in the same step", deaths),
		})
		last.deaths = deaths
		return last
	case f.lost != nil && !stopped && needsIsolation(tx):
		return decision{
			do: doBackOff, reason: "several workers died in the run's step: it waits, and then runs isolated",
			ticket: true, after: tx.RetryDelay(run.IsolatedDeaths+1, nil),
		}
	}
	return decision{do: doRun, isolated: needsIsolation(tx)}
}

const endedWithWorker = "the run has ended with its worker"

// When a process dies, all its segments die with it, and it is unknown which of them was the cause.
// Therefore, after a few deaths in one step, a run waits for a while and then runs isolated: a process
// executes one isolated run at a time, until that run has saved a step. Only deaths of isolated workers
// count towards failing a run, so that a step that kills its worker does not fail the worker's other
// runs.

const (
	// isolationDeaths is how many workers die in a step before its run is isolated.
	isolationDeaths = 3
	// isolationWait is the delay of a run's next ticket if another isolated run has the slot.
	isolationWait = 2 * time.Second
)

func needsIsolation(tx *Tx) bool { return tx.Run.Deaths >= min(isolationDeaths, tx.Retry.Deaths) }

// carryOut writes a decision and the changes that became due before it.
func carryOut(tx *Tx, next decision, j wire.Job, c *store.Changes) (err error) {
	if next.ticket {
		ticket := tx.ticket(wire.JobReclaim, next.after)
		c.Jobs = append(c.Jobs, ticket)
		if next.do == doBackOff {
			c.CancelJobs = append(c.CancelJobs, ticket.Key) // the claimed job may have this key
		}
	}
	if next.deaths > 0 { // the dead job lets an operator redrive the run
		dead := tx.ticket(wire.JobReclaim, 0)
		dead.Key, dead.DueAt = j.Key, j.DueAt
		c.Dead = append(c.Dead, wire.QueuedJob{Job: dead, Attempts: next.deaths, Cause: next.ending.Error})
	}
	switch next.do {
	case doFinish:
		err = decideEnding(tx, next.ending, c)
		tx.lease()
	case doRun:
		tx.Run.Isolated = next.isolated
		err = beginSegment(tx, c)
	case doBackOff:
		err = tx.move(wire.Queued)
		tx.release()
		tx.Thread.Fence++ // the lost worker may have been paused, and would write while nobody has the lease
		tx.Follow.Jobs = true
	default:
		tx.release()
	}
	if err != nil {
		return err
	}
	return tx.save(*c)
}

// beginSegment makes the run RUNNING, leases its thread, and adds the entry about the run's next segment.
func beginSegment(tx *Tx, c *store.Changes) error {
	if tx.Run.Segments == 0 {
		tx.Run.StartedAt = tx.Now
	}
	tx.Run.Segments++
	tx.Run.Saved = wire.Offset{}
	c.Entries = append(c.Entries, wire.NewEntry(wire.EntryRunStarted, tx.Run.ID, wire.RunStarted{
		RunID: tx.Run.ID, StreamID: tx.Run.Stream(), Segment: tx.Run.Segments, Revision: tx.Run.Revision,
		EnqueuedAt: tx.Run.EnqueuedAt,
	}))
	err := tx.move(wire.Running)
	tx.lease()
	tx.startClock()
	return err
}
