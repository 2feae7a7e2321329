package thread

import (
	"errors"

	"github.com/spoolhq/spool"
)

// Stopped says what has to follow a stop.
type Stopped struct {
	// Worker is true if a worker has leased the run and has to be woken.
	Worker bool
	// Unsettled is the run that still has to be settled. Nil: none.
	Unsettled *Unsettled
	// Lost is the stream that a dead worker left open. Nil: none.
	Lost *LostStream
	// State is the state of the thread or run before the stop.
	State spool.State
}

// Stop stops the thread's run and all waiting runs, or, with an id, only that run. It returns
// [ErrUnchanged] if there is nothing to stop.
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
	if tx.Run.Ending != nil && tx.Run.Ending.State != spool.Cancelled { // its ending is decided
		state = tx.Run.Ending.State
	}
	stopped, err := stop(tx)
	stopped.State = state
	switch {
	case err == nil:
		tx.noteStop(was, "")
	case others > 0 && errors.Is(err, ErrUnchanged): // only waiting runs were stopped
		return stopped, nil
	}
	return stopped, err
}

// stopWaiting stops one waiting run.
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

// stopAllWaiting stops all waiting runs and returns their number.
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
	return finishWaiting(tx, run, cancelled)
}

// stop stops the thread's run. It returns [ErrUnchanged] if there is none, or if its ending is
// already decided.
func stop(tx *Tx) (s Stopped, err error) {
	state := tx.Thread.State
	working, err := hasDraft(tx)
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
	case tx.Run.Ending != nil: // the process that stopped it died before the settlement
		s.Unsettled, err = finishUnleased(tx, *tx.Run.Ending)
		return s, err
	case state == spool.Running && working: // a last segment saves what its tools have done
		tx.Run.StopAt = tx.Now
		if err := tx.enqueue(spool.JobReclaim, 0); err != nil {
			return s, err
		}
		return s, tx.save()
	case state == spool.Running:
		if s.Lost, err = closeLostSegment(tx, WorkerDied); err != nil {
			return s, err
		}
	}
	tx.Run.StopAt = tx.Now
	s.Unsettled, err = finishUnleased(tx, cancelled)
	return s, err
}
