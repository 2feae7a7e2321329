package thread

import (
	"fmt"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
)

// ClaimRequest is a claim of a worker.
type ClaimRequest struct {
	Job spool.Job
	// Knows returns an error for an agent that the worker's process lacks.
	Knows func(agent string) error
	// Alone takes the place of the process for a suspect, the run that it carries alone. It reports
	// false where another one has it. It may be called again for the same claim.
	Alone func() bool
}

// Claim is what a claim has found: a segment to carry, or a reason not to.
type Claim struct {
	// Segment has the run and its thread as the worker carries them. Nil: there is nothing to
	// carry.
	Segment *Segment
	// Rest is the run that has ended but for its settle hook. Nil: none.
	Rest *Unsettled
	// Reason is why there is no segment, for the log and the job's result.
	Reason string
	// BusyFor is how long the present owner's lease still lasts. Zero: there is none.
	BusyFor time.Duration
	// Lost is the stream that a dead worker has left open. Nil: none.
	Lost *LostStream
}

// Segment is a run in the hands of a worker.
type Segment struct {
	Thread spool.Thread
	Run    spool.RunRow
	// Seq is the RUN_STARTED entry.
	Seq int64
}

// Take is the transition to RUNNING: it takes the thread for a worker, opens the next segment, and
// closes the one of a worker that died. A ticket that the run has outlived claims nothing. It
// returns [ErrUnchanged] where the transaction is to be rolled back.
func Take(store spool.Tx, r ClaimRequest, rules Rules) (Claim, Follow, error) {
	tx, err := Open(store, rules)
	switch {
	case record.Missing(err):
		return Claim{Reason: "the thread is gone"}, Follow{}, nil
	case err != nil:
		return Claim{}, Follow{}, err
	case r.Job.RunID != "" && tx.Run.ID != r.Job.RunID:
		if run, err := store.Run(r.Job.RunID); err == nil && run.QueuePosition > 0 {
			return Claim{Reason: "the run waits for its thread"}, Follow{}, nil
		}
		return Claim{Reason: "another run has the thread"}, Follow{}, nil
	case tx.Run.State.Terminal():
		return Claim{Reason: "the run has ended"}, Follow{}, nil
	case tx.Thread.Leased(tx.Now):
		return Claim{Reason: "another worker has the run", BusyFor: tx.Thread.LeaseUntil.Sub(tx.Now)}, Follow{}, nil
	}
	for _, name := range []string{r.Job.Agent, tx.Run.Agent} {
		if err := r.Knows(name); err != nil {
			return Claim{}, Follow{}, err
		}
	}
	c, err := take(tx, r)
	return c, tx.Follow, err
}

// take brings the run up to date, decides how it goes on, and does that.
func take(tx *Tx, r ClaimRequest) (Claim, error) {
	f, err := find(tx)
	if err != nil {
		return Claim{}, err
	}
	next := decide(tx, f, r.Job)
	c := Claim{Reason: next.reason, Lost: f.lost}
	switch next.do {
	case doNothing:
		return c, ErrUnchanged
	case doEnd:
		if next.deaths > 0 {
			err = deadLetter(tx, r.Job, next)
		}
		if err == nil {
			c.Rest, err = endUnheld(tx, next.ending)
		}
		return c, err
	case doBackOff:
		err = backOff(tx)
	case doCarry:
		tx.Run.Isolated = suspected(tx)
		if tx.Run.Isolated && !r.Alone() {
			return Claim{Reason: "another run whose workers died is carried alone", BusyFor: aloneWait}, ErrUnchanged
		}
		c.Segment, err = openSegment(tx)
	case doWait:
	}
	if err != nil {
		return c, err
	}
	return c, tx.save()
}

// found is what a claim finds of a run beside its own state.
type found struct {
	open    int           // parks that nobody has answered yet
	failing *spool.Ending // how the run ends for want of an answer. Nil: it does not
	working bool          // a step of the tree has a draft, the tools of which have run or may have
	lost    *LostStream   // the stream of the worker that died. Nil: none did
}

// find sees to what has become due while no worker had the run: parks expire, and the segment of a
// worker that died is closed.
func find(tx *Tx) (f found, err error) {
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
		if f.working, err = inHand(tx); err == nil {
			f.lost, err = loseSegment(tx, WorkerDied)
		}
	}
	return f, err
}

