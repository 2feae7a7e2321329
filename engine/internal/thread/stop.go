package thread

import (
	"errors"

	"github.com/spoolhq/spool"
)

// Stopped is what has to follow a stop.
type Stopped struct {
	// Worker is true where a worker holds the run, and has to be woken.
	Worker bool
	// Rest is the run that has still to be settled. Nil: none.
	Rest *Unsettled
	// Lost is the stream that a dead worker has left open. Nil: none.
	Lost *LostStream
	// State is what the thread or the run was in, for a stop that was refused.
	State spool.State
}

// Stop stops the run that has the thread, and all those that wait for it; or, with an id, only that
// run. It returns [ErrUnchanged] where there is nothing to stop.
func Stop(tx *Tx, only spool.RunID) (Stopped, error) {
	if only != "" && only != tx.Run.ID {
		return stopWaiting(tx, only)
	}
	state, was, others := tx.Thread.State, tx.Run, 0
	if only == "" {
		var err error
		if others, err = stopAllWaiting(tx); err != nil {
			return Stopped{State: state}, err
		}
	}
	if tx.Run.Ending != nil && tx.Run.Ending.State != spool.Cancelled { // its end is decided
		state = tx.Run.Ending.State
	}
	stopped, err := stop(tx)
	stopped.State = state
	switch {
	case err == nil:
		tx.noteStop(was, "")
	case others > 0 && errors.Is(err, ErrUnchanged): // only those that wait were stopped
		return stopped, nil
	}
	return stopped, err
}

// stopWaiting ends one run that waits.
func stopWaiting(tx *Tx, id spool.RunID) (Stopped, error) {
	run, err := tx.Store.Run(id)
	switch {
	case err != nil:
		return Stopped{}, err
	case run.QueuePosition == 0:
		return Stopped{State: run.State}, ErrUnchanged
	}
	return Stopped{State: run.State}, stopOneWaiting(tx, run)
}

// stopAllWaiting ends all runs that wait, and returns how many those were.
func stopAllWaiting(tx *Tx) (int, error) {
	waiting, err := tx.Store.Waiting()
	if err != nil {
		return 0, err
	}
	for _, run := range waiting {
		if err := stopOneWaiting(tx, run); err != nil {
			return 0, err
		}
	}
	return len(waiting), nil
}

func stopOneWaiting(tx *Tx, run spool.RunRow) error {
	tx.noteStop(run, "")
	return leave(tx, run, cancelled)
}

// stop is the transition of a stop, for the run that has the thread. It returns [ErrUnchanged]
// where there is none, or where its end is decided otherwise.
func stop(tx *Tx) (s Stopped, err error) {
	state := tx.Thread.State
	working, err := inHand(tx)
	switch {
	case err != nil:
		return s, err
	case !state.Active(), tx.Run.Ending != nil && tx.Run.Ending.State != spool.Cancelled:
		return s, ErrUnchanged
	case tx.Thread.Leased(tx.Now):
		s.Worker = true
		if tx.Run.StopAt.IsZero() {
			tx.Run.StopAt = tx.Now
		}
		return s, tx.Store.UpdateRun(tx.Run)
	case tx.Run.Ending != nil: // the process that stopped it has died before it was settled
		s.Rest, err = endUnheld(tx, *tx.Run.Ending)
		return s, err
	case state == spool.Running && working: // what its tools have done is worth a segment
		tx.Run.StopAt = tx.Now
		if err := tx.enqueue(spool.JobReclaim, 0); err != nil {
			return s, err
		}
		return s, tx.save()
	case state == spool.Running:
		if s.Lost, err = loseSegment(tx, WorkerDied); err != nil {
			return s, err
		}
	}
	tx.Run.StopAt = tx.Now
	s.Rest, err = endUnheld(tx, cancelled)
	return s, err
}
