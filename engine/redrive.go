package engine

import (
	"context"
	"errors"

	"github.com/spoolhq/spool"
)

// RedriveResult is the answer to a redrive. A refusal is not an error.
type RedriveResult struct {
	Accepted bool           `json:"accepted"`
	JobID    int64          `json:"jobId"`
	ThreadID spool.ThreadID `json:"threadId,omitempty"`
	// RunID is the run that moves again: the job's own for a settlement, else a new one.
	RunID spool.RunID `json:"runId,omitempty"`
	// Reason is one of the constants named Reason, empty for an accepted redrive.
	Reason string `json:"reason,omitempty"`
	Error  string `json:"error,omitempty"`
}

// Redrive gets going again what died with a job. What that is depends on the job's kind.
//
// A settlement ([spool.JobSettle]) is queued again, and the settle hook of its run is called
// once more.
//
// Any other job's run has failed when the job died. A new run goes on where it ended: with
// the same agent, model, bounds and host state, behind all that the thread has, and without
// a user turn of its own. What was saved is not done again; what the failed run was doing
// when it ended is left to the model.
//
// Redrive is refused, and changes nothing, with [ReasonNotFound] where the tenant has no
// such dead job, with [ReasonActiveRun] while the thread has an active run, and with
// [ReasonMovedOn] where nothing is left to be done: the job's run did not fail, a later run
// has had the thread, or the run was settled after all. A job that was redriven is not dead
// any more; of several redrives of one job, one is accepted.
func (e *Engine) Redrive(ctx context.Context, tenant spool.Tenant, jobID int64) (RedriveResult, error) {
	result := RedriveResult{JobID: jobID}
	dead, err := e.DeadJobs(ctx, tenant, spool.DeadQuery{JobID: jobID})
	switch {
	case err != nil:
		return result, err
	case len(dead) == 0:
		result.Reason, result.Error = ReasonNotFound, "Dead job not found"
		return result, nil
	}
	if err := e.checkRoom(ctx, tenant); err != nil {
		return result, err
	}
	key := dead[0].Thread()
	result.ThreadID = key.ID
	fresh := spool.RunID(e.random().id("run"))
	var moved spool.RunID
	err = e.change(ctx, key, func(h *held) (err error) {
		moved, err = e.redrive(h, jobID, fresh)
		h.note(spool.AuditEntry{Action: spool.AuditRedrive, RunID: moved, JobID: jobID})
		return err
	})
	var no *refusal
	switch {
	case err == nil:
		e.bus.Wake(spool.JobsTopic, spool.WakeJobs)
		result.Accepted, result.RunID = true, moved
		return result, nil
	case errors.As(err, &no):
		result.Reason, result.Error = no.reason, no.text
		return result, nil
	case missing(err): // somebody was faster, or the thread has gone with its jobs
		result.Reason, result.Error = ReasonNotFound, "Dead job not found"
		return result, nil
	default:
		return result, err
	}
}

// redrive returns the run that moves again.
func (e *Engine) redrive(h *held, jobID int64, fresh spool.RunID) (spool.RunID, error) {
	dead, err := h.TakeDead(jobID)
	if err != nil {
		return "", err
	}
	run, err := h.Run(dead.RunID)
	if err != nil {
		return "", err
	}
	if dead.Kind == spool.JobSettle {
		return run.ID, e.resettle(h, run, dead.Job)
	}
	return fresh, e.goOn(h, run, fresh)
}

// resettle queues the settlement of a run again.
func (e *Engine) resettle(h *held, run spool.Run, j spool.Job) error {
	if e.config.OnSettle == nil || !run.SettledAt.IsZero() || !run.State.Terminal() {
		return &refusal{ReasonMovedOn, "There is nothing to settle"}
	}
	again := (&held{thread: h.thread, run: run, now: h.now}).job(spool.JobSettle, 0)
	again.Key = j.Key
	return h.Enqueue(again)
}

// goOn is the transition to QUEUED of a new run that takes up where a failed one ended.
func (e *Engine) goOn(h *held, failed spool.Run, id spool.RunID) error {
	switch {
	case h.thread.State.Active():
		return &refusal{ReasonActiveRun, spool.ErrActiveRun.Message}
	case failed.State != spool.Failed:
		return &refusal{ReasonMovedOn, "The run did not fail: it is " + string(failed.State)}
	case h.run.ID != failed.ID:
		return &refusal{ReasonMovedOn, "A later run has had the thread"}
	}
	if err := h.move(spool.Queued); err != nil {
		return err
	}
	h.run = successor(failed, id)
	h.run.Nonce = h.random.nonce()
	h.run.EnqueuedAt, h.run.StartedAt = h.now, h.now
	h.thread.RunID, h.thread.Model = h.run.ID, h.run.Model
	if err := h.insert(h.run); err != nil {
		return err
	}
	if err := h.PutThread(h.thread); err != nil {
		return err
	}
	return h.Enqueue(h.ticket(spool.JobStart, 0))
}

// successor returns a run that was asked for what a failed one was.
func successor(failed spool.Run, id spool.RunID) spool.Run {
	next := spool.Run{
		Tenant: failed.Tenant, ID: id, ThreadID: failed.ThreadID, Agent: failed.Agent, Model: failed.Model,
		State: spool.Queued, MaxSteps: failed.MaxSteps, HostState: failed.HostState, StartedBy: failed.StartedBy, Scopes: failed.Scopes,
		ProviderOptions: failed.ProviderOptions, Client: failed.Client,
	}
	if failed.Allowance != nil {
		next.Allowance = &spool.Allowance{Budget: failed.Allowance.Budget}
	}
	return next
}
