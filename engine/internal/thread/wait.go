package thread

import (
	"cmp"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
)

// behindAll is before the first queue position of the runs that wait without having stopped
// another one. The runs that have are before it, in the order in which they came.
const behindAll int64 = 1 << 32

// wait is the start on a thread that has an active run: the new one waits for it. A start
// that stops takes the next turn, and gets it here if no worker holds the run before it.
func wait(tx *Tx, s StartRequest) (Started, error) {
	var out Started
	if s.WhenBusy == spool.BusyReject {
		return out, Refuse(spool.ReasonActiveRun, spool.ErrActiveRun.Message)
	}
	waiting, err := tx.Store.Waiting()
	if err != nil {
		return out, err
	}
	if s.EditMessageID != "" {
		if err := editable(tx, s.EditMessageID); err != nil {
			return out, err
		}
	}
	run := newRun(tx, s.Run)
	run.Wait = &spool.Wait{
		WhenBusy: s.WhenBusy, Content: s.Content, ClientMessageID: s.ClientMessageID, EditMessageID: s.EditMessageID,
	}
	if waiting, err = makeRoom(tx, &run, waiting, s.MayNotStop); err != nil {
		return out, err
	}
	if len(waiting) >= tx.MaxWaiting {
		return out, Refuse(spool.ReasonQueueFull, "Too many runs wait for the thread")
	}
	run.QueuePosition = positionFor(s.WhenBusy, waiting)
	if err := insert(tx, run); err != nil {
		return out, err
	}
	if s.WhenBusy.Stops() {
		// A run whose end is decided needs no stop, and gives the thread away all the same.
		was := tx.Run
		out.Stopped, err = stop(tx)
		if err != nil && !errors.Is(err, ErrUnchanged) {
			return out, err
		}
		if err == nil {
			tx.noteStop(was, s.Run.StartedBy)
		}
	}
	out.Position, err = keepPosition(tx, run)
	return out, err
}

// makeRoom does to the runs that wait what the new run's policy says, and returns those that are
// left. A run that has stopped the one before it counts as having the thread already, so that
// nothing depends on how long that one takes to stop. A caller that may not stop runs takes the
// place of its own only.
func makeRoom(tx *Tx, run *spool.RunRow, waiting []spool.RunRow, mayNotStop bool) ([]spool.RunRow, error) {
	left := make([]spool.RunRow, 0, len(waiting))
	for _, r := range waiting {
		switch stops := r.Wait.WhenBusy.Stops(); {
		case run.Wait.WhenBusy == spool.BusyLatest && !stops && mayNotStop && r.StartedBy != run.StartedBy:
		case run.Wait.WhenBusy == spool.BusyLatest && !stops:
			if err := makeWay(tx, r, run); err != nil {
				return nil, err
			}
			continue
		case run.Wait.WhenBusy == spool.BusyInterrupt && stops && r.StopAt.IsZero():
			tx.noteStop(r, run.StartedBy)
			r.StopAt = tx.Now // its turn is said before it ends
			if err := tx.Store.UpdateRun(r); err != nil {
				return nil, err
			}
		}
		left = append(left, r)
	}
	if run.Wait.WhenBusy == spool.BusyRollback {
		return rollBack(tx, run, left)
	}
	return left, nil
}

// rollBack finds what goes with the run that the new one stops: that is the last of the runs
// that have stopped another one, which has said nothing yet and leaves what it would have
// dropped to the new one; or else the turn of the run that has the thread.
func rollBack(tx *Tx, run *spool.RunRow, waiting []spool.RunRow) ([]spool.RunRow, error) {
	last := -1
	for i, r := range waiting {
		if r.Wait.WhenBusy.Stops() {
			last = i
		}
	}
	if last < 0 {
		turns, err := tx.Store.Messages(spool.MessageQuery{Agent: &record.MainAgent, Role: spool.RoleUser, Limit: 1})
		if err == nil && len(turns) > 0 && turns[0].RunID == tx.Run.ID {
			run.Wait.RollbackMessageID = turns[0].ID
		}
		return waiting, err
	}
	before := waiting[last]
	run.Wait.RollbackMessageID = cmp.Or(before.Wait.EditMessageID, before.Wait.RollbackMessageID)
	return append(waiting[:last:last], waiting[last+1:]...), makeWay(tx, before, run)
}

