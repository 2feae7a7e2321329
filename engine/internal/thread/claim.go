package thread

import (
	"fmt"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
)

// ClaimRequest is a worker's request to execute a job's run.
type ClaimRequest struct {
	Job spool.Job
	// Knows returns an error if the worker's process lacks the agent.
	Knows func(agent string) error
	// Isolate reserves the process's slot for an isolated run. It reports false if another run has
	// the slot. It may be called again for the same claim.
	Isolate func() bool
}

// Claimed is the outcome of a claim: a segment to execute, or a reason why there is none.
type Claimed struct {
	// Segment has the thread and the run to execute. Nil: there is nothing to execute.
	Segment *Segment
	// Unsettled is the run that only lacks its settle hook. Nil: none.
	Unsettled *Unsettled
	// Reason is why there is no segment, for the log and the job's result.
	Reason string
	// BusyFor is how long the current owner's lease still lasts. Zero: the run has no owner.
	BusyFor time.Duration
	// Lost is the stream that a dead worker left open. Nil: none.
	Lost *LostStream
}

// Segment is a run that a worker has claimed.
type Segment struct {
	Thread spool.Thread
	Run    spool.RunRow
	// Seq is the sequence number of the RUN_STARTED entry.
	Seq int64
}

// Claim is the transition to RUNNING. It leases the thread to a worker, opens the run's next
// segment, and closes the segment of a dead worker. An obsolete ticket claims nothing. Claim
// returns [ErrUnchanged] if the transaction has to be rolled back.
func Claim(store spool.Tx, r ClaimRequest, rules Rules) (Claimed, Follow, error) {
	tx, err := Open(store, rules)
	switch {
	case record.Missing(err):
		return Claimed{Reason: "the thread is gone"}, Follow{}, nil
	case err != nil:
		return Claimed{}, Follow{}, err
	case r.Job.RunID != "" && tx.Run.ID != r.Job.RunID:
		if run, err := store.Run(r.Job.RunID); err == nil && run.QueuePosition > 0 {
			return Claimed{Reason: "the run waits for its thread"}, Follow{}, nil
		}
		return Claimed{Reason: "another run has the thread"}, Follow{}, nil
	case tx.Run.State.Terminal():
		return Claimed{Reason: "the run has ended"}, Follow{}, nil
	case tx.Thread.Leased(tx.Now):
		return Claimed{Reason: "another worker has the run", BusyFor: tx.Thread.LeaseUntil.Sub(tx.Now)}, Follow{}, nil
	}
	for _, name := range []string{r.Job.Agent, tx.Run.Agent} {
		if err := r.Knows(name); err != nil {
			return Claimed{}, Follow{}, err
		}
	}
	c, err := claim(tx, r)
	return c, tx.Follow, err
}

// claim catches the run up, decides how it continues, and does that.
func claim(tx *Tx, r ClaimRequest) (Claimed, error) {
	f, err := catchUp(tx)
	if err != nil {
		return Claimed{}, err
	}
	next := decide(tx, f, r.Job)
	c := Claimed{Reason: next.reason, Lost: f.lost}
	switch next.do {
	case doNothing:
		return c, ErrUnchanged
	case doFinish:
		if next.deaths > 0 {
			err = deadLetter(tx, r.Job, next)
		}
		if err == nil {
			c.Unsettled, err = finishUnleased(tx, next.ending)
		}
		return c, err
	case doBackOff:
		err = backOff(tx)
	case doRun:
		tx.Run.Isolated = needsIsolation(tx)
		if tx.Run.Isolated && !r.Isolate() {
			return Claimed{Reason: "another isolated run has the slot", BusyFor: isolationWait}, ErrUnchanged
		}
		c.Segment, err = openSegment(tx)
	case doWait:
	}
	if err != nil {
		return c, err
	}
	return c, tx.save()
}

// found is what a claim learns about a run beyond the run's own state.
type found struct {
	open    int           // parks that nobody has answered yet
	failing *spool.Ending // how the run ends because nobody answered; nil if it goes on
	working bool          // a step of the tree has a draft: its tools may have run
	lost    *LostStream   // the stream of a dead worker; nil if none died
}

// catchUp does what became due while no worker had the run: it expires parks, and closes the
// segment of a dead worker.
func catchUp(tx *Tx) (f found, err error) {
	switch {
	case tx.Run.Ending != nil: // its worker died before or in the settle hook
	case tx.Run.State == spool.WaitingForInput:
		f.open, f.failing, err = expire(tx)
	case tx.Run.State == spool.Running:
		if tx.Run.Isolated {
			tx.Run.IsolatedDeaths++
		} else {
			tx.Run.Deaths++
		}
		if f.working, err = hasDraft(tx); err == nil {
			f.lost, err = closeLostSegment(tx, WorkerDied)
		}
	}
	return f, err
}

