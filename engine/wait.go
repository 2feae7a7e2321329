package engine

import (
	"cmp"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
)

// behindAll is before the first place of those who wait without having stopped anybody. The ones
// that have are before it, in the order in which they came.
const behindAll int64 = 1 << 32

// wait is the start on a thread that has an active run: the new one waits for it. A start
// that stops takes the next turn, and gets it here if no worker holds the run before it.
func (e *Engine) wait(h *held, agent *Agent, r StartRequest, out *startOutcome) error {
	if r.WhenBusy == spool.BusyReject {
		return &refusal{ReasonActiveRun, spool.ErrActiveRun.Message}
	}
	line, err := h.Waiting()
	if err != nil {
		return err
	}
	if r.EditMessageID != "" {
		if err := h.editable(r.EditMessageID); err != nil {
			return err
		}
	}
	run := h.newRun(agent, r)
	run.Wait = &spool.Wait{
		WhenBusy: r.WhenBusy, Content: r.content(), ClientMessageID: r.ClientMessageID, EditMessageID: r.EditMessageID,
	}
	if line, err = e.makeRoom(h, &run, line, r.MayNotStop); err != nil {
		return err
	}
	if len(line) >= e.config.MaxWaiting {
		return &refusal{ReasonQueueFull, "Too many runs wait for the thread"}
	}
	run.Place = placeFor(r.WhenBusy, line)
	if err := h.insert(run); err != nil {
		return err
	}
	if r.WhenBusy.Stops() {
		// A run whose end is decided needs no stop, and gives the thread away all the same.
		stopped := h.run
		out.after, err = e.halt(h)
		if err != nil && !errors.Is(err, errUnchanged) {
			return err
		}
		if err == nil {
			h.noteStop(stopped, r.By)
		}
	}
	out.audited = h.audited
	return h.tellPosition(run, out)
}

// makeRoom does to those in line what the new run's policy says, and returns who is left.
// A run that has stopped the one before it counts as having the thread already, so that
// nothing depends on how long that one takes to stop. Who may not stop runs takes the place of
// their own only.
func (e *Engine) makeRoom(h *held, run *spool.Run, line []spool.Run, mayNotStop bool) ([]spool.Run, error) {
	left := make([]spool.Run, 0, len(line))
	for _, r := range line {
		switch stops := r.Wait.WhenBusy.Stops(); {
		case run.Wait.WhenBusy == spool.BusyLatest && !stops && mayNotStop && r.StartedBy != run.StartedBy:
		case run.Wait.WhenBusy == spool.BusyLatest && !stops:
			if err := e.makeWay(h, r, run); err != nil {
				return nil, err
			}
			continue
		case run.Wait.WhenBusy == spool.BusyInterrupt && stops && r.StopAt.IsZero():
			h.noteStop(r, run.StartedBy)
			r.StopAt = h.now // its turn is said before it ends
			if err := h.UpdateRun(r); err != nil {
				return nil, err
			}
		}
		left = append(left, r)
	}
	if run.Wait.WhenBusy == spool.BusyRollback {
		return e.rollBack(h, run, left)
	}
	return left, nil
}

// rollBack finds what goes with the run that the new one stops: that is the last one of
// those who have stopped others, which has said nothing yet and leaves what it would have
// dropped to the new one; or else the turn of the run that has the thread.
func (e *Engine) rollBack(h *held, run *spool.Run, line []spool.Run) ([]spool.Run, error) {
	last := -1
	for i, r := range line {
		if r.Wait.WhenBusy.Stops() {
			last = i
		}
	}
	if last < 0 {
		turns, err := h.Messages(spool.MessageQuery{Agent: &record.MainAgent, Role: spool.RoleUser, Limit: 1})
		if err == nil && len(turns) > 0 && turns[0].RunID == h.run.ID {
			run.Wait.RollbackMessageID = turns[0].ID
		}
		return line, err
	}
	before := line[last]
	run.Wait.RollbackMessageID = cmp.Or(before.Wait.EditMessageID, before.Wait.RollbackMessageID)
	return append(line[:last:last], line[last+1:]...), e.makeWay(h, before, run)
}