// makeWay ends a run that waits, for a later start. The subject of the later start has stopped it.
func makeWay(tx *Tx, r spool.RunRow, later *spool.RunRow) error {
	tx.noteStop(r, later.StartedBy)
	return leave(tx, r, spool.Ending{
		State: spool.Cancelled, Reason: spool.StopCancelled, Error: "a later start took its place",
	})
}

// positionFor returns the queue position of a new run.
func positionFor(w spool.WhenBusy, waiting []spool.RunRow) int64 {
	position := behindAll
	if w.Stops() {
		position = 0
	}
	for _, r := range waiting {
		if r.Wait.WhenBusy.Stops() == w.Stops() {
			position = r.QueuePosition // they are in order
		}
	}
	return position + 1
}

// keepPosition keeps where the run stands among those that wait, as the answer that is repeated for
// an idempotency key has it. A run that has the thread by now stands nowhere: 0.
func keepPosition(tx *Tx, run spool.RunRow) (int, error) {
	waiting, err := tx.Store.Waiting()
	if err != nil {
		return 0, err
	}
	for i, r := range waiting {
		if r.ID == run.ID {
			r.Wait.Position = i + 1
			return i + 1, tx.Store.UpdateRun(r)
		}
	}
	return 0, nil
}

// leave ends a run that waits and so has not begun. The settle hook is called from the
// queue.
func leave(tx *Tx, r spool.RunRow, ending spool.Ending) error {
	if !r.StopAt.IsZero() {
		ending.State, ending.Reason = spool.Cancelled, spool.StopCancelled
	}
	r.State, r.StopReason, r.Error, r.EndedAt, r.QueuePosition = ending.State, ending.Reason, ending.Error, tx.Now, 0
	if tx.Settles {
		if err := tx.enqueueSettle(r, 0); err != nil {
			return err
		}
		tx.Follow.Jobs = true
	}
	return tx.Store.UpdateRun(r)
}

// next gives the thread, whose run has ended, to the first run that waits and can have it.
func next(tx *Tx) error {
	waiting, err := tx.Store.Waiting()
	if err != nil {
		return err
	}
	for _, r := range waiting {
		r.Context = tx.Run.Context
		next := &Tx{Rules: tx.Rules, Store: tx.Store, Thread: tx.Thread, Run: r, Now: tx.Now}
		err := begin(next)
		if no, ok := errors.AsType[*RefusedError](err); ok { // what it was to edit is gone
			if err := leave(tx, r, spool.Ending{State: spool.Failed, Reason: spool.StopFailed, Error: no.Text}); err != nil {
				return err
			}
			continue
		}
		tx.Thread, tx.Follow.Jobs = next.Thread, true
		return err
	}
	return nil
}

// begin is the transition to QUEUED of a run that has waited: its turn is said now. It
// returns a refusal, and has written nothing, where what it edits is not there any more.
func begin(tx *Tx) error {
	wait := *tx.Run.Wait
	if wait.EditMessageID != "" {
		if err := edit(tx, wait.EditMessageID); err != nil {
			return err
		}
	}
	if wait.RollbackMessageID != "" {
		err := edit(tx, wait.RollbackMessageID)
		if _, gone := errors.AsType[*RefusedError](err); err != nil && !gone {
			return err
		}
	}
	if err := tx.move(spool.Queued); err != nil {
		return err
	}
	turn := tx.Message(spool.RoleUser, wait.Content)
	turn.ClientMessageID = wait.ClientMessageID
	tx.Thread.RunID, tx.Thread.Model = tx.Run.ID, tx.Run.Model
	tx.Run.QueuePosition = 0
	tx.Run.Wait = &spool.Wait{WhenBusy: wait.WhenBusy, Position: wait.Position}
	if err := tx.Store.AppendMessages(turn); err != nil {
		return err
	}
	if err := tx.save(); err != nil {
		return err
	}
	return tx.enqueue(spool.JobStart, 0)
}