// decision says how a run continues.
type decision struct {
	do     action
	reason string
	ending spool.Ending // for doFinish
	deaths int          // the workers' deaths that end the run; its dead job has the number
}

type action int

const (
	doRun     action = iota // the worker executes the next segment
	doNothing               // the job is obsolete
	doWait                  // a person has to answer first
	doBackOff               // the run waits for a while, and then runs isolated
	doFinish
)

var cancelled = spool.Ending{State: spool.Cancelled, Reason: spool.StopCancelled}

// decide says how a claimed run continues. It does not touch the store and changes nothing.
func decide(tx *Tx, f found, j spool.Job) decision {
	run, stopped := &tx.Run, !tx.Run.StopAt.IsZero()
	deaths := run.Deaths + run.IsolatedDeaths
	switch {
	case run.Ending != nil:
		return decision{do: doFinish, ending: *run.Ending}

	case run.State == spool.Queued && j.Kind == spool.JobExpiry:
		return decision{do: doNothing, reason: "the park was resolved"}
	case run.State == spool.Queued && j.Segment != 0 && j.Segment <= run.Segments:
		return decision{do: doNothing, reason: "a later ticket exists"}
	case run.State == spool.Queued && stopped: // before its first segment
		return decision{do: doFinish, reason: "the run was stopped before its turn", ending: cancelled}

	case f.open > 0:
		return decision{do: doWait, reason: "the run waits for input"}
	case f.failing != nil:
		return decision{do: doFinish, reason: "nobody has answered in time", ending: *f.failing}

	case f.lost != nil && stopped && !f.working:
		return decision{do: doFinish, reason: endedWithWorker, ending: cancelled}
	case f.lost != nil && run.IsolatedDeaths >= tx.Retry.Deaths:
		return decision{do: doFinish, reason: endedWithWorker, deaths: deaths, ending: spool.Ending{
			State: spool.Failed, Reason: spool.StopFailed, Error: fmt.Sprintf("%d workers died in the same step", deaths),
		}}
	case f.lost != nil && !stopped && needsIsolation(tx):
		return decision{do: doBackOff, reason: "several workers died in the run's step: it waits, and then runs isolated"}
	}
	return decision{do: doRun}
}

const endedWithWorker = "the run has ended with its worker"

// openSegment leases the thread and begins the run's next segment.
func openSegment(tx *Tx) (*Segment, error) {
	if tx.Run.Segments == 0 {
		tx.Run.StartedAt = tx.Now
	}
	if err := tx.move(spool.Running); err != nil {
		return nil, err
	}
	tx.lease()
	tx.startClock()
	tx.Run.Segments++
	tx.Run.Saved = spool.Offset{}
	entry := spool.NewEntry(spool.EntryRunStarted, tx.Run.ID, spool.RunStarted{
		RunID: tx.Run.ID, StreamID: tx.Run.Stream(), Segment: tx.Run.Segments,
	})
	if err := tx.Store.AppendEntries(entry); err != nil {
		return nil, err
	}
	return &Segment{Thread: tx.Thread, Run: tx.Run, Seq: entry.Seq}, nil
}

// When a process dies, all its segments die with it, and nothing says which of them was the
// cause. After a few deaths in one step, a run waits for a while and then runs isolated: a process
// executes one isolated run at a time, until that run has saved a step. Only deaths of isolated
// workers count towards failing the run, so that a step which kills its worker does not fail the
// other runs of that worker.

const (
	// isolationDeaths is how many workers die in a step before its run is isolated.
	isolationDeaths = 3
	// isolationWait is when a run comes back if another isolated run has the slot.
	isolationWait = 2 * time.Second
)

func needsIsolation(tx *Tx) bool { return tx.Run.Deaths >= min(isolationDeaths, tx.Retry.Deaths) }

// deadLetter adds a dead job for a run that ends because its workers died, so that an operator can
// redrive it.
func deadLetter(tx *Tx, j spool.Job, next decision) error {
	dead := tx.jobOf(tx.Run, spool.JobReclaim, 0)
	dead.Key, dead.Segment, dead.DueAt = j.Key, tx.Run.Segments+1, j.DueAt
	return tx.Store.AddDead(dead, next.deaths, next.ending.Error)
}

// backOff is the transition back to QUEUED of a run that is to be isolated, with a ticket for
// later.
func backOff(tx *Tx) error {
	if err := tx.move(spool.Queued); err != nil {
		return err
	}
	next := tx.ticket(spool.JobReclaim, tx.RetryDelay(tx.Run.IsolatedDeaths+1, nil))
	if err := tx.Store.CancelJob(next.Key); err != nil { // the claimed job may have this key
		return err
	}
	if err := tx.Store.Enqueue(next); err != nil {
		return err
	}
	tx.release()
	tx.Follow.Jobs = true
	return nil
}
