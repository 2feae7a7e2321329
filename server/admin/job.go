package admin

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/wire"
)

// The states for lists of jobs, in addition to those of a queue.
const (
	jobsDead  = "dead"
	jobsStuck = "stuck"
)

// JobsInput asks for a tenant's jobs.
type JobsInput struct {
	oneTenant

	// State is the state of the jobs. Left out: all states except dead.
	State string `enum:"dead,stuck,ready,delayed,inflight" query:"state"`
	// OlderThan is how long a stuck job must have been due. Calls that are meant to take this long are listed too.
	OlderThan time.Duration `default:"15m" example:"15m"  minimum:"0s" query:"olderThan"`
	Limit     int           `default:"50"  maximum:"1000" minimum:"1"  query:"limit"` // How many at the most.
	// Before is the field next of the page before. Only for dead jobs.
	Before string `query:"before"`
}

// AdminJob is a job as operators see it.
type AdminJob struct { //nolint:revive // the document has the name
	// JobID is the job's number, which rises with time.
	JobID    int64          `json:"jobId"`
	State    string         `enum:"dead,ready,delayed,inflight" json:"state"` // The state of the job.
	ThreadID spool.ThreadID `json:"threadId"`                                 // Its thread.
	RunID    spool.RunID    `json:"runId"`                                    // Its run.
	Agent    string         `json:"agent"`                                    // The agent of the run.
	Model    string         `json:"model,omitempty"`                          // The model of the run.
	// Kind is why the job was written: start, retry, resume, hand_back, reclaim, expiry, poll, cancel or settle. An
	// event of the outbox has a kind of its sender.
	Kind     wire.JobKind `json:"kind"`
	Segment  int          `json:"segment,omitempty"` // The segment that the job is for. Left out: any.
	Attempts int          `json:"attempts"`          // The deliveries that counted.
	DueAt    time.Time    `json:"dueAt,omitzero"`    // When the job is due.
	// FirstDueAt is when the job was due for the first time. Retries do not change it.
	FirstDueAt time.Time `json:"firstDueAt,omitzero"`
	// LockedUntil is when another worker may claim the job, unless its worker reports. Only for jobs in flight.
	LockedUntil time.Time `json:"lockedUntil,omitzero"`
	Cause       string    `json:"cause,omitempty"` // Why the job died. Only for dead jobs.
	DiedAt      time.Time `json:"diedAt,omitzero"` // When the job died. Only for dead jobs.
}

// JobList is the answer to a list of jobs.
type JobList struct {
	// Jobs are the jobs: the last that died first, or the one that has been due longest first.
	Jobs []AdminJob `json:"jobs"`
	// Next is the value of before for the next page of dead jobs. Left out: this is the last page.
	Next string `json:"next,omitempty"`
}

// Jobs answers with a tenant's dead jobs, the last one that died first, or its other jobs, the one that has been due
// longest first. A stuck job has been due for a while and is not done: no worker claims it, no worker has its agent, it
// fails again and again, or a tool does not return.
func (c Controller) Jobs(ctx context.Context, in JobsInput) (JobList, error) {
	tenant, err := c.tenant(ctx, in.Tenant)
	if err != nil {
		return JobList{}, err
	}
	out := JobList{Jobs: []AdminJob{}}
	if in.State == jobsDead {
		dead, next, err := c.deadJobs(ctx, tenant, in.Before, in.Limit)
		for _, d := range dead {
			out.Jobs = append(out.Jobs, deadJob(d))
		}
		out.Next = next
		return out, err
	}
	var list []wire.QueuedJob
	if in.State == jobsStuck {
		list, err = c.Engine.StuckJobs(ctx, tenant, in.OlderThan, in.Limit)
	} else {
		list, err = c.Engine.Jobs(ctx, tenant, wire.JobQuery{State: wire.JobState(in.State), Limit: in.Limit})
	}
	for _, j := range list {
		out.Jobs = append(out.Jobs, queuedJob(j))
	}
	return out, aboutTenant(ctx, err, tenant)
}

// deadJobs returns a page of a tenant's dead jobs, and the cursor of the next page.
func (c Controller) deadJobs(
	ctx context.Context, tenant spool.Tenant, before string, limit int,
) ([]wire.QueuedJob, string, error) {
	q := wire.JobQuery{Limit: limit}
	if before != "" {
		at, id, err := call.ParseTimeMark(before)
		if err != nil {
			return nil, "", err
		}
		if q.BeforeID, err = strconv.ParseInt(id, 10, 64); err != nil {
			return nil, "", call.ErrMark
		}
		q.Before = at
	}
	dead, err := c.Engine.DeadJobs(ctx, tenant, q)
	if err != nil || len(dead) < limit {
		return dead, "", aboutTenant(ctx, err, tenant)
	}
	last := dead[len(dead)-1]
	return dead, call.TimeMark(last.DiedAt, strconv.FormatInt(last.JobID, 10)), nil
}

func deadJob(d wire.QueuedJob) AdminJob {
	return AdminJob{
		JobID: d.JobID, State: jobsDead, ThreadID: d.ThreadID, RunID: d.RunID, Agent: d.Agent, Model: d.Model, Kind: d.Kind,
		Segment: d.Segment, Attempts: d.Attempts, Cause: d.Cause, DiedAt: d.DiedAt,
	}
}

func queuedJob(j wire.QueuedJob) AdminJob {
	job := AdminJob{
		JobID: j.JobID, State: string(j.State), ThreadID: j.ThreadID, RunID: j.RunID, Agent: j.Agent, Model: j.Model,
		Kind: j.Kind, Segment: j.Segment, Attempts: j.Attempts, DueAt: j.DueAt, FirstDueAt: j.FirstDue,
	}
	if j.State == wire.JobInFlight {
		job.DueAt, job.LockedUntil = time.Time{}, j.DueAt
	}
	return job
}

