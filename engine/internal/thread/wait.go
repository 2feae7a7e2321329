package thread

import (
	"cmp"
	"errors"
	"math"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Positions in the queue begin in one of three places: runs that stop another run come first, then steers,
// then all others. Within each class, runs have the order of their arrival.
const (
	// afterStops is one less than the first position of the steers.
	afterStops int64 = 1 << 31
	// afterSteers is one less than the first position of the runs that only wait.
	afterSteers int64 = 1 << 32
)

// joinQueue starts a run on a thread that has an active run: the new run waits. A start that stops the
// active run is next. It gets the thread at once if no worker has leased the active run.
func joinQueue(tx *Tx, s StartRequest) (Started, error) {
	var out Started
	if s.WhenBusy == spool.BusyReject {
		return out, Refuse(wire.ReasonActiveRun, store.ErrActiveRun.Message)
	}
	waiting, err := record.Waiting(tx.Store)
	if err != nil {
		return out, err
	}
	if s.EditMessageID != "" {
		if err := editable(tx, s.EditMessageID); err != nil {
			return out, err
		}
	}
	run := newRun(tx, s.Run)
	run.Wait = &store.Wait{
		WhenBusy: s.WhenBusy, Content: s.Content, ClientMessageID: s.ClientMessageID, EditMessageID: s.EditMessageID,
	}
	if s.WhenBusy == spool.BusySteer {
		out.Steers = makeSteer(tx, run.Wait)
	}
	if waiting, err = makeRoom(tx, &run, waiting, s.MayNotStop); err != nil {
		return out, err
	}
	if len(waiting) >= tx.MaxWaiting {
		return out, Refuse(wire.ReasonQueueFull, "Too many runs wait for the thread")
	}
	run.QueuePosition = positionFor(s.WhenBusy, waiting)
	c := store.Changes{NewRuns: []store.RunRow{run}}
	if out.Steers != "" {
		c.Runs = []store.RunRow{tx.Run}
	}
	if err := tx.Write(c); err != nil {
		return out, err
	}
	if s.WhenBusy.Stops() {
		// A run whose ending is decided need not be stopped, because it releases the thread anyway.
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

// makeRoom applies the new run's policy to the waiting runs and returns the runs that still wait. A run
// that has stopped its predecessor counts as if it already had the thread, so that the result does not
// depend on how long the predecessor takes to stop. If mayNotStop is true, the new run supersedes only
// runs of its own subject.
func makeRoom(tx *Tx, run *store.RunRow, waiting []store.RunRow, mayNotStop bool) ([]store.RunRow, error) {
	left := make([]store.RunRow, 0, len(waiting))
	for _, r := range waiting {
		waits := r.Wait.WhenBusy == spool.BusyEnqueue || r.Wait.WhenBusy == spool.BusyLatest
		switch stops := r.Wait.WhenBusy.Stops(); {
		case run.Wait.WhenBusy == spool.BusyLatest && waits && mayNotStop && r.StartedBy != run.StartedBy:
		case run.Wait.WhenBusy == spool.BusyLatest && waits:
			if err := supersede(tx, r, run); err != nil {
				return nil, err
			}
			continue
		case run.Wait.WhenBusy == spool.BusyInterrupt && stops && r.StopAt.IsZero():
			tx.noteStop(r, run.StartedBy)
			r.StopAt = tx.Now // the run gets its user turn before it ends
			if err := tx.Write(store.Changes{Runs: []store.RunRow{r}}); err != nil {
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

// rollBack finds the messages that the new run drops. Normally these are the user turn of the thread's
// run and everything after it. But if waiting runs have stopped another run, the new run supersedes the
// last of these, which has added no messages yet, and drops what that run would have dropped.
func rollBack(tx *Tx, run *store.RunRow, waiting []store.RunRow) ([]store.RunRow, error) {
	last := -1
	for i, r := range waiting {
		if r.Wait.WhenBusy.Stops() {
			last = i
		}
	}
	if last < 0 {
		turn, err := ownTurn(tx)
		run.Wait.RollbackMessageID = turn
		return waiting, err
	}
	before := waiting[last]
	run.Wait.RollbackMessageID = cmp.Or(before.Wait.EditMessageID, before.Wait.RollbackMessageID)
	return append(waiting[:last:last], waiting[last+1:]...), supersede(tx, before, run)
}

// ownTurn returns the first user turn of the thread's run, or of the runs that it goes on with after a redrive. Their
// later turns are of steers. It returns "" if the run has no turn in the view.
func ownTurn(tx *Tx) (spool.MessageID, error) {
	for _, id := range []spool.RunID{tx.Run.Continues, tx.Run.ID} {
		if id == "" {
			continue
		}
		turns, err := tx.Store.Messages(store.MessageQuery{Agent: &record.MainAgent, Role: spool.RoleUser, Run: id})
		if err != nil {
			return "", err
		}
		if len(turns) > 0 {
			return turns[0].ID, nil
		}
	}
	return "", nil
}

// supersede ends a waiting run in favor of a later start. The audit log names the later start's
// subject.
func supersede(tx *Tx, r store.RunRow, later *store.RunRow) error {
	tx.noteStop(r, later.StartedBy)
	return finishWaiting(tx, r, store.Ending{
		State: wire.Cancelled, Reason: wire.StopCancelled, Error: "a later start took its place",
	})
}

// positionFor returns the queue position of a new run.
func positionFor(w spool.WhenBusy, waiting []store.RunRow) int64 {
	position, end := afterSteers, int64(math.MaxInt64)
	switch {
	case w.Stops():
		position, end = 0, afterStops
	case w == spool.BusySteer:
		position, end = afterStops, afterSteers
	}
	for _, r := range waiting { // waiting is in order
		if r.QueuePosition > position && r.QueuePosition <= end {
			position = r.QueuePosition
		}
	}
	return position + 1
}

// keepPosition stores the run's position among the waiting runs, because an idempotent repetition of
// the start returns that position. The position of a run that already has the thread is 0.
func keepPosition(tx *Tx, run store.RunRow) (int, error) {
	waiting, err := record.Waiting(tx.Store)
	if err != nil {
		return 0, err
	}
	for i, r := range waiting {
		if r.ID == run.ID {
			r.Wait.Position = i + 1
			return i + 1, tx.Write(store.Changes{Runs: []store.RunRow{r}})
		}
	}
	return 0, nil
}

// finishWaiting ends a waiting run, which has no segment. The queue calls its settle hook.
func finishWaiting(tx *Tx, r store.RunRow, ending store.Ending) error {
	if !r.StopAt.IsZero() {
		ending.State, ending.Reason = wire.Cancelled, wire.StopCancelled
	}
	r.State, r.StopReason, r.Error, r.EndedAt, r.QueuePosition = ending.State, ending.Reason, ending.Error, tx.Now, 0
	c := store.Changes{Runs: []store.RunRow{r}}
	if tx.Settles {
		c.Jobs = append(c.Jobs, tx.settleJob(r, 0))
		tx.Follow.Jobs = true
	}
	return tx.Write(c)
}

// startNext gives the thread of an ended run to the first waiting run that can start.
func startNext(tx *Tx) error {
	waiting, err := record.Waiting(tx.Store)
	if err != nil {
		return err
	}
	for i, r := range waiting {
		r.Context, r.Cleared, r.Steered = tx.Run.Context, tx.Run.Cleared, anySteers(waiting[i+1:])
		next := &Tx{Rules: tx.Rules, Store: tx.Store, Thread: tx.Thread, Run: r, Now: tx.Now}
		err := startWaiting(next)
		if no, ok := errors.AsType[*RefusedError](err); ok { // the turn that the run edits is gone
			if err := finishWaiting(
				tx, r, store.Ending{State: wire.Failed, Reason: wire.StopFailed, Error: no.Text},
			); err != nil {
				return err
			}
			continue
		}
		tx.Thread, tx.Follow.Jobs = next.Thread, true
		return err
	}
	return nil
}

// startWaiting is the transition to QUEUED of a waiting run. The run's user turn is added only now. If
// the message that the run edits is gone, startWaiting writes nothing and returns a refusal.
func startWaiting(tx *Tx) error {
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
	if err := tx.move(wire.Queued); err != nil {
		return err
	}
	turn := tx.Message(spool.RoleUser, wait.Content)
	turn.ClientMessageID = wait.ClientMessageID
	tx.ownThread()
	tx.Run.QueuePosition = 0
	tx.Run.Wait = &store.Wait{WhenBusy: wait.WhenBusy, Position: wait.Position, Steers: wait.Steers}
	return tx.save(store.Changes{Messages: []*spool.Message{turn}, Jobs: []wire.Job{tx.ticket(wire.JobStart, 0)}})
}
