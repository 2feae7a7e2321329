package thread

import (
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Stopped is what has to follow the commit of a stop.
type Stopped struct {
	// Worker is true if a worker has leased the run and has to be woken.
	Worker bool
	// Unsettled is the run that still has to be settled, or nil.
	Unsettled *Unsettled
	// Lost is the stream that a dead worker left open, or nil.
	Lost *LostStream
	// State is the state of the thread or run before the stop.
	State wire.State
}

// Stop stops the thread's run and all waiting runs or, if only is not empty, that run alone. It returns
// [ErrUnchanged] if no run has to be stopped.
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
	if tx.Run.Ending != nil && tx.Run.Ending.State != wire.Cancelled { // the ending is already decided
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
	run, err := store.FindRun(tx.Store, id)
	switch {
	case err != nil:
		return Stopped{}, err
	case run.QueuePosition == 0:
		return Stopped{State: run.State}, ErrUnchanged
	}
	if err := stopOneWaiting(tx, run); err != nil {
		return Stopped{}, err
	}
	if run.Wait.WhenBusy == spool.BusySteer && tx.Run.State.Active() { // it may have been in the way of another steer
		tx.Run.Steered = true
		return Stopped{State: run.State}, tx.Put()
	}
	return Stopped{State: run.State}, nil
}

// stopAllWaiting stops all waiting runs and returns how many they were.
func stopAllWaiting(tx *Tx) (int, error) {
	waiting, err := record.Waiting(tx.Store)
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

func stopOneWaiting(tx *Tx, run store.RunRow) error {
	tx.noteStop(run, "")
	return finishWaiting(tx, run, Cancelled)
}

// stop stops the thread's run. It returns [ErrUnchanged] if no run is active or the run's ending is
// already decided.
func stop(tx *Tx) (s Stopped, err error) {
	state := tx.Thread.State
	if !state.Active() || tx.Run.Ending != nil && tx.Run.Ending.State != wire.Cancelled {
		return s, ErrUnchanged
	}
	if tx.Thread.Leased(tx.Now) {
		s.Worker = true
		if tx.Run.StopAt.IsZero() {
			tx.Run.StopAt = tx.Now
		}
		return s, tx.Put()
	}
	t, err := readTree(tx)
	if err != nil {
		return s, err
	}
	var c store.Changes
	if tx.Run.Ending == nil { // otherwise an earlier process stopped the run and died before the settlement
		tx.Run.StopAt = tx.Now
		switch {
		case state == wire.Running && t.working: // a last segment saves the results of the tools
			c.Jobs = append(c.Jobs, tx.ticket(wire.JobReclaim, 0))
			return s, tx.save(c)
		case state == wire.Running:
			s.Lost = closeLostSegment(tx, t, WorkerDied, &c)
		}
	}
	if !tx.Settles { // a settlement needs the ticket
		c.CancelJobs = append(c.CancelJobs, tx.ticket(wire.JobReclaim, 0).Key)
	}
	s.Unsettled, err = finishUnleased(tx, Cancelled, t, c)
	return s, err
}