// decision is how a run goes on.
type decision struct {
	do     action
	reason string
	ending spool.Ending // for doEnd
	deaths int          // of its workers, for which it ends. A dead job tells of them
}

type action int

const (
	doCarry   action = iota // the worker carries the next segment
	doNothing               // the job is obsolete
	doWait                  // a person has to answer first
	doBackOff               // the run waits for a while, and is then carried alone
	doEnd
)

var cancelled = spool.Ending{State: spool.Cancelled, Reason: spool.StopCancelled}

// decide says how a run goes on that a worker has come for with a job. It reads nothing from the store and
// changes nothing.
func decide(tx *Tx, f found, j spool.Job) decision {
	run, stopped := &tx.Run, !tx.Run.StopAt.IsZero()
	deaths := run.Deaths + run.IsolatedDeaths
	switch {
	case run.Ending != nil:
		return decision{do: doEnd, ending: *run.Ending}

	case run.State == spool.Queued && j.Kind == spool.JobExpiry:
		return decision{do: doNothing, reason: "the park was resolved"}
	case run.State == spool.Queued && j.Segment != 0 && j.Segment <= run.Segments:
		return decision{do: doNothing, reason: "a later ticket exists"}
	case run.State == spool.Queued && stopped: // while it waited for the thread
		return decision{do: doEnd, reason: "the run was stopped before its turn", ending: cancelled}

	case f.open > 0:
		return decision{do: doWait, reason: "the run waits for input"}
	case f.failing != nil:
		return decision{do: doEnd, reason: "nobody has answered in time", ending: *f.failing}

	case f.lost != nil && stopped && !f.working:
		return decision{do: doEnd, reason: endedWithWorker, ending: cancelled}
	case f.lost != nil && run.IsolatedDeaths >= tx.Retry.Deaths:
		return decision{do: doEnd, reason: endedWithWorker, deaths: deaths, ending: spool.Ending{
			State: spool.Failed, Reason: spool.StopFailed, Error: fmt.Sprintf("%d workers died in the same step", deaths),
		}}
	case f.lost != nil && !stopped && suspected(tx):
		return decision{do: doBackOff, reason: "several workers died in the run's step: it waits, and is then carried alone"}
	}
	return decision{do: doCarry}
}

const endedWithWorker = "the run has ended with its worker"

// openSegment takes the thread, and begins the next segment of its run.
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

// When a process dies, it takes all segments that it carries with it, and nothing says which of
// them was the cause. A few deaths in a step make a run a suspect. A suspect waits for a while,
// and is then carried alone: a process carries one suspect at a time, until the run has saved a
// step. Only deaths while it is alone count towards failing it, so that a step which kills its
// worker does not fail the runs that were carried with it.

const (
	// suspectDeaths is how many workers die in a step before its run is a suspect.
	suspectDeaths = 3
	// aloneWait is when a suspect comes back while another one is being carried.
	aloneWait = 2 * time.Second
)

// suspected reports whether the run is to be carried alone.
func suspected(tx *Tx) bool { return tx.Run.Deaths >= min(suspectDeaths, tx.Retry.Deaths) }

// deadLetter leaves a dead job of a run that ends because its workers died. The job can be redriven.
func deadLetter(tx *Tx, j spool.Job, next decision) error {
	dead := tx.jobOf(tx.Run, spool.JobReclaim, 0)
	dead.Key, dead.Segment, dead.DueAt = j.Key, tx.Run.Segments+1, j.DueAt
	return tx.Store.AddDead(dead, next.deaths, next.ending.Error)
}

// backOff is the transition back to QUEUED of a suspect, with a ticket for later.
func backOff(tx *Tx) error {
	if err := tx.move(spool.Queued); err != nil {
		return err
	}
	next := tx.ticket(spool.JobReclaim, tx.Wait(tx.Run.IsolatedDeaths+1, nil))
	if err := tx.Store.CancelJob(next.Key); err != nil { // which may be the one in hand
		return err
	}
	if err := tx.Store.Enqueue(next); err != nil {
		return err
	}
	tx.release()
	tx.Follow.Jobs = true
	return nil
}
