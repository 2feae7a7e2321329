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
	Run    spool.Run
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
		if run, err := store.Run(r.Job.RunID); err == nil && run.Place > 0 {
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

// take decides by the run's state how it goes on.
func take(tx *Tx, r ClaimRequest) (c Claim, err error) {
	if tx.Run.Ending != nil { // its worker died before or in the settle hook
		c.Rest, err = settleUnheld(tx)
		return c, err
	}
	var done bool
	switch tx.Run.State {
	case spool.Queued:
		c, done, err = takeQueued(tx, r.Job)
	case spool.WaitingForInput:
		c, done, err = takeParked(tx)
	case spool.Running:
		c, done, err = takeLost(tx, r.Job)
	}
	if done || err != nil {
		return c, err
	}
	tx.Run.Carriage.Alone = suspected(tx)
	if tx.Run.Carriage.Alone && !r.Alone() {
		return Claim{Reason: "another run whose workers died is carried alone", BusyFor: aloneWait}, ErrUnchanged
	}
	c.Segment, err = openSegment(tx)
	return c, err
}

func takeQueued(tx *Tx, j spool.Job) (c Claim, done bool, err error) {
	switch {
	case j.Kind == spool.JobExpiry:
		return Claim{Reason: "the park was resolved"}, true, ErrUnchanged
	case j.Segment != 0 && j.Segment <= tx.Run.Segments:
		return Claim{Reason: "a later ticket exists"}, true, ErrUnchanged
	case !tx.Run.StopAt.IsZero(): // while it waited for the thread
		c.Reason = "the run was stopped before its turn"
		c.Rest, err = endUnheld(tx, spool.Ending{State: spool.Cancelled, Reason: spool.StopCancelled})
		return c, true, err
	}
	return c, false, nil
}

func takeParked(tx *Tx) (c Claim, done bool, err error) {
	open, err := expire(tx)
	if err != nil {
		return c, false, err
	}
	if open > 0 {
		return Claim{Reason: "the run waits for input"}, true, tx.save()
	}
	ending, err := unanswered(tx)
	if ending == nil || err != nil {
		return c, false, err
	}
	c.Reason = "nobody has answered in time"
	c.Rest, err = endUnheld(tx, *ending)
	return c, true, err
}

// takeLost decides about a run whose worker died.
func takeLost(tx *Tx, j spool.Job) (c Claim, done bool, err error) {
	if alone := &tx.Run.Carriage; alone.Alone {
		alone.AloneDeaths++
	} else {
		tx.Run.Deaths++
	}
	working, err := inHand(tx)
	if err != nil {
		return c, false, err
	}
	if c.Lost, err = loseSegment(tx, WorkerDied); err != nil {
		return c, false, err
	}
	switch {
	case !tx.Run.StopAt.IsZero() && !working:
		c.Reason = endedWithWorker
		c.Rest, err = endUnheld(tx, spool.Ending{State: spool.Cancelled, Reason: spool.StopCancelled})
	case tx.Run.Carriage.AloneDeaths >= tx.MaxDeaths:
		c.Reason = endedWithWorker
		c.Rest, err = giveUp(tx, j)
	case tx.Run.StopAt.IsZero() && suspected(tx):
		c.Reason = "several workers died in the run's step: it waits, and is then carried alone"
		err = backOff(tx)
	default:
		return c, false, nil
	}
	return c, true, err
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
	return &Segment{Thread: tx.Thread, Run: tx.Run, Seq: entry.Seq}, tx.save()
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
func suspected(tx *Tx) bool { return tx.Run.Deaths >= min(suspectDeaths, tx.MaxDeaths) }

// giveUp ends a run that has killed its workers. A dead job is left of it, which can be
// redriven.
func giveUp(tx *Tx, j spool.Job) (*Unsettled, error) {
	deaths := tx.Run.Deaths + tx.Run.Carriage.AloneDeaths
	ending := spool.Ending{
		State: spool.Failed, Reason: spool.StopFailed, Error: fmt.Sprintf("%d workers died in the same step", deaths),
	}
	dead := tx.job(spool.JobReclaim, 0)
	dead.Key, dead.Segment, dead.DueAt = j.Key, tx.Run.Segments+1, j.DueAt
	if err := tx.Store.AddDead(dead, deaths, ending.Error); err != nil {
		return nil, err
	}
	return endUnheld(tx, ending)
}

// backOff is the transition back to QUEUED of a suspect, with a ticket for later.
func backOff(tx *Tx) error {
	if err := tx.move(spool.Queued); err != nil {
		return err
	}
	next := tx.ticket(spool.JobReclaim, tx.Wait(tx.Run.Carriage.AloneDeaths+1, nil))
	if err := tx.Store.CancelJob(next.Key); err != nil { // which may be the one in hand
		return err
	}
	if err := tx.Store.Enqueue(next); err != nil {
		return err
	}
	tx.release()
	tx.Follow.Jobs = true
	return tx.save()
}
