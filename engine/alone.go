package engine

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
)

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

// suspected reports whether a run is to be carried alone.
func (e *Engine) suspected(r spool.Run) bool {
	return r.Deaths >= min(suspectDeaths, e.config.MaxDeaths)
}

// died counts the death of the worker that carried the run.
func (h *held) died() {
	if c := &h.run.Carriage; c.Alone {
		c.AloneDeaths++
	} else {
		h.run.Deaths++
	}
}

// killed returns how a run ends that has killed its workers.
func (h *held) killed() spool.Ending {
	return spool.Ending{
		State: spool.Failed, Reason: spool.StopFailed,
		Error: fmt.Sprintf("%d workers died in the same step", h.run.Deaths+h.run.Carriage.AloneDeaths),
	}
}

// giveUp ends a run that has killed its workers. A dead job is left of it, which can be
// redriven.
func (e *Engine) giveUp(h *held, j spool.Job, c *claimed) error {
	ending := h.killed()
	dead := h.job(spool.JobReclaim, 0)
	dead.Key, dead.Segment, dead.DueAt = j.Key, h.run.Segments+1, j.DueAt
	if err := h.AddDead(dead, h.run.Deaths+h.run.Carriage.AloneDeaths, ending.Error); err != nil {
		return err
	}
	return e.endLost(h, c, ending)
}

// backOff is the transition back to QUEUED of a suspect, with a ticket for later.
func (e *Engine) backOff(h *held, c *claimed) error {
	c.reason = "several workers died in the run's step: it waits, and is then carried alone"
	if err := h.move(spool.Queued); err != nil {
		return err
	}
	next := h.ticket(spool.JobReclaim, e.backoff(h.run.Carriage.AloneDeaths+1, nil))
	if err := h.CancelJob(next.Key); err != nil { // which may be the one in hand
		return err
	}
	if err := h.Enqueue(next); err != nil {
		return err
	}
	h.letGo()
	h.given = true
	return h.save()
}

// aloneSlot is the place of a process for the suspect that it carries.
type aloneSlot struct{ taken atomic.Bool }

// aloneClaim is a claim's hold on the slot. A nil one holds nothing.
type aloneClaim struct {
	slot *aloneSlot
	has  atomic.Bool
}

// take reports whether the claim has the slot from now on.
func (a *aloneClaim) take() bool {
	if a.has.Load() {
		return true
	}
	if !a.slot.taken.CompareAndSwap(false, true) {
		return false
	}
	a.has.Store(true)
	return true
}

func (a *aloneClaim) release() {
	if a != nil && a.has.CompareAndSwap(true, false) {
		a.slot.taken.Store(false)
	}
}

// alone takes the slot for a suspect. It reports whether the run may be carried now.
func (e *Engine) alone(h *held, c *claimed) bool {
	h.run.Carriage.Alone = e.suspected(h.run)
	if !h.run.Carriage.Alone || c.alone.take() {
		return true
	}
	c.reason, c.busyFor = "another run whose workers died is carried alone", aloneWait
	return false
}