// makeWay ends a run that waits, for a later start. Who started the later run stopped this one.
func (e *Engine) makeWay(h *held, r spool.Run, later *spool.Run) error {
	h.noteStop(r, later.StartedBy)
	return e.leave(h, r, spool.Ending{
		State: spool.Cancelled, Reason: spool.StopCancelled, Error: "a later start took its place",
	})
}

// placeFor returns the place of a run that comes into the line.
func placeFor(w spool.WhenBusy, line []spool.Run) int64 {
	place := behindAll
	if w.Stops() {
		place = 0
	}
	for _, r := range line {
		if r.Wait.WhenBusy.Stops() == w.Stops() {
			place = r.Place // they are in order
		}
	}
	return place + 1
}

// tellPosition keeps where the run stands in line, as the answer that is repeated for an
// idempotency key has it. A run that has the thread by now is in no line.
func (h *held) tellPosition(run spool.Run, out *startOutcome) error {
	line, err := h.Waiting()
	if err != nil {
		return err
	}
	for i, r := range line {
		if r.ID == run.ID {
			out.position = i + 1
			r.Wait.Position = out.position
			return h.UpdateRun(r)
		}
	}
	return nil
}

// leave ends a run that waits and so has not begun. The settle hook is called from the
// queue.
func (e *Engine) leave(h *held, r spool.Run, ending spool.Ending) error {
	if !r.StopAt.IsZero() {
		ending.State, ending.Reason = spool.Cancelled, spool.StopCancelled
	}
	r.State, r.StopReason, r.Error, r.EndedAt, r.Place = ending.State, ending.Reason, ending.Error, h.now, 0
	if e.config.OnSettle != nil {
		settle := (&held{thread: h.thread, run: r, now: h.now}).job(spool.JobSettle, 0)
		settle.Key = "settle:" + string(r.ID)
		if err := h.Enqueue(settle); err != nil {
			return err
		}
		h.given = true
	}
	return h.UpdateRun(r)
}

// next gives the thread, whose run has ended, to the first one in line that can have it.
func (e *Engine) next(h *held) error {
	line, err := h.Waiting()
	if err != nil {
		return err
	}
	for _, r := range line {
		r.Context = h.run.Context
		next := &held{Tx: h.Tx, random: h.random, thread: h.thread, run: r, now: h.now}
		err := next.begin()
		if no, ok := errors.AsType[*refusal](err); ok { // what it was to edit is gone
			if err := e.leave(h, r, spool.Ending{State: spool.Failed, Reason: spool.StopFailed, Error: no.text}); err != nil {
				return err
			}
			continue
		}
		h.thread, h.given = next.thread, true
		return err
	}
	return nil
}

// begin is the transition to QUEUED of a run that has waited: its turn is said now. It
// returns a refusal, and has written nothing, where there is no more what it edits.
func (h *held) begin() error {
	wait := *h.run.Wait
	if wait.EditMessageID != "" {
		if err := h.edit(wait.EditMessageID); err != nil {
			return err
		}
	}
	if wait.RollbackMessageID != "" {
		err := h.edit(wait.RollbackMessageID)
		if _, gone := errors.AsType[*refusal](err); err != nil && !gone {
			return err
		}
	}
	if err := h.move(spool.Queued); err != nil {
		return err
	}
	turn := h.message(spool.RoleUser, wait.Content)
	turn.ClientMessageID = wait.ClientMessageID
	h.thread.RunID, h.thread.Model = h.run.ID, h.run.Model
	h.run.Place = 0
	h.run.Wait = &spool.Wait{WhenBusy: wait.WhenBusy, Position: wait.Position}
	if err := h.AppendMessages(turn); err != nil {
		return err
	}
	if err := h.save(); err != nil {
		return err
	}
	return h.Enqueue(h.ticket(spool.JobStart, 0))
}