// checkJobs returns an error unless a request selects dead jobs unambiguously.
func checkJobs(tenant spool.Tenant, jobID int64, all bool) error {
	if (jobID != 0) == all {
		return spool.Errorf(spool.Invalid, "either jobId or all is required")
	}
	if jobID < 0 {
		return spool.Errorf(spool.Invalid, "jobId must be the number of a job")
	}
	return call.CheckOptionalID("tenant", string(tenant))
}

// RedriveRequest is the body of a redrive.
type RedriveRequest struct {
	// Tenant is the tenant. Defaults to the caller's own; only an operator may name another one.
	Tenant spool.Tenant `json:"tenant,omitempty"`
	JobID  int64        `json:"jobId,omitempty"` // The job.
	All    bool         `json:"all,omitempty"`   // All dead jobs, instead of one.
	// With all: the maximum number of jobs, up to 1000. Defaults to 100.
	Limit  int    `json:"limit,omitempty"`
	Before string `json:"before,omitempty"` // With all: the field next of the answer before.
}

// Validate implements [rest.Validator].
func (in *RedriveRequest) Validate(context.Context) error {
	if in.Limit == 0 {
		in.Limit = 100
	}
	if in.Limit < 0 || in.Limit > 1000 {
		return spool.Errorf(spool.Invalid, "limit must be an integer from 1 to 1000")
	}
	return checkJobs(in.Tenant, in.JobID, in.All)
}

// RedriveAnswer has the results of a redrive.
type RedriveAnswer struct {
	Redriven int `json:"redriven"` // How many jobs were accepted.
	// Refused is the number of jobs that were refused, and are still dead.
	Refused int                  `json:"refused"`
	Results []wire.RedriveResult `json:"results"` // The result for each job.
	// Next is the value of before that continues with further jobs. Left out: there are none.
	Next string `json:"next,omitempty"`
}

func (a *RedriveAnswer) add(r wire.RedriveResult) {
	a.Results = append(a.Results, r)
	if r.Accepted {
		a.Redriven++
	} else {
		a.Refused++
	}
}

// Redrive restarts the work of a dead job, or of all dead jobs. A settlement is queued again. For any other job, whose
// run failed with it, a new run continues where that run ended, with the same agent, model and limits, and without a
// new user turn. It does not repeat what was saved.
//
// A redrive is refused, and the job stays dead, while the thread has a run that is not over (`active_run`), and if
// nothing is left to do (`moved_on`): the run did not fail, or a later run has had the thread.
func (c Controller) Redrive(ctx context.Context, in RedriveRequest) (RedriveAnswer, error) {
	out := RedriveAnswer{Results: []wire.RedriveResult{}}
	tenant, err := c.tenant(ctx, in.Tenant)
	if err != nil {
		return out, err
	}
	jobs := []wire.QueuedJob{{JobID: in.JobID}}
	if in.All {
		if jobs, out.Next, err = c.deadJobs(ctx, tenant, in.Before, in.Limit); err != nil {
			return out, err
		}
	}
	for _, d := range jobs {
		result, err := c.Engine.Redrive(call.Acting(ctx), tenant, d.JobID)
		if err != nil {
			return out, aboutTenant(ctx, err, tenant)
		}
		out.add(result)
	}
	if !in.All && !out.Results[0].Accepted {
		status := http.StatusConflict
		if out.Results[0].Reason == wire.ReasonNotFound {
			status = http.StatusNotFound
		}
		rest.ResponseOf(ctx).SetStatus(status)
	}
	return out, nil
}

// PurgeRequest is the body of a purge.
type PurgeRequest struct {
	// Tenant is the tenant. Defaults to the caller's own; only an operator may name another one.
	Tenant spool.Tenant `json:"tenant,omitempty"`
	JobID  int64        `json:"jobId,omitempty"` // The job.
	All    bool         `json:"all,omitempty"`   // All dead jobs, instead of one.
	// With all: only jobs that have been dead for this long. Defaults to all dead jobs.
	OlderThan string `example:"720h" json:"olderThan,omitempty"`

	olderThan time.Duration
}

// Validate implements [rest.Validator].
func (in *PurgeRequest) Validate(context.Context) (err error) {
	if in.OlderThan != "" {
		if in.olderThan, err = parseAge("olderThan", in.OlderThan); err != nil {
			return err
		}
	}
	return checkJobs(in.Tenant, in.JobID, in.All)
}

// parseAge reads a minimum age.
func parseAge(field, text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, spool.Errorf(spool.Invalid, `%s must be a duration such as "720h"`, field)
	}
	return d, nil
}

// PurgeAnswer says how many dead jobs were forgotten.
type PurgeAnswer struct {
	Purged int `json:"purged"` // The number of dead jobs that were forgotten.
}

// Purge forgets one dead job, or all dead jobs. Their runs do not change.
func (c Controller) Purge(ctx context.Context, in PurgeRequest) (PurgeAnswer, error) {
	tenant, err := c.tenant(ctx, in.Tenant)
	if err != nil {
		return PurgeAnswer{}, err
	}
	q := wire.JobQuery{JobID: in.JobID}
	if in.olderThan > 0 {
		q.DiedBefore = time.Now().Add(-in.olderThan)
	}
	n, err := c.Engine.PurgeJobs(call.Acting(ctx), tenant, q)
	if err == nil && n == 0 && in.JobID != 0 {
		err = spool.Errorf(spool.NotFound, "Dead job not found")
	}
	if err != nil {
		return PurgeAnswer{}, aboutTenant(ctx, err, tenant)
	}
	return PurgeAnswer{Purged: n}, nil
}
