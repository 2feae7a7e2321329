package thread

import (
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/budget"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// A steer is a waiting run whose message may be put into the run that has the thread. While it waits, it is like
// any other waiting run: it can be stopped, and it gets the thread if the active run ends first.

// makeSteer makes the waiting run of a start a steer of the run that has the thread, and returns that run's id. The
// caller stores both runs. A start that edits a turn cannot be put into a run: it only waits.
func makeSteer(tx *Tx, wait *store.Wait) spool.RunID {
	if wait.EditMessageID != "" {
		wait.WhenBusy = spool.BusyEnqueue
		return ""
	}
	wait.Steers, tx.Run.Steered = tx.Run.ID, true
	return tx.Run.ID
}

// anySteers reports whether one of the runs is a steer.
func anySteers(waiting []store.RunRow) bool {
	return slices.ContainsFunc(waiting, func(r store.RunRow) bool { return r.Wait.WhenBusy == spool.BusySteer })
}

// mayDirect reports whether the message of a steer may be put into a run. The tools of a run depend on the
// subject and the scopes of its start, and its approvals on who started it. So the steer must be of the same
// subject, and must have every scope of the run.
func mayDirect(steer, run store.RunRow) bool {
	return steer.StartedBy == run.StartedBy &&
		!slices.ContainsFunc(run.Scopes, func(scope string) bool { return !slices.Contains(steer.Scopes, scope) })
}

// DeliverSteers puts the messages of the steers into the run, between two of its steps, and returns the messages. The
// run of each steer ends with that. A steer that may not direct the run stays in the queue, and so do all runs
// behind it. So does a steer with which the next question does not fit into the run's budget: fits gets the messages
// of the steers so far. It returns [ErrUnchanged] if the run is about to end: then the steers become turns of
// their own. It also does so if the last answer is only paused, because its provider continues it, and if the next
// answer is under way already, because it answers the prompt without the steer.
func DeliverSteers(
	tx *Tx, fits func(a *wire.Allowance, steers []spool.Message, now time.Time) bool,
) ([]spool.Message, error) {
	if tx.IsNested() || tx.Stopping() || tx.Run.Ending != nil || tx.Run.Paused || tx.Run.Resume != nil ||
		budget.UsedUp(tx.Run.Allowance, tx.Now) != "" {
		return nil, ErrUnchanged
	}
	waiting, err := record.Waiting(tx.Store)
	if err != nil {
		return nil, err
	}
	var delivered []spool.Message
	for _, r := range waiting {
		if r.Wait.WhenBusy != spool.BusySteer || !mayDirect(r, tx.Run) {
			break
		}
		if !fits(tx.Run.Allowance, append(delivered, spool.Message{Role: spool.RoleUser, Content: r.Wait.Content}), tx.Now) {
			if len(delivered) == 0 {
				return nil, ErrUnchanged
			}
			return delivered, tx.Put()
		}
		turn, err := deliver(tx, r)
		if err != nil {
			return nil, err
		}
		delivered = append(delivered, *turn)
	}
	tx.Run.Steered = false
	return delivered, tx.Put()
}

// deliver puts the message of one steer into the run. The message comes before the entry, because a message has
// no position of its own among the items of a stream.
func deliver(tx *Tx, steer store.RunRow) (*spool.Message, error) {
	turn := tx.Message(spool.RoleUser, steer.Wait.Content)
	turn.ClientMessageID = steer.Wait.ClientMessageID
	if err := tx.Write(store.Changes{Messages: []*spool.Message{turn}}); err != nil {
		return nil, err
	}
	err := tx.AppendNew(wire.EntrySteered, wire.Steered{
		RunID: tx.Run.ID, SteerRunID: steer.ID, MessageID: turn.ID, ClientMessageID: turn.ClientMessageID,
		EnqueuedAt: steer.EnqueuedAt, Steps: tx.Run.Steps,
	})
	if err != nil {
		return nil, err
	}
	wait := *steer.Wait
	steer.Wait = &store.Wait{
		WhenBusy: wait.WhenBusy, Position: wait.Position, Steers: wait.Steers,
		Delivered: &wire.Delivered{RunID: tx.Run.ID, MessageID: turn.ID},
	}
	return turn, finishWaiting(tx, steer, store.Ending{State: wire.Completed, Reason: wire.StopSteered})
}
